"""From a list of edges to a clean graph."""

import logging
from typing import Any

import numpy as np
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph.edge_list import EdgeList, csr_of_edges
from figure_kedro.graph.graph import Features, Graph
from figure_kedro.graph.targets import Targets

logger = logging.getLogger(__name__)


def graph_from_edges(
    source: np.ndarray,
    target: np.ndarray,
    *,
    name: str,
    num_nodes: int | None = None,
    ids: np.ndarray | None = None,
    weights: np.ndarray | None = None,
    directed: bool = False,
    features: Features | None = None,
    labels: np.ndarray | None = None,
    classes: tuple[str, ...] | None = None,
    splits: np.ndarray | None = None,
    metric: str = "accuracy",
    generated: dict[str, Any] | None = None,
) -> Graph:
    """Build a graph from edge endpoints given as row numbers.

    Self-loops and repeated edges are dropped and counted in the log; of repeated edges with different weights the
    largest stands. An undirected graph may list its edges once or in both directions.

    Args:
        source: Row number of the first endpoint of each edge ``(m,)``.
        target: Row number of the second endpoint ``(m,)``.
        name: Of the graph.
        num_nodes: Needed if ``ids`` is not given, which are then 0, 1, 2, ...
        ids: The user's node ids ``(n,)``.
        weights: Positive weights ``(m,)``.
        directed: Whether to keep the direction of the edges.
        features, generated: As in :class:`Graph`; dense features that are float32 already are not copied.
        labels, classes, splits, metric: As in :class:`Targets`. Classes are named by their number if ``classes`` is
            not given.
    """
    if ids is None and num_nodes is None:
        raise UserError(f"{name}: give the node ids or their number")
    ids = np.arange(num_nodes or 0) if ids is None else np.asarray(ids)
    adjacency = _adjacency(np.asarray(source), np.asarray(target), weights, ids, directed, name)
    if features is not None:
        sparse = sp.issparse(features)
        features = sp.csr_array(features, dtype=np.float32) if sparse else features.astype(np.float32, copy=False)
    if labels is not None:
        labels = np.asarray(labels, dtype=np.int64)
        if classes is None:
            classes = tuple(str(c) for c in range(int(labels.max(initial=-1)) + 1))
    targets = Targets(labels, classes or (), splits, metric)
    return Graph(name, ids, adjacency, directed, features, targets, generated or {})


def _adjacency(
    source: np.ndarray, target: np.ndarray, weights: np.ndarray | None, ids: np.ndarray, directed: bool, name: str
) -> sp.csr_array:
    n = len(ids)
    for what, array in (("second endpoints", target), ("weights", weights)):
        if array is not None and len(array) != len(source):
            raise UserError(f"{name}: {len(array)} {what} for {len(source)} edges; give one for each edge")
    for endpoints in (source, target):
        if len(endpoints) and endpoints.dtype.kind not in "iu":
            raise UserError(f"{name}: edges must end at node numbers, not at values of type {endpoints.dtype}")
        if len(endpoints) and (endpoints.min() < 0 or endpoints.max() >= n):
            edge = int(np.argmax((endpoints < 0) | (endpoints >= n)))
            raise UserError(
                f"{name}: edge {edge} ends at node number {endpoints[edge]}, but the graph has nodes 0 to {n - 1}"
            )
    if weights is not None:
        weights = np.asarray(weights, dtype=np.float32)
        bad = ~(np.isfinite(weights) & (weights > 0))
        if bad.any():
            edge = int(np.argmax(bad))
            raise UserError(f"{name}: edge {edge} has weight {weights[edge]}; weights must be positive and finite")

    # 32-bit positions halve the memory of a large graph
    index = np.int32 if max(n, 2 * len(source)) <= np.iinfo(np.int32).max else np.int64
    edges = EdgeList(source.astype(index, copy=False), target.astype(index, copy=False), weights)
    matrix, loops, duplicates = csr_of_edges(edges, n, symmetric=not directed)
    if loops or duplicates:
        logger.info("%s: dropped %d self-loops and %d duplicate edges", name, loops, duplicates)
    return matrix
