r"""The part of a graph that the embeddings of new nodes depend on: what is at most ``K`` steps away."""

from dataclasses import dataclass
from typing import Self

import numpy as np
import scipy.sparse as sp

from figure_kedro.filters import BankSettings, Operator, oriented
from figure_kedro.graph import Graph, graph_from_edges
from figure_kedro.graph.graph import Features
from figure_kedro.inference.new_nodes import Attachment


@dataclass(frozen=True, eq=False)
class Neighbourhood:
    r"""New nodes and the known nodes around them, with the rows of the joined graph's operator that count.

    The operator is that of the joined graph, in which the degrees of known nodes grow by their new edges:

    .. math:: A'_{uv} = A_{uv} \sqrt{\frac{d_u}{d'_u}} \sqrt{\frac{d_v}{d'_v}}

    for two known nodes, with the degrees :math:`d` before and :math:`d'` after; on a directed graph those of rows and
    columns are different ones. So the stored operator is read where it is needed, degrees are counted of the known
    nodes that have new edges, and nothing is computed for the rest of the graph.

    Args:
        graph: The new nodes, then the known ones, the nearer first, with their features; it has no edges of its own.
        operator: Of these nodes. Rows of nodes that are ``hops`` steps away are not there, which the embeddings of new
            nodes do not depend on.
        levels: How many nodes are at most 0, 1, ..., ``hops`` steps away; the first number counts the new ones.
    """

    graph: Graph
    operator: Operator
    levels: tuple[int, ...]

    @classmethod
    def of(cls, graph: Graph, operator: Operator, attached: Attachment, hops: int) -> Self:
        """Cut out what is at most ``hops`` steps away from the new nodes.

        Args:
            graph: The known one.
            operator: Its operator.
            attached: The new nodes, their edges and features.
            hops: How often the operator is applied one after another.
        """
        m, filters = len(attached.ids), operator.filters
        joined = graph_from_edges(
            attached.source,
            attached.target,
            name=graph.name,
            num_nodes=m + len(attached.known),
            weights=attached.weights,
            directed=graph.directed,
        )
        edges = oriented(joined, filters)  # (m + t, m + t), among new and touched nodes
        both = filters.direction == "both"
        known = _levels(operator.matrix, edges, attached, hops, both=both)
        reached = np.concatenate([np.arange(0), *known])
        # in both directions columns count as well, so that rows are needed of all nodes
        complete = len(reached) if both else sum(map(len, known[:-1]))
        scale = _Scale.of(graph, filters, edges, attached)
        matrix = _local_operator(operator, edges, attached, scale, reached, complete, len(known[0]) if known else 0)
        local = Graph(
            name=graph.name,
            ids=np.arange(m + len(reached)),
            adjacency=sp.csr_array(matrix.shape, dtype=np.float32),
            directed=graph.directed,
            features=_stack(attached.features, graph.features, reached),
            trusted=True,
        )
        levels = tuple(np.cumsum([m, *map(len, known)]).tolist())
        return cls(local, Operator(matrix, filters, operator.symmetric), levels)


@dataclass(frozen=True)
class _Scale:
    """Inverse roots of degrees in the joined graph, of rows and of columns, for new and touched nodes ``(m + t,)``;
    and how much they differ from before, for the touched ones ``(t,)``."""

    rows: np.ndarray
    columns: np.ndarray
    row_ratio: np.ndarray
    column_ratio: np.ndarray

    @classmethod
    def of(cls, graph: Graph, filters: BankSettings, edges: sp.csr_array, attached: Attachment) -> Self:
        loop = filters.loop_weight if filters.self_loops else 0.0
        before = [degrees + loop for degrees in _known_degrees(graph, filters, attached.known)]
        parts = []
        for axis, known in zip((1, 0), before, strict=True):
            after = edges.sum(axis=axis, dtype=np.float64)
            after[: len(attached.ids)] += loop
            after[len(attached.ids) :] += known
            inverse = np.divide(1.0, np.sqrt(after), out=np.zeros(len(after)), where=after > 0)
            parts.append((inverse, np.sqrt(known) * inverse[len(attached.ids) :]))
        (rows, row_ratio), (columns, column_ratio) = parts
        return cls(rows, columns, row_ratio, column_ratio)


def _known_degrees(graph: Graph, filters: BankSettings, nodes: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
    """Row and column sums of the adjacency, in the direction that the filters name, of some known nodes ``(t,)``."""
    rows = graph.adjacency[nodes]
    out = rows.sum(axis=1, dtype=np.float64)
    if not graph.directed:
        return out, out
    columns = _columns(graph.adjacency, nodes)
    if filters.direction == "ignore":
        either = rows.maximum(columns).sum(axis=1, dtype=np.float64)
        return either, either
    into = columns.sum(axis=1, dtype=np.float64)
    return (into, out) if filters.direction == "in" else (out, into)


def _levels(
    matrix: sp.csr_array, edges: sp.csr_array, attached: Attachment, hops: int, *, both: bool
) -> list[np.ndarray]:
    """The known nodes that are 1, 2, ..., ``hops`` steps away, as rows of the graph.

    Nodes with new edges that are farther away than one step, as can be on a directed graph, stand with the first ones,
    where rows that change are put together.
    """
    if not hops:
        return []
    m, seen = len(attached.ids), np.zeros(matrix.shape[0], dtype=bool)
    looked_at = edges[:m] + edges[:, :m].T if both else edges[:m]
    near = np.unique(sp.csr_array(looked_at).indices)
    levels = [attached.known[near[near >= m] - m]]
    seen[levels[0]] = True
    for _ in range(hops - 1):
        around = np.zeros_like(seen)
        around[matrix[levels[-1]].indices] = True
        if both:
            around[_columns(matrix, levels[-1]).indices] = True
        levels.append(np.flatnonzero(around & ~seen))
        seen |= around
    changed = np.setdiff1d(attached.known[seen[attached.known]], levels[0])
    if not len(changed):
        return levels
    return [np.concatenate([levels[0], changed]), *(np.setdiff1d(level, changed) for level in levels[1:])]


def _local_operator(
    operator: Operator,
    edges: sp.csr_array,
    attached: Attachment,
    scale: _Scale,
    reached: np.ndarray,
    complete: int,
    near: int,
) -> sp.csr_array:
    """The joined graph's operator on new nodes and ``reached`` ones, with rows of the first ``complete`` of these.

    Rows of new nodes and of the ``near`` ones are put together from known and new edges; the others, most of them, are
    copied as they are, but for the ratio of the degrees of their columns.
    """
    m, size, filters = len(attached.ids), len(attached.ids) + len(reached), operator.filters
    place = np.full(operator.matrix.shape[0], -1, dtype=np.int32)
    place[reached] = np.arange(m, size, dtype=np.int32)
    touched = place[attached.known]
    met = touched >= 0
    row_ratio, column_ratio = np.ones(size, dtype=np.float32), np.ones(size, dtype=np.float32)
    row_ratio[touched[met]], column_ratio[touched[met]] = scale.row_ratio[met], scale.column_ratio[met]

    def rows(nodes: np.ndarray, above: sp.csr_array) -> sp.csr_array:
        """Known rows below others, with numbers of the neighbourhood; what leads out of it is left out."""
        found, room = operator.matrix[nodes], above.nnz
        columns, values = np.empty(room + found.nnz, dtype=np.int32), np.empty(room + found.nnz, dtype=np.float32)
        columns[:room], values[:room] = above.indices, above.data
        np.take(place, found.indices, out=columns[room:], mode="clip")  # into its place: other modes copy once more
        values[room:] = found.data
        indptr = np.concatenate([above.indptr, room + found.indptr[1:]])
        if found.nnz and columns.min() < 0:
            inside = columns >= 0
            indptr = np.concatenate([[0], np.cumsum(inside)])[indptr]
            columns, values = columns[inside], values[inside]
            room = indptr[above.shape[0]]
        changed = room + np.flatnonzero(columns[room:] < m + near)  # few: nodes with new edges are among the near ones
        values[changed] *= column_ratio[columns[changed]]
        return sp.csr_array((values, columns, indptr), shape=(len(indptr) - 1, size))

    numbers = np.concatenate([np.arange(m), touched])  # of new and touched nodes, -1 if out of reach
    fresh, loops = sp.coo_array(edges), np.arange(m if filters.self_loops else 0)
    values = np.concatenate(
        [
            fresh.data * scale.rows[fresh.row] * scale.columns[fresh.col],
            filters.loop_weight * scale.rows[loops] * scale.columns[loops],
        ]
    ).astype(np.float32)
    at = [np.concatenate([numbers[ends], loops]) for ends in (fresh.row, fresh.col)]
    inside = (at[0] >= 0) & (at[1] >= 0)
    first = m + near
    added = sp.csr_array((values[inside], (at[0][inside], at[1][inside])), shape=(first, size))
    nothing = sp.csr_array((0, size), dtype=np.float32)
    changed = rows(reached[: min(near, complete)], nothing)
    changed.data *= np.repeat(row_ratio[m : m + changed.shape[0]], np.diff(changed.indptr))
    none = [sp.csr_array((count, size), dtype=np.float32) for count in (m, near - changed.shape[0])]
    top = sp.csr_array(sp.vstack([none[0], changed, none[1]], format="csr") + added)
    matrix = rows(reached[near : max(near, complete)], top)
    matrix.resize(size, size)
    return matrix


def _columns(matrix: sp.csr_array, nodes: np.ndarray) -> sp.csr_array:
    """Some columns of a matrix, transposed ``(t, n)``: one pass over the numbers of its entries, and no transpose."""
    place = np.full(matrix.shape[1], -1)
    place[nodes] = np.arange(len(nodes))
    column = place[matrix.indices]
    entries = np.flatnonzero(column >= 0)
    rows = np.searchsorted(matrix.indptr, entries, side="right") - 1
    shape = (len(nodes), matrix.shape[0])
    return sp.csr_array((matrix.data[entries], (column[entries], rows)), shape=shape)


def _stack(new: np.ndarray | None, known: Features | None, rows: np.ndarray) -> Features | None:
    if new is None or known is None:
        return None
    if sp.issparse(known):
        return sp.csr_array(sp.vstack([sp.csr_array(new), known[rows]], format="csr"))
    stacked = np.empty((len(new) + len(rows), known.shape[1]), dtype=np.float32)
    stacked[: len(new)] = new
    np.take(known, rows, axis=0, out=stacked[len(new) :], mode="clip")  # at once: other modes copy a second time
    return stacked
