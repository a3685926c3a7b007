"""From a graph to a trained encoder, its timing record and its embeddings."""

import logging
from typing import Any

import pandas as pd
from optuna.storages import BaseStorage

from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.datasets.handles import BlockStore
from figure_kedro.embeddings import Embeddings
from figure_kedro.estimator import Representation
from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.method import MethodSettings, TrainedSettings
from figure_kedro.pipelines.tracking import MlflowMetrics, log_metrics, nested_run
from figure_kedro.tuning.study import Report, Space, run_study

logger = logging.getLogger(__name__)


def tune_representation(
    graph: Graph,
    operator: Operator,
    representation: MethodSettings,
    tuning_journal: BaseStorage,
    propagated_blocks: BlockStore,
) -> MethodSettings:
    """Choose settings of the method's search space by the lowest training loss, if tuning is on; else keep them.

    The given setting is tried first.
    """
    if not isinstance(representation, TrainedSettings) or not representation.tuning.enabled:
        return representation
    given = {path: representation.at(path) for path in representation.space}
    space: Space = {path: sorted({*values, given[path]}) for path, values in representation.space.items()}

    def training_loss(number: int, trial: dict[str, Any], report: Report) -> float:
        logger.info("trial %d: %s", number, trial)
        with nested_run(f"trial {number}", trial):
            fitted = Representation(filters=operator.filters, settings=representation.changed(trial))
            try:
                fitted.fit(graph, operator=operator, listeners=[MlflowMetrics()], allocate=propagated_blocks.allocate)
            finally:
                propagated_blocks.clear()
            log_metrics({"lowest_loss": fitted.record_.best_loss})
            return fitted.record_.best_loss

    study = run_study(
        training_loss,
        space,
        trials=representation.tuning.trials,
        name=graph.checksum,
        first=[given],
        seed=representation.tuning.seed,
        storage=tuning_journal,
    )
    logger.info("best of %d trials: %s, loss %.4f", len(study.trials), study.best_params, study.best_value)
    return representation.changed(study.best_params)


def train_encoder(
    graph: Graph,
    operator: Operator,
    tuned_representation: MethodSettings,
    checkpoint: CheckpointFile,
    propagated_blocks: BlockStore,
) -> tuple[Representation, pd.DataFrame, dict[str, float]]:
    """Train, or resume where an earlier run was killed.

    Returns:
        The fitted method, the loss curve, and the timing record.
    """
    fitted = Representation(filters=operator.filters, settings=tuned_representation)
    try:
        fitted.fit(
            graph,
            operator=operator,
            checkpoints=checkpoint,
            listeners=[MlflowMetrics()],
            allocate=propagated_blocks.allocate,
        )
    finally:
        propagated_blocks.clear()
    record, timing = fitted.record_, fitted.record_.timing()
    if record.epochs:
        logger.info(
            "trained for %d epochs of %.4f s; lowest loss %.4f at epoch %d",
            record.epochs,
            timing["mean_epoch_seconds"],
            record.best_loss,
            record.best_epoch,
        )
        log_metrics({"lowest_loss": record.best_loss, **timing})
    curve = pd.DataFrame({"epoch": range(record.epochs), "loss": record.losses, "seconds": record.seconds})
    return fitted, curve, timing


def embed_nodes(graph: Graph, operator: Operator, encoder: Representation) -> Embeddings:
    """Embed every node under every filter; each view is computed when it is stored, one at a time."""
    return encoder.embed(graph, operator)
