"""Functions that tests hand to other processes, which import them from here."""

import os
import signal
import sys
import time
from pathlib import Path

from figure_kedro.errors import UserError
from figure_kedro.execution import ExecutionSettings, make_executor


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


def imported(module):
    """This process, and whether it has imported a module."""
    time.sleep(0.2)  # so that no worker does the work of all
    return os.getpid(), module in sys.modules


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


def executor_inside(backend, workers):
    """What runs the tasks of a run that is itself a task."""
    return type(make_executor(ExecutionSettings(backend=backend, workers=workers))).__name__
