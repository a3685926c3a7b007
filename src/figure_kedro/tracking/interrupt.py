"""What becomes of a run in MLflow that is interrupted."""

import atexit
import contextlib
import os
import signal
import sys
import threading
import time
from types import FrameType
from typing import Any

import mlflow

LOOK_SECONDS, MOST_SECONDS = 0.02, 2.0
"""An interrupt waits for what MLflow is doing, and is then sent again; but it does not wait longer than this."""


def end_as_killed_on_interrupt() -> dict[int, Any]:
    """Let Ctrl-C and SIGTERM end the MLflow run as KILLED; MLflow's own exit handler would call it finished.

    An exception in the middle of a transaction would leave the database locked for this very process, so that the run
    could not be ended any more. After SIGTERM the process ends with 143, as one that does not handle it does for a
    shell.

    Returns:
        The signal handlers that were there before.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}
    first: list[float] = []

    def interrupt(signum: int, frame: FrameType | None) -> None:
        first.append(time.monotonic())
        if _is_in_mlflow(frame) and time.monotonic() - first[0] < MOST_SECONDS:
            again = threading.Timer(LOOK_SECONDS, os.kill, (os.getpid(), signum))
            again.daemon = True
            again.start()
            return
        atexit.register(_end_runs)  # runs before MLflow's handler, which was registered earlier
        if signum == signal.SIGTERM:
            sys.exit(128 + signum)
        raise KeyboardInterrupt

    return {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}


def restore(handlers: dict[int, Any]) -> None:
    """Put back what :func:`end_as_killed_on_interrupt` has returned."""
    for number, handler in handlers.items():
        signal.signal(number, handler)


def _end_runs() -> None:
    with contextlib.suppress(mlflow.MlflowException):  # the next run ends what this one could not, see run_owner
        while mlflow.active_run():
            mlflow.end_run("KILLED")


def _is_in_mlflow(frame: FrameType | None) -> bool:
    while frame is not None:
        if str(frame.f_globals.get("__name__")).partition(".")[0] == "mlflow":
            return True
        frame = frame.f_back
    return False
