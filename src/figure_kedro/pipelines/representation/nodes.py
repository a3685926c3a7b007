"""From a graph to a trained encoder, its timing record and, where they are stored, embeddings."""

import logging
from typing import Any

import pandas as pd
import scipy.sparse as sp
from optuna.storages import BaseStorage

from figure_kedro.datasets.handles import BlockStore
from figure_kedro.datasets.tensor_file import CheckpointFile
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.graph import Graph
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.pipelines.tracking import MlflowMetrics, log_metrics, nested_run
from figure_kedro.representation import State, build_representation, restore_representation
from figure_kedro.tuning.study import Space, run_study

logger = logging.getLogger(__name__)

STORED_NUMBERS = 100_000_000
"""Embeddings of at most so many numbers are stored unless asked otherwise."""

LEARNING_RATES = [1e-5, 1e-4, 1e-3, 1e-2, 1e-1]
SAMPLE_SIZES = [1500, 1750, 2000, 2250]


def tune_representation(
    graph: Graph,
    normalised_adjacency: sp.csr_array,
    filters: FilterSettings,
    representation: RepresentationSettings,
    tuning_journal: BaseStorage,
    propagated_blocks: BlockStore,
) -> dict[str, Any]:
    """Choose learning rate and sample size by the lowest training loss, if tuning is on; else keep the settings.

    The sample size matters to the ``sampled`` strategy alone. The given setting is tried first.
    """
    if not representation.tuning.enabled:
        return representation.model_dump(mode="json")
    space: Space = {"learning_rate": LEARNING_RATES}
    if representation.strategy == "sampled":
        space["size"] = SAMPLE_SIZES
    given = {"learning_rate": representation.training.learning_rate, "size": representation.sampled.size}
    space = {name: sorted({*values, given[name]}) for name, values in space.items()}

    def training_loss(number: int, trial: dict[str, Any]) -> float:
        logger.info("trial %d: %s", number, trial)
        with nested_run(f"trial {number}", trial):
            method = build_representation(filters, _changed(representation, trial))
            try:
                record = method.fit(
                    graph,
                    matrix=normalised_adjacency,
                    listeners=[MlflowMetrics()],
                    allocate=propagated_blocks.allocate,
                ).record_
            finally:
                propagated_blocks.clear()
            log_metrics({"lowest_loss": record.best_loss})
            return record.best_loss

    study = run_study(
        training_loss,
        space,
        trials=representation.tuning.trials,
        name=graph.checksum(),
        first=[{name: given[name] for name in space}],
        seed=representation.tuning.seed,
        storage=tuning_journal,
    )
    logger.info("best of %d trials: %s, loss %.4f", len(study.trials), study.best_params, study.best_value)
    return _changed(representation, study.best_params).model_dump(mode="json")


def train_encoder(
    graph: Graph,
    normalised_adjacency: sp.csr_array,
    filters: FilterSettings,
    tuned_representation: dict[str, Any],
    checkpoint: CheckpointFile,
    propagated_blocks: BlockStore,
) -> tuple[State, dict[str, Any], pd.DataFrame, dict[str, float]]:
    """Train, or go on where an earlier run was killed.

    Returns:
        The encoder's weights, its settings, the loss curve, and the timing record.
    """
    method = build_representation(filters, RepresentationSettings(**tuned_representation))
    try:
        method.fit(
            graph,
            matrix=normalised_adjacency,
            checkpoints=checkpoint,
            listeners=[MlflowMetrics()],
            allocate=propagated_blocks.allocate,
        )
    finally:
        propagated_blocks.clear()
    record, timing = method.record_, method.record_.timing()
    if record.epochs:
        logger.info(
            "trained for %d epochs of %.4f s; lowest loss %.4f at epoch %d",
            record.epochs,
            timing["mean_epoch_seconds"],
            record.best_loss,
            record.best_epoch,
        )
        log_metrics({"lowest_loss": record.best_loss, **timing})
    weights, description = method.state()
    settings = {name: value for name, value in description.items() if name != "training"}
    curve = pd.DataFrame({"epoch": range(record.epochs), "loss": record.losses, "seconds": record.seconds})
    return (weights, description), settings, curve, timing


def embed_nodes(
    graph: Graph,
    normalised_adjacency: sp.csr_array,
    encoder: State,
    representation: RepresentationSettings,
) -> dict[str, pd.DataFrame]:
    """Tabulate the embeddings of every filter under the user's node ids, or none if they are not to be stored."""
    method = restore_representation(encoder)
    width = graph.num_features if method.settings.method == "propagation" else method.settings.dim
    numbers = graph.num_nodes * width * method.filters.size
    wanted = representation.embeddings
    if wanted == "never" or (wanted == "auto" and numbers > STORED_NUMBERS):
        logger.info("embeddings are not stored; they are rebuilt from the weights where they are needed")
        return {}
    return {name: _table(graph, view) for name, view in method.views(graph, normalised_adjacency)}


def _table(graph: Graph, view: Any) -> pd.DataFrame:
    table = pd.DataFrame(view, columns=[f"e{i}" for i in range(view.shape[1])])
    table.insert(0, "id", graph.ids)
    return table


def _changed(representation: RepresentationSettings, trial: dict[str, Any]) -> RepresentationSettings:
    training = representation.training.model_copy(update={"learning_rate": trial["learning_rate"]})
    sampled = representation.sampled.model_copy(update={"size": trial.get("size", representation.sampled.size)})
    return representation.model_copy(update={"training": training, "sampled": sampled})
