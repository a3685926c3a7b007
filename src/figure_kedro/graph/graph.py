"""The graph that every other part of the project works on."""

import hashlib
from dataclasses import dataclass, field

import numpy as np
import pandas as pd
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph.splits import check_splits

Features = np.ndarray | sp.csr_array


@dataclass(frozen=True, eq=False)
class Graph:
    """Nodes with ids of any kind, edges, and whatever is known about the nodes.

    Rows of every array belong to the nodes in the order of ``ids``. A graph is valid once it exists: the constructor
    raises :class:`~figure_kedro.errors.UserError` and names the node otherwise. Build one from an edge list with
    :func:`~figure_kedro.graph.build.graph_from_edges`.

    Args:
        name: What the graph is called in paths, tables and messages.
        ids: The user's node ids, distinct, ``(n,)``: integers or strings.
        adjacency: Positive edge weights (1 where there are none), float32 CSR ``(n, n)``, no self-loops, symmetric
            unless ``directed``. Row ``u``, column ``v`` is the edge from ``u`` to ``v``.
        directed: Whether ``adjacency`` keeps the direction of its edges.
        features: Node features ``(n, d)``, float32, dense or CSR; ``None`` if there are none.
        labels: Class of each node ``(n,)`` as an index into ``classes``, -1 where it is unknown; ``None`` if no node
            has a label.
        classes: The names of the classes.
        splits: One row a split ``(s, n)``, int8, with the codes of :mod:`figure_kedro.graph.splits`; ``None`` if
            there are none.
        generated: The seed and settings of a generated graph, or an empty dictionary; kept with the results.
    """

    name: str
    ids: np.ndarray
    adjacency: sp.csr_array
    directed: bool = False
    features: Features | None = None
    labels: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    splits: np.ndarray | None = None
    generated: dict = field(default_factory=dict)

    def __post_init__(self) -> None:
        n = self.num_nodes
        if n == 0:
            raise UserError(f"{self.name}: the graph has no nodes")
        if self.adjacency.shape != (n, n):
            raise UserError(f"{self.name}: {n} node ids but an adjacency of shape {self.adjacency.shape}")
        _check_ids(self)
        _check_weights(self)
        _check_edges(self)
        _check_features(self)
        _check_labels(self)
        if self.splits is not None:
            check_splits(self.splits, self.labels, self.ids, self.name)

    @property
    def num_nodes(self) -> int:
        return len(self.ids)

    @property
    def num_edges(self) -> int:
        """Distinct edges: undirected pairs, or directed edges if the graph is directed."""
        return self.adjacency.nnz if self.directed else self.adjacency.nnz // 2

    @property
    def num_features(self) -> int:
        return 0 if self.features is None else self.features.shape[1]

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @property
    def num_splits(self) -> int:
        return 0 if self.splits is None else len(self.splits)

    @property
    def weighted(self) -> bool:
        return bool((self.adjacency.data != 1).any())

    @property
    def metrics(self) -> tuple[str, ...]:
        """What predictions on this graph are scored by, the first one deciding."""
        return ("accuracy", "roc_auc") if self.num_classes == 2 else ("accuracy",)

    def checksum(self) -> str:
        """SHA-256 of everything that can change a result; equal graphs have equal checksums."""
        digest = hashlib.sha256()
        for part in _parts(self):
            array = np.ascontiguousarray(part)
            digest.update(f"{array.dtype.str}{array.shape}".encode())
            digest.update(memoryview(array).cast("B") if array.size else b"")
        digest.update(repr((self.directed, self.classes)).encode())
        return digest.hexdigest()


def _parts(graph: Graph):
    yield graph.ids.astype(np.str_) if graph.ids.dtype == object else graph.ids
    yield from (graph.adjacency.indptr.astype(np.int64), graph.adjacency.indices.astype(np.int64), graph.adjacency.data)
    if sp.issparse(graph.features):
        yield from (graph.features.indptr.astype(np.int64), graph.features.indices.astype(np.int64))
        yield graph.features.data
    elif graph.features is not None:
        yield graph.features
    yield from (part for part in (graph.labels, graph.splits) if part is not None)


def _check_ids(graph: Graph) -> None:
    repeated = pd.Index(graph.ids).duplicated()
    if repeated.any():
        raise UserError(f"{graph.name}: node id {_id(graph, np.argmax(repeated))} occurs twice; ids must differ")


def _check_edges(graph: Graph) -> None:
    loops = graph.adjacency.diagonal() != 0
    if loops.any():
        raise UserError(f"{graph.name}: node {_id(graph, np.argmax(loops))} has a self-loop; leave it out")
    if graph.directed:
        return
    difference = sp.coo_array(graph.adjacency != graph.adjacency.T)
    if difference.nnz:
        u, v = (_id(graph, ends[0]) for ends in (difference.row, difference.col))
        raise UserError(
            f"{graph.name}: the edges between {u} and {v} differ by direction; make them equal or set directed"
        )


def _id(graph: Graph, row: int) -> str:
    return repr(graph.ids[row : row + 1].tolist()[0])  # a plain Python value, without numpy's type


def _check_weights(graph: Graph) -> None:
    weights = graph.adjacency.data
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        edge = int(np.argmax(bad))
        u = np.searchsorted(graph.adjacency.indptr, edge, side="right") - 1
        v = graph.adjacency.indices[edge]
        raise UserError(
            f"{graph.name}: the edge from {_id(graph, u)} to {_id(graph, v)} has weight {weights[edge]}; "
            "weights must be positive and finite"
        )


def _check_features(graph: Graph) -> None:
    features = graph.features
    if features is None:
        return
    if features.shape[0] != graph.num_nodes:
        raise UserError(f"{graph.name}: {features.shape[0]} rows of features for {graph.num_nodes} nodes")
    if features.shape[1] == 0:
        raise UserError(f"{graph.name}: the feature table has no columns; leave features out instead")
    values = features.data if sp.issparse(features) else features
    if np.isfinite(values.sum(dtype=np.float64)):  # one pass and no mask: NaN and infinity survive a sum
        return
    coordinates = features.tocoo() if sp.issparse(features) else None
    if coordinates is not None:
        entry = int(np.argmax(~np.isfinite(coordinates.data)))
        row, column = coordinates.row[entry], coordinates.col[entry]
    else:
        row, column = np.argwhere(~np.isfinite(features))[0]
    raise UserError(f"{graph.name}: feature {column} of node {_id(graph, row)} is not a finite number")


def _check_labels(graph: Graph) -> None:
    labels = graph.labels
    if labels is None:
        return
    if labels.shape != (graph.num_nodes,):
        raise UserError(f"{graph.name}: {len(labels)} labels for {graph.num_nodes} nodes")
    bad = (labels < -1) | (labels >= graph.num_classes)
    if bad.any():
        node = int(np.argmax(bad))
        raise UserError(
            f"{graph.name}: node {_id(graph, node)} has label {labels[node]}, outside 0 to {graph.num_classes - 1} "
            "(or -1 for unknown)"
        )
