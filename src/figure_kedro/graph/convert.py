"""From arrays, matrices and other libraries' objects to a graph."""

import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.graph.features import as_features, sparse_from_tensor
from figure_kedro.graph.from_networkx import from_networkx
from figure_kedro.graph.from_pyg import from_pyg
from figure_kedro.graph.from_tables import from_pandas
from figure_kedro.graph.graph import Graph
from figure_kedro.graph.ids import as_column, as_ids, rows_of, sorted_ids
from figure_kedro.graph.labels import encode_labels

logger = logging.getLogger(__name__)

READ = (
    "a Graph, a Data of PyTorch Geometric, a networkx graph, a scipy matrix, a table of edges, or endpoints "
    "(Graph.from_arrays)"
)


def as_graph(given: Any, *, name: str = "graph", targets: bool = True, **options: Any) -> Graph:
    """The graph that an object of any library describes.

    Args:
        given: A :class:`Graph`, which comes back as it is; a PyG ``Data``; a networkx graph; a sparse matrix of scipy
            or torch, or a square array, as adjacency; a table of pandas with an edge in each row; ``edge_index``
            ``(2, m)`` or pairs ``(m, 2)``; a list of pairs. A tuple of two is the source and the target of all edges if
            both are flat, else a graph in one of these forms with its features, or with its table of nodes.
        name: Of the graph.
        targets: Whether labels and splits are wanted; those of a PyG ``Data`` are looked at only then.
        options: Of the conversion, see :meth:`Graph.from_pyg` and the others.
    """
    if isinstance(given, Graph):
        return given
    options["name"] = name
    if is_of("torch_geometric", given):
        return from_pyg(given, targets=targets, **options)
    if is_of("networkx", given):
        return from_networkx(given, **options)
    if isinstance(given, pd.DataFrame):
        return from_pandas(given, **options)
    if sp.issparse(given):
        return from_scipy(given, **options)
    if isinstance(given, tuple) and len(given) == 2:
        first, second = given
        if isinstance(first, pd.DataFrame) and isinstance(second, pd.DataFrame):
            return from_pandas(first, second, **options)
        if _dimensions(first) == 1 and _dimensions(second) == 1:
            return from_arrays(first, second, **options)
        return as_graph(first, targets=targets, features=second, **options)
    if hasattr(given, "layout") and str(given.layout) != "torch.strided":
        return from_scipy(sparse_from_tensor(given), **options)
    if hasattr(given, "detach") or isinstance(given, np.ndarray | list):
        return _from_array(given, options)
    raise UserError(f"no graph can be made of {type(given).__module__}.{type(given).__qualname__}; give {READ}")


def from_arrays(
    source: Any,
    target: Any,
    *,
    ids: Any = None,
    num_nodes: int | None = None,
    weights: Any = None,
    directed: bool = False,
    features: Any = None,
    labels: Any = None,
    classes: tuple[str, ...] | None = None,
    splits: np.ndarray | None = None,
    name: str = "graph",
) -> Graph:
    """A graph from both ends of every edge, named by ids of any type.

    Without ``ids`` there are two cases. If something counts the nodes (``num_nodes``, or rows of features or labels),
    endpoints are row numbers, unless the features are a table whose index holds ids. If nothing does, the nodes are the
    endpoints, sorted.

    Args:
        source: Where each edge starts ``(m,)``: an array, a tensor, a column or a list.
        target: Where it ends ``(m,)``.
        ids: The ids of all nodes ``(n,)``, in the order of features and labels.
        num_nodes: How many nodes there are.
        weights: Positive weights ``(m,)``.
        directed: Whether to keep the direction of the edges.
        features: ``(n, d)``: an array, a tensor, a sparse matrix, a table or a list of rows.
        labels: One for each node, of any type; missing or a negative number where it is unknown.
        classes: The names of the classes, if ``labels`` are their numbers.
        splits: Split codes ``(s, n)``, see :func:`~figure_kedro.graph.splits.splits_from_masks`.
        name: Of the graph.
    """
    if isinstance(features, pd.DataFrame) and not isinstance(features.index, pd.RangeIndex):
        index = as_ids(features.index, f"{name}, the index of the features")
        if ids is None:
            ids = index
        else:
            ids = as_ids(ids, f"{name}, ids")
            (order,) = rows_of([ids], index)
            if (order < 0).any():
                raise UserError(f"{name}: the table of features has no row for node {str(ids[np.argmin(order)])!r}")
            features = features.iloc[order]
    given = None if features is None else as_features(features, name)
    if labels is not None and classes is None:
        labels, classes = encode_labels(labels)
    ends = [as_column(values, f"{name}, {what}") for values, what in ((source, "source"), (target, "target"))]
    counts = [num_nodes, None if given is None else given.shape[0], None if labels is None else len(labels)]
    count = next((number for number in counts if number is not None), None)
    if ids is None and count is not None:
        if not all(pd.api.types.is_integer_dtype(values) or values.empty for values in ends):
            raise UserError(f"{name}: edges end at ids that are no row numbers; give the ids of all nodes, too")
        rows = [values.to_numpy(np.int64) for values in ends]
    else:
        endpoints = [as_ids(values, f"{name}, endpoints") for values in ends]
        ids = sorted_ids(endpoints) if ids is None else as_ids(ids, f"{name}, ids")
        rows = rows_of(endpoints, ids)
        for array, row in zip(endpoints, rows, strict=True):
            if (row < 0).any():
                edge = int(np.argmax(row < 0))
                raise UserError(f"{name}: edge {edge} ends at {str(array[edge])!r}, which is not among the ids")
    return graph_from_edges(
        *rows,
        name=name,
        num_nodes=count,
        ids=ids,
        weights=None if weights is None else _weights(weights, name),
        directed=directed,
        features=given,
        labels=labels,
        classes=classes,
        splits=splits,
    )


def from_scipy(
    matrix: Any, *, directed: bool | None = None, ids: Any = None, name: str = "graph", **known: Any
) -> Graph:
    """A graph from an adjacency ``(n, n)`` whose entries are positive weights.

    Args:
        matrix: Sparse, of any format; row ``u``, column ``v`` is the edge from ``u`` to ``v``.
        directed: Whether to keep the direction of the edges; by default it is kept if the matrix is not symmetric.
        ids: The ids of all nodes ``(n,)``; row numbers by default.
        name: Of the graph.
        known: ``features``, ``labels``, ``classes`` and ``splits`` as in :func:`from_arrays`.
    """
    entries = sp.coo_array(matrix)
    if entries.ndim != 2 or entries.shape[0] != entries.shape[1]:
        raise UserError(f"{name}: an adjacency is a square matrix, not one of shape {entries.shape}")
    entries.sum_duplicates()
    entries.eliminate_zeros()
    if directed is None:
        directed = bool((entries.tocsr() != entries.T.tocsr()).nnz)
        if directed:
            logger.warning(
                "%s: the matrix is not symmetric, so directions are kept; directed=False joins both",
                name,
            )
    rows = np.arange(entries.shape[0]) if ids is None else as_ids(ids, f"{name}, ids")
    if len(rows) != entries.shape[0]:
        raise UserError(f"{name}: {len(rows)} ids for a matrix of shape {entries.shape}")
    weights = None if (entries.data == 1).all() else entries.data
    return from_arrays(
        rows[entries.row], rows[entries.col], ids=rows, weights=weights, directed=directed, name=name, **known
    )


def is_of(library: str, given: Any) -> bool:
    """Whether an object is of a class, or of a kind of class, that a library defines; the library is not imported."""
    return any(kind.__module__.split(".")[0] == library for kind in type(given).__mro__)


def _from_array(given: Any, options: dict[str, Any]) -> Graph:
    """An array of two rows or of two columns is endpoints, another square one an adjacency."""
    if isinstance(given, list):
        if not all(isinstance(pair, Sequence) and not isinstance(pair, str) and len(pair) == 2 for pair in given):
            raise UserError(f"a list stands for a graph if it holds pairs of ids; else give {READ}")
        return from_arrays([u for u, _ in given], [v for _, v in given], **options)
    array = given.detach().cpu().numpy() if hasattr(given, "detach") else given
    if array.ndim == 2 and array.shape != (2, 2):
        if 2 in array.shape and not (array.dtype.kind == "f" and (array != np.floor(array)).any()):
            source, target = array if array.shape[0] == 2 else array.T
            return from_arrays(source, target, **options)
        if array.shape[0] == array.shape[1]:
            return from_scipy(sp.coo_array(array), **options)
    raise UserError(
        f"an array of shape {array.shape} may be several things; use Graph.from_arrays(source, target) or "
        "Graph.from_scipy(matrix)"
    )


def _dimensions(values: Any) -> int | None:
    if isinstance(values, list):
        return 1 if not any(isinstance(value, list | tuple | np.ndarray) for value in values[:1]) else 2
    return getattr(values, "ndim", None)


def _weights(weights: Any, name: str) -> np.ndarray:
    column = pd.to_numeric(as_column(weights, f"{name}, weights"), errors="coerce")
    return column.to_numpy(np.float32, na_value=np.nan)
