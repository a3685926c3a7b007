"""What happens around a run: settings are checked first, mistakes are one line, MLflow gets every setting."""

import atexit
import logging
import signal
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import click
import mlflow
import rich
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.framework.project import pipelines
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline

from figure_kedro.datasets.tracking_database import ensure_database
from figure_kedro.errors import UserError, nearest
from figure_kedro.log_noise import find_user_error
from figure_kedro.parameters import STAGES, Parameters
from figure_kedro.reporting.summary import summary_panel

logger = logging.getLogger(__name__)


class CommandError(click.ClickException, UserError):
    """A user's mistake, which the command line prints as one line before it exits with code 2."""

    exit_code = 2


class InputHooks:
    """Says in one line what has to run first if a pipeline lacks what an earlier one leaves."""

    @hook_impl(tryfirst=True)
    def before_pipeline_run(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        for name in sorted(pipeline.inputs()):
            if name == "parameters" or name.startswith("params:") or catalog.exists(name):
                continue
            maker = next((stage for stage in STAGES if name in pipelines[stage].all_outputs()), "data_processing")
            raise CommandError(
                f"there is no {name} for these settings yet; run `kedro run --pipelines={maker}` with the same "
                "--params first"
            )


class ProjectHooks:
    """Checks parameters before anything runs, logs them, and turns a user's mistake into one line and exit code 2."""

    def __init__(self) -> None:
        self._parameters: Parameters | None = None
        self._handlers: dict[int, Any] = {}
        self._outer_run: str | None = None

    @hook_impl(tryfirst=True)
    def after_context_created(self, context: KedroContext) -> None:
        self._outer_run = _active_run()
        try:
            _check_pipelines()
            self._parameters = context.config_loader.parameters
            if (database := context.config_loader.own_database()) is not None:
                ensure_database(database)
        except UserError as error:
            raise CommandError(str(error)) from None

    @hook_impl(trylast=True)
    def before_pipeline_run(self) -> None:
        if mlflow.active_run():
            mlflow.log_params(dict(_flatten(self._parameters.model_dump(mode="json"))))
            self._handlers = _end_as_killed_on_interrupt()

    @hook_impl(trylast=True)
    def after_pipeline_run(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        self._restore_handlers()
        # kedro-mlflow starts its run once more with every node and ends it once; what remains would swallow the next
        while _active_run() not in (None, self._outer_run):
            mlflow.end_run()
        reports = _reports(pipeline, catalog)
        if "summary" in reports:
            folders = {"artefacts": str(reports["summary"].parent)}
            # the end of a run is for people: a table on the console that the progress bars use, not a line of the log
            rich.get_console().print(summary_panel(catalog.load("summary"), folders, _mlflow_command()))
            return
        for name, path in reports.items():
            logger.info("%s is in %s", name, path, extra={"markup": False})

    @hook_impl(trylast=True)
    def on_pipeline_error(self, error: Exception) -> None:
        self._restore_handlers()
        mistake = find_user_error(error)
        if mistake is not None:
            raise CommandError(str(mistake)) from None

    def _restore_handlers(self) -> None:
        for number, handler in self._handlers.items():
            signal.signal(number, handler)
        self._handlers = {}


def _check_pipelines() -> None:
    # Kedro itself answers a misspelt --pipelines with a traceback
    for name in getattr(pipelines, "_requested_pipelines", None) or ():
        if name not in set(pipelines):
            pipelines.set_requested(None)  # or the next session of this process is asked for it again
            raise UserError(f"there is no pipeline {name!r}; {nearest(name, pipelines)}")


def _active_run() -> str | None:
    run = mlflow.active_run()
    return run.info.run_id if run else None


def _flatten(settings: dict[str, Any], prefix: str = "") -> Iterator[tuple[str, Any]]:
    for name, value in settings.items():
        if isinstance(value, dict):
            yield from _flatten(value, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}", value


def _reports(pipeline: Pipeline, catalog: DataCatalog) -> dict[str, Path]:
    """The files for people to look at that a pipeline has written, by name."""
    paths = {name: getattr(catalog.get(name), "_filepath", None) for name in sorted(pipeline.all_outputs())}
    return {name: _short(Path(path)) for name, path in paths.items() if path and "08_reporting" in Path(path).parts}


def _mlflow_command() -> str:
    uri = mlflow.get_tracking_uri().replace(f"sqlite:///{Path.cwd()}/", "sqlite:///")
    return f"mlflow ui --workers 1 --backend-store-uri {uri}"


def _short(path: Path) -> Path:
    return path.relative_to(Path.cwd()) if path.is_relative_to(Path.cwd()) else path


def _end_as_killed_on_interrupt() -> dict[int, Any]:
    """Let Ctrl-C end the MLflow run as KILLED; MLflow's own exit handler would call it finished.

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
        raise KeyboardInterrupt

    return {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
