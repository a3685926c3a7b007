"""From a list of edges in any order to a sorted sparse matrix, in memory for one block of rows at a time."""

from dataclasses import dataclass

import numpy as np
import scipy.sparse as sp

from figure_kedro.graph.row_blocks import ENTRIES, even_blocks, row_blocks
from figure_kedro.memory import memory

ENTRY_BYTES = 64
"""What building takes at most for each entry of a block of rows: endpoints, weights, both directions, the result."""

MOST_ENTRIES = 1 << 24
"""Entries of a block, however much memory there is: more of them would make nothing quicker."""


@dataclass(frozen=True)
class EdgeList:
    """Edges as row numbers of their ends ``(m,)``, of one integer type, with their weights ``(m,)``, float32."""

    source: np.ndarray
    target: np.ndarray
    weights: np.ndarray | None = None

    def turned(self) -> "EdgeList":
        """The same edges in the other direction."""
        return EdgeList(self.target, self.source, self.weights)

    def degrees(self, n: int) -> np.ndarray:
        """How many edges start at each node ``(n,)``, int64."""
        counts = np.zeros(n, dtype=np.int64)
        for part in even_blocks(len(self.source), entries=max(n, ENTRIES)):
            counts += np.bincount(self.source[part], minlength=n)
        return counts

    def loops(self) -> int:
        """How many edges end where they start."""
        parts = even_blocks(len(self.source))
        return sum(int(np.count_nonzero(self.source[part] == self.target[part])) for part in parts)

    def rows(self, rows: slice, n: int) -> sp.csr_array:
        """The adjacency ``(r, n)`` of the nodes in ``rows``: no self-loops, and of repeated edges the largest."""
        if rows == slice(0, n) and not self.loops():
            return _largest_of_repeated(self, (n, n))
        found = []
        for part in even_blocks(len(self.source)):
            source, target = self.source[part], self.target[part]
            chosen = (source != target) & (source >= rows.start) & (source < rows.stop)
            weights = None if self.weights is None else self.weights[part][chosen]
            found.append(EdgeList(source[chosen] - source.dtype.type(rows.start), target[chosen], weights))
        return _largest_of_repeated(_joined(found, self), (rows.stop - rows.start, n))


def csr_of_edges(edges: EdgeList, n: int, *, symmetric: bool) -> tuple[sp.csr_array, int, int]:
    """The adjacency of a list of edges: float32 CSR ``(n, n)`` with sorted indices.

    The rows are built block by block, each from one pass over the edges. How many there are follows from what memory
    the run may take; the result is the same for any number of them.

    Args:
        edges: With row numbers below ``n``.
        n: Number of nodes.
        symmetric: Whether an edge counts in both directions.

    Returns:
        The matrix, and how many self-loops and repeated edges were dropped.
    """
    most = edges.degrees(n)  # before any edge is dropped
    if symmetric:
        most += edges.turned().degrees(n)
    bounds = np.concatenate([np.zeros(1, np.int64), np.cumsum(most)])
    index = edges.source.dtype
    indptr = np.zeros(n + 1, dtype=index)
    indices, data = memory().empty(int(bounds[-1]), index), memory().empty(int(bounds[-1]), np.float32)
    distinct = filled = 0
    for rows in row_blocks(bounds, min(memory().entries(ENTRY_BYTES), MOST_ENTRIES)):
        block = edges.rows(rows, n)
        distinct += block.nnz
        if symmetric:
            back = block.T if rows == slice(0, n) else edges.turned().rows(rows, n)
            block = sp.csr_array(block.maximum(back))
        block.sort_indices()
        new = slice(filled, filled + block.nnz)
        indices[new], data[new] = block.indices, block.data
        indptr[rows.start + 1 : rows.stop + 1] = block.indptr[1:] + index.type(filled)
        filled = new.stop
    loops = edges.loops()
    matrix = sp.csr_array((data[:filled], indices[:filled], indptr), shape=(n, n), copy=False)
    return matrix, loops, len(edges.source) - loops - distinct


def _joined(parts: list[EdgeList], like: EdgeList) -> EdgeList:
    if not parts:
        return like
    source, target = (np.concatenate([getattr(part, end) for part in parts]) for end in ("source", "target"))
    weights = [part.weights for part in parts if part.weights is not None]
    return EdgeList(source, target, np.concatenate(weights) if weights else None)


def _largest_of_repeated(edges: EdgeList, shape: tuple[int, int]) -> sp.csr_array:
    source, target, weights = edges.source, edges.target, edges.weights
    if weights is not None and len(weights):
        order = np.lexsort((-weights, target, source))
        source, target, weights = source[order], target[order], weights[order]
        first = np.ones(len(source), dtype=bool)
        first[1:] = (source[1:] != source[:-1]) | (target[1:] != target[:-1])
        source, target, weights = source[first], target[first], weights[first]
    data = np.ones(len(source), dtype=np.float32) if weights is None else weights
    matrix = sp.coo_array((data, (source, target)), shape=shape).tocsr()  # sums what is repeated
    if weights is None:
        matrix.data[:] = 1
    return matrix
