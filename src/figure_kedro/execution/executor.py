"""The one interface to whatever runs work."""

import tempfile
from abc import ABC, abstractmethod
from collections.abc import Callable, Generator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import torch

from figure_kedro.errors import UserError
from figure_kedro.execution.shared_folder import SharedFolder
from figure_kedro.training.loop import CheckpointStore, Listener, TrainingObjective, TrainingRecord, train
from figure_kedro.training.settings import TrainingSettings

ATTEMPTS = 3
"""How often a task is begun before it is given up; only the death of what runs it counts, not an error of its own."""

INSIDE = "FIGURE_INSIDE_TASK"
"""Set in the environment of a process that does a task for another one: it starts no processes of its own, since the
cores are divided already."""


@dataclass(frozen=True)
class Task:
    """One piece of work: a function of a module and plain arguments, so that another process can run it.

    Args:
        function: Importable, not a closure; it never raises what a caller should know, but returns it.
        arguments: Plain values, and arrays, of which other processes get large ones by the names of their files.
        gpus: How many it needs.
        memory: Bytes it needs; 0 is unknown.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    gpus: float = 0.0
    memory: int = 0


@dataclass(frozen=True)
class Lost:
    """What is left of a task whose process died every time.

    Args:
        reason: One line.
    """

    reason: str


class Executor(ABC):
    """Runs tasks, several at a time or not.

    Args:
        threads: That every task may use.
        workers: Tasks at a time; work that can be divided is divided among so many.
        shared: Where other processes find arrays; none if tasks run in this one.
    """

    threads: int
    workers: int = 1
    shared: SharedFolder | None = None

    @abstractmethod
    def run(self, tasks: Sequence[Task]) -> Generator[tuple[int, Any]]:
        """Yield the number of each task with what it returned, or :class:`Lost`, in the order in which they end.

        A task whose process dies is begun again elsewhere. Closing the iterator ends what is still running.
        """

    def results(self, tasks: Sequence[Task], what: str) -> dict[int, Any]:
        """What all tasks returned, by number.

        Args:
            tasks: They return a :class:`UserError` that the caller should know.
            what: Names them, for an error.

        Raises:
            UserError: The first one that is returned, or that a task is lost; those that are still running are ended.
        """
        done: dict[int, Any] = {}
        results = self.run(tasks)
        try:
            for number, result in results:
                if isinstance(result, UserError):
                    raise result
                if isinstance(result, Lost):
                    raise UserError(f"{what} came to no end: {result.reason}")
                done[number] = result
        finally:
            results.close()
        return done

    def train(
        self,
        objective: TrainingObjective,
        settings: TrainingSettings,
        *,
        device: torch.device,
        checkpoints: CheckpointStore | None = None,
        fingerprint: str = "",
        listeners: Sequence[Listener] = (),
    ) -> TrainingRecord:
        """As :func:`~figure_kedro.training.loop.train`: in this process, unless workers can share the rows."""
        return train(
            objective,
            settings,
            device=device,
            checkpoints=checkpoints,
            fingerprint=fingerprint,
            listeners=listeners,
        )

    def close(self) -> None:
        """No more tasks are to come."""
        if self.shared is not None:
            self.shared.close()


def default_folder() -> Path:
    """Where arrays lie for other processes unless a run says so."""
    return Path(tempfile.gettempdir()) / "figure_kedro"
