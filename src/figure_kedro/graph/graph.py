"""The graph that every other part of the project works on."""

import dataclasses
from dataclasses import InitVar, dataclass, field
from functools import cached_property
from typing import Any, TypeAlias

import numpy as np
import pandas as pd
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph.digest import Widened, digest_arrays
from figure_kedro.graph.from_others import FromOthers
from figure_kedro.graph.row_blocks import even_blocks
from figure_kedro.graph.splits import check_splits
from figure_kedro.graph.symmetry import first_asymmetry
from figure_kedro.graph.targets import Targets

LONGEST_ID = 1000
"""Characters of a node id."""

Features: TypeAlias = np.ndarray | sp.csr_array


@dataclass(frozen=True, eq=False)
class Graph(FromOthers):
    """Nodes with ids of any kind, edges, and whatever is known about the nodes.

    Rows of every array belong to the nodes in the order of ``ids``. A graph is valid once it exists: the constructor
    raises :class:`~figure_kedro.errors.UserError` and names the node otherwise. Build one from an edge list with
    :func:`~figure_kedro.graph.build.graph_from_edges`, or from an object of another library with ``Graph.from_pyg``,
    ``from_networkx``, ``from_scipy``, ``from_pandas`` or ``from_arrays``.

    Args:
        name: What the graph is called in paths, tables and messages.
        ids: The user's node ids, distinct, ``(n,)``: integers or strings.
        adjacency: Positive edge weights (1 where there are none), float32 CSR ``(n, n)``, no self-loops, symmetric
            unless ``directed``. Row ``u``, column ``v`` is the edge from ``u`` to ``v``.
        directed: Whether ``adjacency`` keeps the direction of its edges.
        features: Node features ``(n, d)``, float32, dense or CSR; ``None`` if there are none.
        targets: Labels and splits.
        generated: The seed and settings of a generated graph, or an empty dictionary; kept with the results.
        feature_names: Names of the given features, which are the first columns; structural ones come after them and
            have none. ``None`` if nobody has named them.
        trusted: Whether the checks are left out, for a graph that has passed them before.
    """

    name: str
    ids: np.ndarray
    adjacency: sp.csr_array
    directed: bool = False
    features: Features | None = None
    targets: Targets = field(default_factory=Targets)
    generated: dict[str, Any] = field(default_factory=dict)
    feature_names: tuple[str, ...] | None = None
    trusted: InitVar[bool] = False

    def __post_init__(self, trusted: bool) -> None:
        if not trusted:
            check_graph(self)

    @property
    def num_nodes(self) -> int:
        return len(self.ids)

    @property
    def num_edges(self) -> int:
        """Distinct edges: undirected pairs, or directed edges if the graph is directed."""
        return int(self.adjacency.nnz if self.directed else self.adjacency.nnz // 2)

    @property
    def num_features(self) -> int:
        return 0 if self.features is None else self.features.shape[1]

    @property
    def weighted(self) -> bool:
        weights = self.adjacency.data
        return any(bool((weights[part] != 1).any()) for part in even_blocks(len(weights)))

    @cached_property
    def structure_checksum(self) -> str:
        """SHA-256 of ids and edges."""
        return digest_arrays([self.ids, *_csr_parts(self.adjacency)], self.directed)

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of ids, edges and features: all that embeddings depend on. Targets have a checksum of their own."""
        features = self.features
        return digest_arrays(_csr_parts(features) if sp.issparse(features) else [features], self.structure_checksum)

    def with_features(self, features: Features) -> "Graph":
        """The same graph with other features; only these are checked."""
        changed = dataclasses.replace(self, features=features, trusted=True)
        _check_features(changed)
        return changed

    def without_targets(self) -> "Graph":
        """The same graph without labels and splits."""
        return dataclasses.replace(self, targets=Targets(), trusted=True)


def check_graph(graph: Graph) -> None:
    """Check everything that a valid graph must hold.

    Raises:
        UserError: With the first node, edge or array that is wrong.
    """
    n = graph.num_nodes
    if n == 0:
        raise UserError(f"{graph.name}: the graph has no nodes")
    if graph.adjacency.shape != (n, n):
        raise UserError(f"{graph.name}: {n} node ids but an adjacency of shape {graph.adjacency.shape}")
    _check_ids(graph)
    _check_weights(graph)
    _check_edges(graph)
    _check_features(graph)
    _check_labels(graph)
    if graph.targets.splits is not None:
        check_splits(graph.targets.splits, graph.targets.labels, graph.ids, graph.name)


def _csr_parts(matrix: sp.csr_array) -> list[np.ndarray | Widened]:
    return [Widened(matrix.indptr), Widened(matrix.indices), matrix.data]


def _check_ids(graph: Graph) -> None:
    longest = max(map(len, graph.ids.tolist())) if graph.ids.dtype == object else graph.ids.dtype.itemsize // 4
    if graph.ids.dtype.kind in "OU" and longest > LONGEST_ID:  # an array of strings is as wide as the longest
        raise UserError(f"{graph.name}: a node id has {longest} characters; ids have at most {LONGEST_ID}")
    if _ascend(graph.ids):
        return
    repeated = pd.Index(graph.ids).duplicated()
    if repeated.any():
        raise UserError(f"{graph.name}: node id {_id(graph, int(np.argmax(repeated)))} occurs twice; ids must differ")


def _ascend(ids: np.ndarray) -> bool:
    """Whether ids ascend, so that no two are the same; found in blocks, where an index of all takes much memory."""
    parts = even_blocks(len(ids) - 1)
    return all(bool((ids[part.start + 1 : part.stop + 1] > ids[part]).all()) for part in parts)


def _check_edges(graph: Graph) -> None:
    loops = graph.adjacency.diagonal() != 0
    if loops.any():
        raise UserError(f"{graph.name}: node {_id(graph, int(np.argmax(loops)))} has a self-loop; leave it out")
    if not graph.directed and (pair := first_asymmetry(graph.adjacency)) is not None:
        u, v = (_id(graph, end) for end in pair)
        raise UserError(
            f"{graph.name}: the edges between {u} and {v} differ by direction; make them equal or set directed"
        )


def _id(graph: Graph, row: int) -> str:
    return repr(graph.ids[row : row + 1].tolist()[0])  # a plain Python value, without numpy's type


def _check_weights(graph: Graph) -> None:
    weights = graph.adjacency.data
    for part in even_blocks(len(weights)):
        bad = ~(np.isfinite(weights[part]) & (weights[part] > 0))
        if bad.any():
            edge = part.start + int(np.argmax(bad))
            u = int(np.searchsorted(graph.adjacency.indptr, edge, side="right")) - 1
            v = graph.adjacency.indices[edge]
            raise UserError(
                f"{graph.name}: the edge from {_id(graph, u)} to {_id(graph, v)} has weight {weights[edge]}; "
                "weights must be positive and finite"
            )


def _check_features(graph: Graph) -> None:
    features: Any = graph.features
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
    labels, count = graph.targets.labels, graph.targets.num_classes
    if labels is None:
        return
    if labels.shape != (graph.num_nodes,):
        raise UserError(f"{graph.name}: {len(labels)} labels for {graph.num_nodes} nodes")
    bad = (labels < -1) | (labels >= count)
    if bad.any():
        node = int(np.argmax(bad))
        raise UserError(
            f"{graph.name}: node {_id(graph, node)} has label {labels[node]}, outside 0 to {count - 1} "
            "(or -1 for unknown)"
        )
