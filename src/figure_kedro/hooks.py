"""What happens around a run: settings are checked first, mistakes are one line, MLflow gets every setting."""

import atexit
import signal
import threading
from collections.abc import Iterator
from typing import Any

import click
import mlflow
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl

from figure_kedro.errors import UserError
from figure_kedro.parameters import Parameters


class ProjectHooks:
    """Checks parameters before anything runs, logs them, and turns a user's mistake into one line and exit code 2."""

    def __init__(self) -> None:
        self._parameters: Parameters | None = None

    @hook_impl(tryfirst=True)
    def after_context_created(self, context: KedroContext) -> None:
        try:
            self._parameters = context.config_loader.parameters
        except UserError as error:
            raise click.UsageError(str(error)) from None

    @hook_impl(trylast=True)
    def before_pipeline_run(self) -> None:
        if mlflow.active_run():
            mlflow.log_params(dict(_flatten(self._parameters.model_dump(mode="json"))))
            _end_as_killed_on_interrupt()

    @hook_impl(trylast=True)
    def on_pipeline_error(self, error: Exception) -> None:
        cause: BaseException | None = error
        while cause is not None:
            if isinstance(cause, UserError):
                raise click.UsageError(str(cause)) from None
            cause = cause.__cause__ or cause.__context__


def _flatten(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _end_as_killed_on_interrupt() -> None:
    """Let Ctrl-C end the MLflow run as KILLED; MLflow's own exit handler would call it finished."""
    if threading.current_thread() is not threading.main_thread():
        return

    def end_runs() -> None:
        while mlflow.active_run():
            mlflow.end_run("KILLED")

    def interrupt(signum: int, frame: Any) -> None:
        atexit.register(end_runs)  # runs before MLflow's handler, which was registered earlier
        raise KeyboardInterrupt

    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, interrupt)
