"""From embeddings to scores on every split."""

import hashlib
import logging
from typing import Any

import numpy as np
import pandas as pd
import rich
import scipy.sparse as sp
from optuna.storages import BaseStorage
from rich.progress import track

from figure_kedro.evaluation.selection import SplitResult, evaluate_split
from figure_kedro.evaluation.settings import EvaluationSettings
from figure_kedro.evaluation.views import Views
from figure_kedro.graph import Graph
from figure_kedro.graph.splits import UNUSED
from figure_kedro.pipelines.tracking import log_metrics
from figure_kedro.projections import ProjectionSettings, ViewScaler
from figure_kedro.representation import State, restore_representation
from figure_kedro.training.device import set_threads

logger = logging.getLogger(__name__)


def evaluate_splits(
    graph: Graph,
    normalised_adjacency: sp.csr_array,
    encoder: State,
    projection_map: dict[str, Any],
    evaluation: EvaluationSettings,
    evaluation_journal: BaseStorage,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Choose settings on validation and score the test part, for each split.

    Returns:
        One row a split with its scores and the chosen settings; one row a split and filter with its coefficient; one
        row a node with its id and predicted class under each split. All three are empty for a graph without labels.
    """
    if graph.splits is None:
        logger.info("%s has no labels: evaluation is left out", graph.name)
        empty = pd.DataFrame({"split": []})
        return empty, empty, pd.DataFrame({"id": []})
    method = restore_representation(encoder)
    set_threads(method.settings.training.threads)
    used = np.flatnonzero((graph.splits != UNUSED).any(axis=0))
    names, blocks = zip(*((name, view[used]) for name, view in method.views(graph, normalised_adjacency)), strict=True)
    views = Views(blocks, ProjectionSettings(**projection_map["settings"]), _scaler(projection_map))
    study = _digest(blocks, graph.labels)  # trials on other embeddings or labels are never taken up
    count = evaluation.splits or graph.num_splits
    results: list[SplitResult] = []
    for split, codes in enumerate(track(graph.splits[:count], "Evaluating splits", console=rich.get_console())):
        result = evaluate_split(
            views,
            np.asarray(graph.labels)[used],
            codes[used],
            graph.metrics,
            evaluation,
            name=f"{study}-{split}",
            storage=evaluation_journal,
        )
        log_metrics({f"split_{name}": value for name, value in result.scores.items()}, step=split)
        results.append(result)
    scores = pd.DataFrame([{"split": i, **r.scores, **r.settings} for i, r in enumerate(results)])
    alphas = pd.DataFrame(
        [
            {"split": i, "filter": name, "alpha": value}
            for i, r in enumerate(results)
            for name, value in zip(names, r.alpha, strict=True)
        ]
    )
    classes = np.array(graph.classes)
    predicted = {f"split_{i}": classes[r.predictions] for i, r in enumerate(results)}
    predictions = pd.DataFrame({"id": graph.ids[used], "label": classes[graph.labels[used]], **predicted})
    means = {f"{name}_mean": scores[name].mean() for name in results[0].scores}
    log_metrics(means)
    return scores, alphas, predictions


def _digest(blocks: tuple[np.ndarray, ...], labels: np.ndarray) -> str:
    digest = hashlib.sha256()
    for array in (*blocks, labels):
        digest.update(np.ascontiguousarray(array))
    return digest.hexdigest()


def _scaler(projection_map: dict[str, Any]) -> ViewScaler:
    settings = ProjectionSettings(**projection_map["settings"])
    scaler = ViewScaler(settings.scale, settings.norm)
    scaler.mean_, scaler.scale_ = np.array(projection_map["mean"]), np.array(projection_map["scale"])
    return scaler
