"""MLflow holds the run: kedro-mlflow's hook, told what a run of this project is."""

from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, cast

import mlflow
from kedro.framework.context import KedroContext
from kedro.framework.hooks import hook_impl
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node
from kedro_mlflow.framework.hooks.mlflow_hook import MlflowHook
from mlflow.environment_variables import MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING
from mlflow.exceptions import MlflowException

from figure_kedro.tracking.interrupt import end_as_killed_on_interrupt, restore

if TYPE_CHECKING:
    from figure_kedro.config import ProjectConfigLoader
    from figure_kedro.datasets.graph_dataset import GraphDataset
    from figure_kedro.parameters import Parameters

# The parts of the project, and torch behind them, are imported when a run needs them: Kedro reads this module for every
# command.

TRAINING_NODE = "representation.train_encoder"


class RunTracking(MlflowHook):
    """Takes the place of kedro-mlflow's hook, which starts and ends the run; `mlflow.yml` configures it as ever.

    kedro-mlflow names a run after its pipeline and writes settings down as the text of an object, node by node. Here a
    run is named by what it is, its settings are written once by their path, and at its end it gets the graph as its
    input, its numbers with those of the paper, its files, and the loss curve if an earlier run has trained.
    """

    _parameters: "Parameters"

    def __init__(self) -> None:
        super().__init__()
        self._handlers: dict[int, Any] = {}
        self._stage, self._trained = "evaluation", False

    @hook_impl
    def after_context_created(self, context: KedroContext) -> None:
        try:
            super().after_context_created(context)
        except MlflowException as error:
            if error.error_code != "RESOURCE_ALREADY_EXISTS":
                raise
            # another first run has made the experiment since kedro-mlflow looked for it
            super().after_context_created(context)
        self._parameters = cast("ProjectConfigLoader", context.config_loader).parameters

    @hook_impl
    def before_pipeline_run(self, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog) -> None:
        from figure_kedro.tracking import words

        self.run_id, self._trained = None, False
        self._stage = words.last_stage({str(node.namespace) for node in pipeline.nodes})
        run = self.mlflow_config.tracking.run
        run.name = run.name or words.run_name(self._parameters, self._stage)
        with _system_metrics(self._parameters.tracking.system_metrics):
            super().before_pipeline_run(run_params, pipeline, catalog)
        if self._is_mlflow_enabled:
            mlflow.log_params(words.run_params(self._parameters, self._stage))
            mlflow.set_tags(words.run_tags(self._parameters, self._stage, _command(run_params)))
            # objects in words, and half of the command
            _delete_tags("kedro_command", "runtime_params", "runner", "pipeline_names")
            self._handlers = end_as_killed_on_interrupt()

    @hook_impl
    def before_node_run(self, node: Node, catalog: DataCatalog, inputs: dict[str, Any], is_async: bool) -> None:
        if self.run_id is not None and mlflow.active_run() is None:  # in another thread of a ThreadRunner
            mlflow.start_run(run_id=self.run_id, nested=self.mlflow_config.tracking.run.nested)

    @hook_impl
    def after_node_run(self, node: Node) -> None:
        self._trained = self._trained or node.name == TRAINING_NODE

    @hook_impl
    def after_pipeline_run(self, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog) -> None:
        try:
            if self._is_mlflow_enabled:
                self._log_results(pipeline, catalog)
        except Exception:
            with suppress(mlflow.MlflowException):  # of a full disk; the next run ends it then
                mlflow.end_run("FAILED")  # MLflow itself would call it finished
            raise
        finally:
            restore(self._handlers)
        super().after_pipeline_run(run_params, pipeline, catalog)

    def _log_model(self, catalog: DataCatalog) -> None:
        """Package the model, if that is asked for."""
        from figure_kedro.cli import CommandError
        from figure_kedro.errors import UserError
        from figure_kedro.serving.package import local_path, log_model

        wanted, index = self._parameters.model, catalog.load("run_index")
        if not wanted.wanted:
            return
        run = index.existing()
        files = {name: Path(catalog.get(name)._filepath) for name in ("graph", "operator")}  # type: ignore[union-attr]
        files |= {name: run[name] for name in ("weights", "classifier")}
        try:
            model = log_model(
                files,
                catalog.load("graph"),
                catalog.load("encoder").method,
                normalise=self._parameters.features.normalise,
                register=wanted.register,
            )
        except UserError as error:
            raise CommandError(str(error)) from None
        mlflow.set_tag("model", model.model_uri)
        if (path := local_path(model)) is not None:
            index.lead_to("model", path.parent)  # MLflow takes no model that is a link itself

    @hook_impl
    def on_pipeline_error(
        self, error: Exception, run_params: dict[str, Any], pipeline: Pipeline, catalog: DataCatalog
    ) -> None:
        restore(self._handlers)
        super().on_pipeline_error(error, run_params, pipeline, catalog)

    def _log_results(self, pipeline: Pipeline, catalog: DataCatalog) -> None:
        from figure_kedro.pipelines.tracking import log_curve
        from figure_kedro.tracking.files import log_files
        from figure_kedro.tracking.graph_input import GraphInput
        from figure_kedro.tracking.words import path_tags, record_metrics

        if catalog.exists("graph"):
            profile = cast("GraphDataset", catalog.get("graph")).profile()
            graph = GraphInput(profile, self._parameters.source.model_dump(mode="json"))
            mlflow.log_input(graph, context="training")
            mlflow.set_tag("data_checksum", graph.profile["checksum"])
        if self._stage in ("inference", "neighbours"):
            paths = {name: getattr(catalog.get(name), "_filepath", None) for name in pipeline.all_outputs()}
            mlflow.set_tags(path_tags({name: Path(path) for name, path in paths.items() if path}))
        if self._stage not in ("representation", "projection", "evaluation"):
            return
        if not self._trained and catalog.exists("loss_curve"):
            log_curve(catalog.load("loss_curve"))
        if self._stage == "evaluation" and catalog.exists("summary"):
            mlflow.log_metrics(record_metrics(catalog.load("summary")))
        elif catalog.exists("timing"):
            mlflow.log_metrics(catalog.load("timing"))
        found = catalog.load("run_index").existing()
        mlflow.set_tags(path_tags(found))
        # all of the report is in the folder of the pictures; embeddings are as large as a graph and stay where they are
        kept = {"report": "pictures"} | {name: name for name in ("weights", "classifier", "predictions", "loss_curve")}
        log_files(
            {name: found[what] for name, what in kept.items() if what in found and found[what].exists()},
            self._parameters.tracking.artefact_mb,
        )
        if self._stage == "evaluation":
            self._log_model(catalog)


def _delete_tags(*names: str) -> None:
    run = mlflow.active_run()
    tags = mlflow.MlflowClient().get_run(run.info.run_id).data.tags if run else {}
    for name in set(names) & set(tags):
        mlflow.delete_tag(name)


@contextmanager
def _system_metrics(wanted: bool) -> Iterator[None]:
    """Let MLflow watch the machine during a run that starts here, and not during those below it."""
    if wanted and not MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING.get():
        MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING.set(True)
        try:
            yield
        finally:
            MLFLOW_ENABLE_SYSTEM_METRICS_LOGGING.unset()
    else:
        yield


def _command(run_params: dict[str, Any]) -> str:
    """What makes this run again, from the command line."""
    from figure_kedro.tracking.words import command_line

    names = {"from_nodes": "--from-nodes", "to_nodes": "--to-nodes", "node_names": "--nodes", "tags": "--tags"}
    names |= {"from_inputs": "--from-inputs", "to_outputs": "--to-outputs", "namespaces": "--namespaces"}
    options = [f"{option}={','.join(run_params[name])}" for name, option in names.items() if run_params.get(name)]
    options += ["--only-missing-outputs"] if run_params.get("only_missing_outputs") else []
    return command_line(run_params.get("pipeline_names") or [], run_params.get("runtime_params") or {}, options)
