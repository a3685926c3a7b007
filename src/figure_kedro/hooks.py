"""What happens around a run: settings are checked first, mistakes are one line, and the end says where all is."""

import ctypes
import logging
import os
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.framework.project import pipelines
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node

from figure_kedro.cli import CommandError
from figure_kedro.config import ProjectConfigLoader
from figure_kedro.earlier import earlier_nodes
from figure_kedro.errors import UserError, nearest
from figure_kedro.machine_errors import find_user_error
from figure_kedro.run_owner import owned_runs
from figure_kedro.turns import Turns

if TYPE_CHECKING:
    from figure_kedro.datasets.run_index import RunIndex
    from figure_kedro.parameters import Parameters
    from figure_kedro.planning import RunLimits

# MLflow, torch and the parts of the project are imported when a run needs them: Kedro reads this module for every
# command, also for those that need none of them.

logger = logging.getLogger(__name__)


class ProjectHooks:
    """Checks parameters before anything runs, says at the end where all is, and makes a user's mistake one line."""

    def __init__(self) -> None:
        self._context: KedroContext | None = None
        self._parameters: Parameters | None = None
        self._turns: Turns | None = None
        self._limits: RunLimits | None = None

    @hook_impl(tryfirst=True)
    def after_context_created(self, context: KedroContext) -> None:
        self._context = context
        loader = cast(ProjectConfigLoader, context.config_loader)
        try:
            from figure_kedro.datasets.files.tracking_database import ensure_database

            _check_pipelines()
            self._parameters = loader.parameters
            for stage in ("evaluation", "inference", "neighbours"):
                self._parameters.key(stage)  # reads the user's files, of which one may be missing
            if (database := loader.own_database()) is not None:
                ensure_database(database)
        except UserError as error:
            raise CommandError(str(error)) from None

    @hook_impl(trylast=True)
    def before_pipeline_run(self, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog) -> None:
        self._end_turn()  # of a run of this process that was interrupted
        self._turns = Turns(catalog)
        self._begin(run_params, pipeline, catalog)
        if run_params.get("runner", "None") != "None" and "SequentialRunner" not in str(run_params["runner"]):
            self._turns.take_all(pipeline)

    @hook_impl
    def before_dataset_loaded(self, node: Node) -> None:
        if self._turns is not None:
            self._turns.take(node)

    def _begin(self, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog) -> None:
        """Say what the run will take, and run what it needs and no earlier run has left for these settings."""
        from kedro.runner import SequentialRunner

        from figure_kedro.datasets.files.data_folder import check_storage, local_folder
        from figure_kedro.pipeline_registry import register_pipelines
        from figure_kedro.planning import RunLimits

        if self._context is None or self._parameters is None:
            return
        hooks, project = self._context._hook_manager, Path(self._context.project_path)
        earlier = Pipeline([])
        try:
            check_storage(local_folder(project, self._parameters.data_folder))
            earlier = earlier_nodes(register_pipelines()["__default__"], pipeline, catalog)
            names = {node.name.rpartition(".")[2] for node in (earlier + pipeline).nodes}
            self._limits = RunLimits(self._parameters, project, names)
            self._limits.begin()
            if earlier.nodes:
                parts = ", ".join(dict.fromkeys(str(node.namespace) for node in earlier.nodes))
                logger.info("nothing is there yet of %s for these settings: running that first", parts)
                SequentialRunner().run(earlier, catalog, hooks, run_id=run_params.get("run_id"))
        except Exception as error:
            hooks.hook.on_pipeline_error(error=error, run_params=run_params, pipeline=earlier, catalog=catalog)
            raise

    @hook_impl
    def before_node_run(self, node: Node, catalog: DataCatalog, inputs: dict[str, Any]) -> None:
        if self._turns is not None:
            self._turns.take(node)
        if self._limits is not None and not self._limits.said and "graph" in inputs:
            self._limits.say_of(inputs["graph"], catalog.load("targets") if catalog.exists("targets") else None)

    @hook_impl(trylast=True)
    def after_node_run(self) -> None:
        give_memory_back()

    @hook_impl(trylast=True)
    def after_pipeline_run(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        import rich

        from figure_kedro.datasets.files.data_folder import shown
        from figure_kedro.reporting.panel import summary_panel

        self._end_turn()
        index = catalog.load("run_index")
        index.write()
        if "summary" in pipeline.all_outputs():
            paths = {name.replace("_", " "): shown(path) for name, path in index.existing().items()}
            folder = {"run folder": shown(index.folder)}
            # the end of a run is for people: a table on the console that the progress bars use, not a line of the log
            rich.get_console().print(summary_panel(catalog.load("summary"), folder | paths, self._ui_command()))
            return
        for name, path in {**_reports(pipeline, catalog), **_outputs(index, pipeline)}.items():
            logger.info("%s is in %s", name, shown(path), extra={"markup": False})

    @hook_impl(trylast=True)
    def on_pipeline_error(self, error: Exception) -> None:
        try:
            self._end_turn()
        except UserError as unpublished:  # what the run died of is told, and not what came of it
            logger.warning("%s", unpublished)
        mistake = find_user_error(error)
        if mistake is not None:
            raise CommandError(str(mistake)) from None

    def _ui_command(self) -> str:
        from figure_kedro.tracking.ui import ui_command

        return ui_command(cast(ProjectConfigLoader, self._context.config_loader)) if self._context else ""

    def _end_turn(self) -> None:
        if self._turns is not None:
            self._turns.end()
        self._turns = None
        if self._limits is not None:
            self._limits.end()
        self._limits = None


class TrackingHooks:
    """Sees to it that MLflow runs of processes that were killed are closed by the next run."""

    def __init__(self) -> None:
        self._loader: ProjectConfigLoader | None = None
        self._owned = ExitStack()

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        self._loader = cast(ProjectConfigLoader, context.config_loader)

    @hook_impl(tryfirst=True)
    def before_pipeline_run(self) -> None:  # before MLflow's run is started
        self._owned.close()  # of a run of this process that was interrupted
        if self._loader is not None:
            self._owned.enter_context(owned_runs(self._loader.locks(), self._loader.parameters.key("evaluation")))

    @hook_impl(trylast=True)
    def after_pipeline_run(self) -> None:
        self._owned.close()

    @hook_impl
    def on_pipeline_error(self) -> None:
        self._owned.close()


def give_memory_back() -> None:
    """Hand what a node has freed back to the system, where the C library has a call for that.

    glibc keeps freed arrays of a few megabytes between what is still in use; the next node would come on top of them.
    """
    trim = getattr(ctypes.CDLL(None), "malloc_trim", None) if os.name == "posix" else None
    if trim is not None:
        trim(0)


def _check_pipelines() -> None:
    # Kedro itself answers a misspelt --pipelines with a traceback
    for name in getattr(pipelines, "_requested_pipelines", None) or ():
        if name not in set(pipelines):
            pipelines.set_requested(None)  # or the next session of this process is asked for it again
            raise UserError(f"there is no pipeline {name!r}; {nearest(name, pipelines)}")


def _reports(pipeline: Pipeline, catalog: DataCatalog) -> dict[str, Path]:
    """The files for people to look at that a pipeline has written, by name; or its results, if there are none."""
    paths = {name: getattr(catalog.get(name), "_filepath", None) for name in sorted(pipeline.all_outputs())}
    for layer in ("08_reporting", "07_model_output"):
        found = {name: Path(path) for name, path in paths.items() if path and layer in Path(path).parts}
        if found:
            return found
    return {}


def _outputs(index: "RunIndex", pipeline: Pipeline) -> dict[str, Path]:
    """What a person looks for of a run without a summary, if the pipeline makes it."""
    if "encoder" not in pipeline.all_outputs():
        return {}
    return {**index.existing(), "the run folder": index.folder}
