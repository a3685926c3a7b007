"""Work in this process, one task after the other."""

from collections.abc import Generator, Sequence
from typing import Any

from figure_kedro.execution.executor import Executor, Task


class ThisProcess(Executor):
    """Runs tasks here, in their order.

    Args:
        threads: That a task may use; 0 is as many as are free.
    """

    def __init__(self, threads: int = 0) -> None:
        self.threads = threads

    def run(self, tasks: Sequence[Task]) -> Generator[tuple[int, Any]]:
        for number, task in enumerate(tasks):
            yield number, task.function(*task.arguments)
