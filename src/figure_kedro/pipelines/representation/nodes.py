"""From a graph to a trained encoder, its timing record and, where they are stored, embeddings."""

import logging
from typing import Any

import pandas as pd
import scipy.sparse as sp
from optuna.storages import BaseStorage

from figure_kedro.datasets.handles import BlockStore
from figure_kedro.datasets.tensor_file import CheckpointFile
from figure_kedro.estimator import Representation, State
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.graph import Graph
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.pipelines.tracking import MlflowMetrics, log_metrics, nested_run
from figure_kedro.tuning.study import Report, Space, run_study

logger = logging.getLogger(__name__)

STORED_NUMBERS = 100_000_000
"""Embeddings of at most so many numbers are stored unless asked otherwise."""


def tune_representation(
    graph: Graph,
    normalised_adjacency: sp.csr_array,
    filters: FilterSettings,
    representation: RepresentationSettings,
    tuning_journal: BaseStorage,
    propagated_blocks: BlockStore,
) -> dict[str, Any]:
    """Choose settings of the method's search space by the lowest training loss, if tuning is on; else keep them.

    What belongs to the ``sampled`` strategy is searched for that one alone. The given setting is tried first.
    """
    if not representation.tuning.enabled:
        return representation.model_dump(mode="json")
    searched = {
        name: values
        for name, values in representation.tuning.space.items()
        if representation.strategy == "sampled" or not name.startswith("sampled.")
    }
    given = {name: representation.at(name) for name in searched}
    space: Space = {name: sorted({*values, given[name]}) for name, values in searched.items()}

    def training_loss(number: int, trial: dict[str, Any], report: Report) -> float:
        logger.info("trial %d: %s", number, trial)
        with nested_run(f"trial {number}", trial):
            method = Representation(filters=filters, settings=representation.changed(trial))
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
        first=[given],
        seed=representation.tuning.seed,
        storage=tuning_journal,
    )
    logger.info("best of %d trials: %s, loss %.4f", len(study.trials), study.best_params, study.best_value)
    return representation.changed(study.best_params).model_dump(mode="json")


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
    method = Representation(filters=filters, settings=RepresentationSettings(**tuned_representation))
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
    method = Representation.from_state(*encoder)
    numbers = graph.num_nodes * method.width * len(method.view_names)
    wanted = representation.embeddings
    if wanted == "never" or (wanted == "auto" and numbers > STORED_NUMBERS):
        logger.info("embeddings are not stored; they are rebuilt from the weights where they are needed")
        return {}
    return {name: _table(graph, view) for name, view in method.views(graph, normalised_adjacency)}


def _table(graph: Graph, view: Any) -> pd.DataFrame:
    table = pd.DataFrame(view, columns=[f"e{i}" for i in range(view.shape[1])])
    table.insert(0, "id", graph.ids)
    return table
