"""One training by several workers of a Ray cluster, each on its share of the rows."""

import json
import logging
import pickle
import threading
import time
import uuid
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import asdict
from pathlib import Path
from typing import Any, Protocol

import ray.train
import ray.train.torch
import torch

from figure_kedro.datasets.files.tensor_file import CheckpointFile, write_json
from figure_kedro.errors import UserError
from figure_kedro.execution.shared_folder import SharedFolder
from figure_kedro.training.loop import (
    CheckpointStore,
    Listener,
    TrainingDivergedError,
    TrainingObjective,
    TrainingRecord,
    finished_training,
    train,
)
from figure_kedro.training.settings import TrainingSettings
from figure_kedro.training.team import ALONE, Team, TorchTeam
from figure_kedro.training.threads import threads

logger = logging.getLogger(__name__)

FAILURES = 8
"""How often workers may die before a training is given up; each time it goes on from its checkpoint."""

TELL_SECONDS = 0.5
"""Time between two reports of how far a training is."""

PROGRESS, STOP = "progress.json", "stop.json"


class Divisible(TrainingObjective, Protocol):
    """An objective whose rows several workers can share."""

    def for_team(self, team: Team) -> TrainingObjective: ...


def train_on_ray(
    objective: Divisible,
    settings: TrainingSettings,
    *,
    shared: SharedFolder,
    workers: int,
    cpus: int,
    device: torch.device,
    checkpoints: CheckpointStore | None = None,
    fingerprint: str = "",
    listeners: Sequence[Listener] = (),
) -> TrainingRecord:
    """As :func:`~figure_kedro.training.loop.train`, by so many workers with so many CPUs each.

    Workers get the objective with its arrays by the names of their files. The checkpoint lies where all machines see
    it: workers begin from there, again too when one of them has died, and this process takes the result from there.

    Raises:
        UserError: If workers died too often.
        TrainingDivergedError: As in :func:`~figure_kedro.training.loop.train`.
    """
    ended = finished_training(objective.module, checkpoints, fingerprint) if checkpoints else None
    if ended is not None:
        logger.info("training had ended after %d epochs; it is not repeated", ended.epochs)
        return ended
    folder = shared.path / f"training_{uuid.uuid4().hex[:12]}"
    folder.mkdir()
    store = checkpoints or CheckpointFile(folder / "checkpoint.safetensors")
    module = objective.module.cpu()
    trainer = ray.train.torch.TorchTrainer(
        _work,
        train_loop_config={"packed": shared.pack((objective, settings, store, fingerprint, folder))},
        scaling_config=ray.train.ScalingConfig(
            num_workers=workers,
            use_gpu=device.type == "cuda",
            resources_per_worker={"CPU": cpus},
            placement_strategy="SPREAD",  # they read far more than they tell each other
        ),
        run_config=ray.train.RunConfig(  # type: ignore[call-arg]
            name=folder.name,
            storage_path=str(folder),
            failure_config=ray.train.FailureConfig(max_failures=FAILURES),
            worker_runtime_env={"env_vars": {"OMP_NUM_THREADS": str(cpus), "RAY_USAGE_STATS_ENABLED": "0"}},
        ),
    )
    logger.info("training on Ray: %d workers, each with %d CPU", workers, cpus)
    try:
        _fit(trainer, folder, listeners)
    finally:
        for listener in listeners:
            listener.close()
        module.to(device)
    record = finished_training(module, store, fingerprint)
    if record is None:
        raise UserError("the training on Ray has left no result; run it again, it goes on from its checkpoint")
    return record


def _fit(trainer: Any, folder: Path, listeners: Sequence[Listener]) -> None:
    """Wait for the workers, and tell the listeners meanwhile how far they are."""
    failures: list[BaseException] = []

    def fit() -> None:
        try:
            trainer.fit()
        except BaseException as error:
            failures.append(error)

    waiting = threading.Thread(target=fit, daemon=True)  # Ray would take interrupts for itself in the main one
    waiting.start()
    told = 0
    try:
        while waiting.is_alive():
            waiting.join(TELL_SECONDS)
            record = _read(folder / PROGRESS)
            if record and len(record["losses"]) > told:
                told = len(record["losses"])
                for listener in listeners:
                    listener.on_epoch(TrainingRecord(**record))
    except BaseException:
        _stop(folder, UserError("interrupted"))
        raise
    stopped = _read(folder / STOP)
    if stopped:
        raise (TrainingDivergedError if stopped["diverged"] else UserError)(stopped["reason"])
    if failures:
        raise UserError(f"workers on Ray died {FAILURES + 1} times ({_line(failures[0])}); run it again to go on")


def _work(config: dict[str, Any]) -> None:
    """What every worker does; also one that takes the place of a dead one."""
    objective, settings, store, fingerprint, folder = pickle.loads(config["packed"])
    team = TorchTeam() if ray.train.get_context().get_world_size() > 1 else ALONE
    if _is_stopped(folder):
        return
    device = ray.train.torch.get_device()
    objective.module.to(device)
    try:
        with threads(settings.threads):
            train(
                objective.for_team(team),
                settings,
                device=device,
                checkpoints=store,
                fingerprint=fingerprint,
                listeners=[_Teller(folder)] if team.rank == 0 else [],
                team=team,
            )
    except UserError as error:  # the others fail without this worker, and find this when they are begun again
        _stop(folder, error)


class _Teller:
    """Leaves the record for the process that waits, now and then."""

    def __init__(self, folder: Path) -> None:
        self._folder, self._last = folder, 0.0

    def on_epoch(self, record: TrainingRecord) -> None:
        if _is_stopped(self._folder):
            raise UserError("interrupted")
        if record.finished or time.monotonic() - self._last > TELL_SECONDS:
            self._last = time.monotonic()
            write_json(self._folder / PROGRESS, asdict(record))

    def close(self) -> None:
        """There is nothing to close."""


def _stop(folder: Path, error: UserError) -> None:
    if not _is_stopped(folder):
        write_json(folder / STOP, {"reason": str(error), "diverged": isinstance(error, TrainingDivergedError)})


def _is_stopped(folder: Path) -> bool:
    return not folder.exists() or (folder / STOP).exists()


def _read(path: Path) -> dict[str, Any] | None:
    with suppress(FileNotFoundError):
        return json.loads(path.read_text())
    return None


def _line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[0] if lines else type(error).__name__
