"""From settings to what runs the tasks of a run."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from figure_kedro.execution.executor import INSIDE, Executor
from figure_kedro.execution.local import LocalProcesses
from figure_kedro.execution.settings import ExecutionSettings
from figure_kedro.execution.this_process import ThisProcess


def make_executor(settings: ExecutionSettings, folder: Path | None = None) -> Executor:
    """What runs tasks as the settings say; close it when no more are to come.

    Inside of a task that is this process, whatever they say: whoever gave the task out has divided the cores already.

    Args:
        settings: Where tasks run.
        folder: Where other processes find arrays, on all machines; default: that of temporary files.

    Raises:
        UserError: If there are fewer cores than workers, Ray is not installed, or there is no cluster at the address.
    """
    if INSIDE in os.environ:
        return ThisProcess()
    if settings.backend == "ray":
        from figure_kedro.execution.on_ray import OnRay

        return OnRay(settings.address, workers=settings.workers, folder=folder)
    return LocalProcesses(settings.workers, folder) if settings.backend == "local" else ThisProcess()


_current: Executor = ThisProcess()


def executor() -> Executor:
    """What runs the tasks of this process: itself, unless :func:`set_executor` has set another one."""
    return _current


def set_executor(given: Executor) -> Executor:
    """Let tasks of this process run elsewhere from now on; returns what ran them before."""
    global _current  # as memory and threads do, this belongs to the process
    before, _current = _current, given
    return before


@contextmanager
def use_executor(given: Executor) -> Iterator[Executor]:
    """Let tasks of this process run elsewhere inside a ``with`` block, after which nothing is left of that."""
    before = set_executor(given)
    try:
        yield given
    finally:
        set_executor(before)
        given.close()
