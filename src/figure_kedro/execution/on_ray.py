"""Work on Ray, on this machine or a cluster."""

import logging
import os
import pickle
import socket
from collections.abc import Generator, Sequence
from itertools import islice
from pathlib import Path
from typing import Any, cast

from figure_kedro.errors import UserError
from figure_kedro.execution.executor import ATTEMPTS, INSIDE, Executor, Lost, Task, default_folder
from figure_kedro.execution.shared_folder import SharedFolder
from figure_kedro.training.loop import TrainingObjective, TrainingRecord
from figure_kedro.training.settings import TrainingSettings

logger = logging.getLogger(__name__)

ANSWER_SECONDS = 10.0
"""How long an address may take to answer."""


class OnRay(Executor):
    """Runs tasks on a Ray cluster; a task whose worker or machine dies is begun again elsewhere.

    Ray gets settings, small arrays and the names of files, no large arrays: all machines see the same folder.

    Args:
        address: Of a cluster, for instance ``ray://head:10001`` or ``auto``; ``None`` starts one on this machine.
        threads: CPUs of every task.
        workers: Tasks at a time, at most; 0 leaves that to Ray.
        folder: Where all machines find arrays.

    Raises:
        UserError: If Ray is not installed or there is no cluster at the address.
    """

    def __init__(
        self, address: str | None = None, threads: int = 1, workers: int = 0, folder: Path | None = None
    ) -> None:
        self.threads, self.workers = threads, max(1, workers)
        self._at_a_time = workers or None
        self.shared: SharedFolder = SharedFolder(folder or default_folder())
        os.environ.setdefault("RAY_USAGE_STATS_ENABLED", "0")
        try:
            import ray
        except ImportError:
            raise UserError("Ray is not installed; pip install 'figure_kedro[ray]'") from None
        self._ray, self._started = ray, not ray.is_initialized()
        if self._started:
            self._connect(address)
        try:
            if workers:
                self._check_team(threads, 0)
        except UserError:
            self.close()
            raise

    def _connect(self, address: str | None) -> None:
        _check_reachable(address)
        quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "configure_logging": False}
        try:
            if address is None:
                self._ray.init("local", include_dashboard=False, **quiet)  # not what runs here already
            else:
                self._ray.init(address=address, **quiet)
        except (ConnectionError, RuntimeError, ValueError) as error:
            raise UserError(f"there is no Ray cluster at {address or 'this machine'} ({_line(error)})") from None

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[int, Any]]:
        ray = self._ray
        self._check_resources(tasks)
        waiting = iter(enumerate(tasks))
        pending: dict[Any, int] = {}

        def submit(count: int | None) -> None:
            for number, task in islice(waiting, count):
                pending[self._submit(task)] = number

        submit(self._at_a_time)
        try:
            while pending:
                (ready,), _ = ray.wait(list(pending), num_returns=1)
                number = pending.pop(ready)
                try:
                    result = ray.get(ready)
                except ray.exceptions.RayError as error:
                    result = Lost(f"Ray gave it up: {_line(error)}")
                submit(1)
                yield number, result
        finally:
            for reference in pending:
                ray.cancel(reference, force=True)

    def _submit(self, task: Task) -> Any:
        options = self._ray.remote(_call).options(
            num_cpus=self.threads,
            num_gpus=task.gpus,
            memory=task.memory or None,
            max_retries=ATTEMPTS - 1,
            runtime_env={
                "env_vars": {"OMP_NUM_THREADS": str(self.threads), "RAY_USAGE_STATS_ENABLED": "0", INSIDE: "1"}
                | {name: os.environ[name] for name in ("KEDRO_ENV",) if name in os.environ}
            },
        )
        return options.remote(self.shared.pack((task.function, task.arguments)))

    def train(self, objective: TrainingObjective, settings: TrainingSettings, **given: Any) -> TrainingRecord:
        """By all workers, where these can share the rows, as those of the decoupled strategy; else in this process."""
        if not getattr(objective, "divisible", False):
            logger.info("workers share a training with representation.strategy=decoupled and stored corruptions only")
            return super().train(objective, settings, **given)
        from figure_kedro.execution.training_on_ray import train_on_ray

        cpus = settings.threads or self.threads
        self._check_team(cpus, gpus=int(given["device"].type == "cuda"))
        divisible = cast(Any, objective)
        return train_on_ray(divisible, settings, shared=self.shared, workers=self.workers, cpus=cpus, **given)

    def _check_team(self, cpus: int, gpus: int) -> None:
        """Workers that never find a place at the same time would wait for ever."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        needs = {"CPU": cpus, "GPU": gpus}
        room = sum(min(int(node.get(name, 0) // need) for name, need in needs.items() if need) for node in nodes)
        if room < self.workers:
            wanted = ", ".join(f"{need:g} {name}" for name, need in needs.items() if need)
            raise UserError(
                f"the Ray cluster has room for {room} workers with {wanted} each, and execution.workers is "
                f"{self.workers}; lower it or add a machine"
            )

    def close(self) -> None:
        super().close()
        if self._started:
            self._ray.shutdown()

    def _check_resources(self, tasks: Sequence[Task]) -> None:
        """A task that no machine could ever take would wait for ever."""
        nodes = [node["Resources"] for node in self._ray.nodes() if node["Alive"]]
        for task in tasks:
            needs = {"CPU": self.threads, "GPU": task.gpus, "memory": task.memory}
            if not any(all(node.get(name, 0) >= need for name, need in needs.items()) for node in nodes):
                wanted = ", ".join(f"{need:g} {name}" for name, need in needs.items() if need)
                raise UserError(f"no machine of the Ray cluster has {wanted}; ask for less or add a machine")


def _check_reachable(address: str | None) -> None:
    """Ray itself waits for minutes, with a log, where nobody answers."""
    host, _, port = (address or "").removeprefix("ray://").partition(":")
    if not port.isdigit():
        return  # none, auto, or what Ray itself knows to be no address
    try:
        socket.create_connection((host, int(port)), timeout=ANSWER_SECONDS).close()
    except (OSError, OverflowError) as error:
        raise UserError(f"there is no Ray cluster at {address} ({_line(error)})") from None


def _line(error: Exception) -> str:
    lines = str(error).strip().splitlines()
    return lines[0] if lines else type(error).__name__


def _call(packed: bytes) -> Any:
    function, arguments = pickle.loads(packed)
    return function(*arguments)
