"""Heads that are quick to evaluate on one split of a small graph."""

import numpy as np
import pytest

from figure_kedro.embeddings import Embeddings
from figure_kedro.evaluation import HEADS
from figure_kedro.evaluation.selection import evaluate_split
from figure_kedro.graph import graph_from_edges
from figure_kedro.projections import MAPS, Projection

NETWORK = {"trials": 3, "device": "cpu", "max_epochs": 25, "space": {"learning_rate": [0.05, 0.02], "hidden": [16]}}
HEAD_SETTINGS = {"linear": {"trials": 12}, "mlp": NETWORK, "gcn": NETWORK}
every_kind_of_head = pytest.mark.parametrize("head", HEAD_SETTINGS)


def embeddings_of(blocks: dict[str, np.ndarray], labels: np.ndarray) -> Embeddings:
    """Views of a graph that has the last of them as features, and edges inside of classes."""
    rng = np.random.default_rng(0)
    source, target = rng.integers(len(labels), size=(2, 6 * len(labels)))
    inside = labels[source] == labels[target]
    features = list(blocks.values())[-1]
    graph = graph_from_edges(source[inside], target[inside], name="toy", num_nodes=len(labels), features=features)
    return Embeddings(
        tuple(blocks), graph.ids, features.shape[1], compute=lambda: iter(()), graph=lambda: graph, arrays=blocks
    )


def build(head, **settings):
    return HEADS.build(HEADS.parse({"head": head, **HEAD_SETTINGS[head], **settings}))


def projection_of(views, **settings):
    return Projection.fit(MAPS.parse(settings), list(views))


def prepare(problem, head, **projection):
    """What a head reads of all nodes."""
    embeddings, labels, _ = problem
    return head.inputs(embeddings, projection_of(embeddings.values(), **projection), np.arange(len(labels)))


def evaluate(problem, head="linear", labels=None, metrics=("accuracy",), projection=None, **settings):
    chosen = build(head, **settings)
    inputs = prepare(problem, chosen, **(projection or {}))
    return evaluate_split(chosen, inputs, problem[1] if labels is None else labels, problem[2], metrics)
