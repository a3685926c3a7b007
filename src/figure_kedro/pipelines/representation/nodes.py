"""From a graph to a trained encoder, its timing record and its embeddings."""

import logging
import math
from typing import Any

import pandas as pd

from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.datasets.handles import BlockStore, TuningFiles
from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.method import MethodSettings, TrainedSettings
from figure_kedro.pipelines.tracking import MlflowMetrics, log_metrics, nested_run
from figure_kedro.reporting.results import representation_storage_mb
from figure_kedro.training.loop import Listener
from figure_kedro.training.progress import TuningBar
from figure_kedro.tuning.study import Report, Space, run_study

logger = logging.getLogger(__name__)


def tune_representation(
    graph: Graph,
    operator: Operator,
    representation: MethodSettings,
    tuning: TuningFiles,
    propagated_blocks: BlockStore,
) -> MethodSettings:
    """Choose settings of the method's search space by the lowest training loss, if tuning is on; else keep them.

    The given setting is tried first. The best training is left as a finished checkpoint, so that it is not repeated.
    """
    if not isinstance(representation, TrainedSettings) or not representation.tuning.enabled:
        return representation
    given = {path: representation.at(path) for path in representation.space}
    space: Space = {path: sorted({*values, given[path]}) for path, values in representation.space.items()}

    def training_loss(number: int, trial: dict[str, Any], report: Report) -> float:
        logger.info("trial %d: %s", number, trial)
        with nested_run(f"trial {number}", trial, "representation"):
            fitted = Representation(filters=operator.filters, settings=representation.changed(trial), progress=False)
            heard: list[Listener] = [MlflowMetrics(), bar]
            try:
                fitted.fit(
                    graph,
                    operator=operator,
                    checkpoints=tuning.running,
                    listeners=heard,
                    allocate=propagated_blocks.allocate,
                )
            except UserError:
                tuning.ended(math.inf)
                raise
            finally:
                propagated_blocks.clear()
            record = fitted.record_
            logger.info("trial %d: lowest loss %.4f, %d epochs", number, record.best_loss, record.epochs)
            log_metrics({"lowest_loss": record.best_loss})
            tuning.ended(record.best_loss)
            return record.best_loss

    with TuningBar(representation.tuning.trials) as bar:
        study = run_study(
            training_loss,
            space,
            trials=representation.tuning.trials,
            name=f"tuning of {representation.method} on {graph.name}, graph {graph.checksum[:12]}",
            first=[given],
            seed=representation.tuning.seed,
            storage=tuning.storage,
            metric="lowest training loss",
            on_trial=bar.on_trial,
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
    metrics = MlflowMetrics()
    try:
        fitted.fit(
            graph,
            operator=operator,
            checkpoints=checkpoint,
            listeners=[metrics],
            allocate=propagated_blocks.allocate,
        )
    finally:
        propagated_blocks.clear()
    metrics.catch_up(fitted.record_)
    record, timing = fitted.record_, fitted.record_.timing()
    timing["storage_mb"] = representation_storage_mb(fitted.num_nodes_, fitted.width, len(fitted.view_names))
    if record.epochs:
        logger.info(
            "trained for %d epochs of %.4f s; lowest loss %.4f at epoch %d",
            record.epochs,
            timing["mean_epoch_seconds"],
            record.best_loss,
            record.best_epoch,
        )
        log_metrics({"lowest_loss": record.best_loss})
    curve = pd.DataFrame({"epoch": range(record.epochs), "loss": record.losses, "seconds": record.seconds})
    return fitted, curve, timing


def embed_nodes(graph: Graph, operator: Operator, encoder: Representation) -> Embeddings:
    """Embed every node under every filter; each view is computed when it is stored, one at a time."""
    return encoder.embed(graph, operator)
