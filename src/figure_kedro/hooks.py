"""What happens around a run: settings are checked first, mistakes are one line, MLflow gets every setting."""

import atexit
import logging
import signal
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.framework.project import pipelines
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline

from figure_kedro.cli import CommandError
from figure_kedro.config import ProjectConfigLoader
from figure_kedro.earlier import earlier_nodes
from figure_kedro.errors import UserError, nearest
from figure_kedro.log_noise import find_user_error

if TYPE_CHECKING:
    from figure_kedro.parameters import Parameters

# MLflow, torch and the parts of the project are imported when a run needs them: Kedro reads this module for every
# command, also for those that need none of them.

logger = logging.getLogger(__name__)


class ProjectHooks:
    """Checks parameters before anything runs, logs them, and turns a user's mistake into one line and exit code 2."""

    def __init__(self) -> None:
        self._context: KedroContext | None = None
        self._parameters: Parameters | None = None
        self._handlers: dict[int, Any] = {}
        self._outer_run: str | None = None

    @hook_impl(tryfirst=True)
    def after_context_created(self, context: KedroContext) -> None:
        self._context, self._outer_run = context, _active_run()
        loader = cast(ProjectConfigLoader, context.config_loader)
        try:
            from figure_kedro.datasets.files.tracking_database import ensure_database

            _check_pipelines()
            self._parameters = loader.parameters
            self._parameters.key("evaluation")  # reads the user's files, of which one may be missing
            if (database := loader.own_database()) is not None:
                ensure_database(database)
        except UserError as error:
            raise CommandError(str(error)) from None

    @hook_impl(trylast=True)
    def before_pipeline_run(self, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog) -> None:
        import mlflow

        from figure_kedro.parts import flatten

        if mlflow.active_run() and self._parameters is not None:
            mlflow.log_params({"dataset": self._parameters.dataset, **flatten(self._parameters.decisive("evaluation"))})
            self._handlers = _end_as_killed_on_interrupt()
        self._run_earlier(run_params, pipeline, catalog)

    def _run_earlier(self, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog) -> None:
        """Run what the pipeline needs and no earlier run has left for these settings."""
        from kedro.runner import SequentialRunner

        from figure_kedro.pipeline_registry import register_pipelines

        earlier = earlier_nodes(register_pipelines()["__default__"], pipeline, catalog)
        if not earlier.nodes:
            return
        names = ", ".join(dict.fromkeys(str(node.namespace) for node in earlier.nodes))
        logger.info("nothing is there yet of %s for these settings: running that first", names)
        assert self._context is not None
        hooks = self._context._hook_manager
        try:
            SequentialRunner().run(earlier, catalog, hooks, run_id=run_params.get("run_id"))
        except Exception as error:
            hooks.hook.on_pipeline_error(error=error, run_params=run_params, pipeline=earlier, catalog=catalog)
            raise

    @hook_impl(trylast=True)
    def after_pipeline_run(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        import mlflow
        import rich

        from figure_kedro.reporting.panel import summary_panel

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
    import mlflow

    run = mlflow.active_run()
    return run.info.run_id if run else None


def _reports(pipeline: Pipeline, catalog: DataCatalog) -> dict[str, Path]:
    """The files for people to look at that a pipeline has written, by name."""
    paths = {name: getattr(catalog.get(name), "_filepath", None) for name in sorted(pipeline.all_outputs())}
    return {name: _short(Path(path)) for name, path in paths.items() if path and "08_reporting" in Path(path).parts}


def _mlflow_command() -> str:
    import mlflow

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
        import mlflow

        while mlflow.active_run():
            mlflow.end_run("KILLED")

    def interrupt(signum: int, frame: Any) -> None:
        atexit.register(end_runs)  # runs before MLflow's handler, which was registered earlier
        raise KeyboardInterrupt

    return {number: signal.signal(number, interrupt) for number in (signal.SIGINT, signal.SIGTERM)}
