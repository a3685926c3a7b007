"""Functions that tests hand to other processes, which import them from here."""

import os
import signal
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from figure_kedro.errors import UserError
from figure_kedro.evaluation.split_work import SplitWork
from figure_kedro.execution import ExecutionSettings, make_executor
from figure_kedro.filters import BANKS
from figure_kedro.methods.decoupled import DecoupledObjective


def square(number):
    return number * number


def error_value(number):
    return ValueError(f"{number} is wrong")


def user_error(number):
    return UserError(f"{number} is wrong")


def die():
    os.kill(os.getpid(), signal.SIGKILL)


def die_once(marker, result):
    """End the process the first time, and return the result the second time."""
    path = Path(marker)
    if not path.exists():
        path.touch()
        die()
    return result


def threads_told(number):
    time.sleep(0.2)  # so that no worker does the work of all
    return os.environ["OMP_NUM_THREADS"]


def sleep_and_tell(folder, number, seconds):
    """Leave a file with the process and the machine, and return the number after a while."""
    leave_a_mark(folder, number)
    time.sleep(seconds)
    return number


def leave_a_mark(folder, name):
    """A file with the process in its name, and the machine in it."""
    place = os.environ.get("RAY_NODE_ID", "")
    if "RAY_RAYLET_PID" in os.environ:
        import ray

        place = ray.get_runtime_context().get_node_id()
    Path(folder, f"{name}-{os.getpid()}").write_text(place)


class SlowBank(BANKS["monomial"]):
    """Takes its time, and says where it works."""

    folder, seconds = None, 0.0

    def apply(self, propagate, block):
        leave_a_mark(self.folder, f"block{block.shape[1]}-{time.time_ns()}")
        time.sleep(self.seconds)
        return super().apply(propagate, block)


class SlowObjective(DecoupledObjective):
    """Takes its time, and says where it works."""

    folder, seconds = None, 0.0

    def losses(self, epoch, generator):
        leave_a_mark(self.folder, f"worker{self._team.rank}")
        time.sleep(self.seconds)
        yield from super().losses(epoch, generator)


def executor_inside(backend, workers):
    """What runs the tasks of a run that is itself a task."""
    return type(make_executor(ExecutionSettings(backend=backend, workers=workers))).__name__


@dataclass(frozen=True, eq=False)
class WorkThatKills(SplitWork):
    """Kills its process in the middle of one split, the first time."""

    marker: str = ""

    def evaluate(self, split, storage, on_trial, tried=lambda choice: None):
        def die_after_two(ended):
            on_trial(ended)
            if split == 1 and ended == 2:
                die_once(self.marker, None)

        return super().evaluate(split, storage, die_after_two, tried)


@dataclass(frozen=True, eq=False)
class WorkThatTells(SplitWork):
    """Leaves a file for every fit, with the process that made it."""

    folder: str = ""

    @cached_property
    def head(self):
        head, fit = super().head, type(super().head).fit

        def told(inputs, choice, *others):
            Path(self.folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
            return fit(head, inputs, choice, *others)

        head.fit = told
        return head
