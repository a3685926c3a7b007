"""The one interface to whatever runs work."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

ATTEMPTS = 3
"""How often a task is begun before it is given up; only the death of what runs it counts, not an error of its own."""


@dataclass(frozen=True)
class Task:
    """One piece of work: a function of a module and plain arguments, so that another process can run it.

    Args:
        function: Importable, not a closure; it never raises what a caller should know, but returns it.
        arguments: Plain values; files are passed by their paths.
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
    """

    threads: int
    workers: int = 1

    @abstractmethod
    def run(self, tasks: Sequence[Task]) -> Iterator[tuple[int, Any]]:
        """Yield the number of each task with what it returned, or :class:`Lost`, in the order in which they end.

        A task whose process dies is begun again elsewhere. Closing the iterator ends what is still running.
        """

    def close(self) -> None:  # noqa: B027  (most have nothing to end)
        """No more tasks are to come."""
