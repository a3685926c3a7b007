"""What becomes of a run in MLflow that is interrupted."""

import atexit
import signal
import sys
import threading
from typing import Any

import mlflow


def end_as_killed_on_interrupt() -> dict[int, Any]:
    """Let Ctrl-C and SIGTERM end the MLflow run as KILLED; MLflow's own exit handler would call it finished.

    After SIGTERM the process ends with 143, as one that does not handle it does for a shell.

    Returns:
        The signal handlers that were there before.
    """
    if threading.current_thread() is not threading.main_thread():
        return {}

    def end_runs() -> None:
        while mlflow.active_run():
            mlflow.end_run("KILLED")

    def interrupt(signum: int, frame: Any) -> None:
        atexit.register(end_runs)  # runs before MLflow's handler, which was registered earlier
        if signum == signal.SIGTERM:
            sys.exit(128 + signum)
        raise KeyboardInterrupt

    return {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}


def restore(handlers: dict[int, Any]) -> None:
    """Put back what :func:`end_as_killed_on_interrupt` has returned."""
    for number, handler in handlers.items():
        signal.signal(number, handler)
