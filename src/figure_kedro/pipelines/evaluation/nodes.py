"""From embeddings to scores on every split."""

import dataclasses
import hashlib
import logging
from collections.abc import Callable
from typing import Any

import numpy as np
import pandas as pd
import rich
import scipy.sparse as sp
from optuna.storages import BaseStorage
from rich.progress import track

from figure_kedro.estimator import Representation, State
from figure_kedro.evaluation.selection import SplitResult, evaluate_split
from figure_kedro.evaluation.settings import EvaluationSettings
from figure_kedro.evaluation.supervised import evaluate_split_supervised
from figure_kedro.evaluation.views import Views
from figure_kedro.graph import Graph
from figure_kedro.graph.splits import UNUSED
from figure_kedro.methods.supervised import GraphInputs
from figure_kedro.pipelines.tracking import log_metrics
from figure_kedro.projections import ProjectionSettings, ViewScaler
from figure_kedro.training.device import pick_device, set_threads

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
    method = Representation.from_state(*encoder)
    set_threads(method.settings.training.threads)
    used = np.flatnonzero((graph.splits != UNUSED).any(axis=0))
    if evaluation.supervised == "none":
        evaluate, study = _classifier_of_embeddings(
            graph, normalised_adjacency, method, projection_map, evaluation, used
        )
    else:
        evaluate, study = _supervised_network(graph, method, evaluation, used)
    count = evaluation.splits or graph.num_splits
    results: list[SplitResult] = []
    for split, codes in enumerate(track(graph.splits[:count], "Evaluating splits", console=rich.get_console())):
        result = evaluate(codes, name=f"{study}-{split}", storage=evaluation_journal)
        log_metrics({f"split_{name}": value for name, value in result.scores.items()}, step=split)
        results.append(result)
    scores = pd.DataFrame([{"split": i, **r.scores, **r.cost, **r.settings} for i, r in enumerate(results)])
    alphas = pd.DataFrame(
        [
            {"split": i, "filter": name, "alpha": value}
            for i, r in enumerate(results)
            for name, value in zip(r.alpha_names, r.alpha, strict=True)
        ],
        columns=["split", "filter", "alpha"],
    )
    classes = np.array(graph.classes)
    predicted = {f"split_{i}": classes[r.predictions] for i, r in enumerate(results)}
    predictions = pd.DataFrame({"id": graph.ids[used], "label": classes[graph.labels[used]], **predicted})
    means = {f"{name}_mean": scores[name].mean() for name in results[0].scores}
    log_metrics(means)
    return scores, alphas, predictions


Evaluate = Callable[..., SplitResult]


def _classifier_of_embeddings(
    graph: Graph,
    matrix: sp.csr_array,
    method: Representation,
    projection_map: dict[str, Any],
    evaluation: EvaluationSettings,
    used: np.ndarray,
) -> tuple[Evaluate, str]:
    """How a split is evaluated, and a name for studies of these embeddings and labels, so that no others go on."""
    names, blocks = zip(*((name, view[used]) for name, view in method.views(graph, matrix)), strict=True)
    views = Views(blocks, ProjectionSettings(**projection_map["settings"]), _scaler(projection_map), names)
    labels = np.asarray(graph.labels)[used]

    def evaluate(codes: np.ndarray, **study: Any) -> SplitResult:
        return evaluate_split(views, labels, codes[used], graph.metrics, evaluation, **study)

    digest = hashlib.sha256()
    for array in (*blocks, graph.labels):
        digest.update(np.ascontiguousarray(array))
    return evaluate, digest.hexdigest()


def _supervised_network(
    graph: Graph, method: Representation, evaluation: EvaluationSettings, used: np.ndarray
) -> tuple[Evaluate, str]:
    """The same for a network that is trained end to end on the whole graph."""
    inputs = GraphInputs(graph, pick_device(method.settings.training.device))
    labels = np.asarray(graph.labels)

    def evaluate(codes: np.ndarray, **study: Any) -> SplitResult:
        result = evaluate_split_supervised(
            evaluation.supervised, inputs, labels, codes, graph.metrics, evaluation, evaluation.end_to_end, **study
        )
        return dataclasses.replace(result, predictions=result.predictions[used])

    return evaluate, graph.checksum()


def _scaler(projection_map: dict[str, Any]) -> ViewScaler:
    settings = ProjectionSettings(**projection_map["settings"])
    scaler = ViewScaler(settings.scale, settings.norm)
    scaler.mean_, scaler.scale_ = np.array(projection_map["mean"]), np.array(projection_map["scale"])
    return scaler
