"""What networks read of a graph, prepared once for all splits and trials."""

from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.errors import UserError
from figure_kedro.filters import SparseOperator, normalised_adjacency
from figure_kedro.graph import Graph
from figure_kedro.methods.features import FeatureMatrix

MAX_TWO_HOP_ENTRIES = 100_000_000
"""Entries that a two-hop neighbourhood may have: some 3.6 GB while it is computed, 0.8 GB afterwards."""


class GraphInputs:
    """Features and adjacencies on a device. Adjacencies are computed when a model first asks for them.

    Args:
        graph: With features.
        device: Where networks are trained.
        nodes: Those that are judged ``(m,)``; all by default.
    """

    def __init__(self, graph: Graph, device: torch.device | str = "cpu", nodes: np.ndarray | None = None) -> None:
        if graph.features is None:
            raise UserError(f"{graph.name} has no features; set features.structural to auto, svd or degrees")
        self._graph, self.device = graph, torch.device(device)
        everyone = nodes is None or len(nodes) == graph.num_nodes
        self._nodes = None if everyone else torch.as_tensor(nodes, device=self.device)
        self.num_nodes, self.num_features = graph.features.shape
        self.features = FeatureMatrix(graph.features, device)

    def chosen(self, rows: torch.Tensor) -> torch.Tensor:
        """Of rows for all nodes, those of the nodes that are judged."""
        return rows if self._nodes is None else rows.index_select(0, self._nodes)

    @cached_property
    def adjacency(self) -> SparseOperator:
        r"""The normalised adjacency with self-loops, :math:`D^{-1/2} (A + I) D^{-1/2}`."""
        return self._operator(self._graph.adjacency, self_loops=True)

    @cached_property
    def one_hop(self) -> SparseOperator:
        """The normalised adjacency without self-loops: a node's neighbours and not the node itself."""
        return self._operator(self._graph.adjacency, self_loops=False)

    @cached_property
    def two_hop(self) -> SparseOperator:
        """The nodes that are two steps away and no fewer, normalised by their own number.

        On a graph with hubs these are a good part of all nodes, 31 % on squirrel. For a few columns even that is
        multiplied sooner as a sparse matrix: both forms wait for memory, and this one takes less of it.
        """
        return self._operator(strict_two_hop(self._graph.adjacency, self._graph.name), self_loops=False)

    def _operator(self, adjacency: sp.csr_array, *, self_loops: bool) -> SparseOperator:
        matrix = normalised_adjacency(adjacency, self_loops=self_loops)
        return SparseOperator(matrix, symmetric=not self._graph.directed, device=self.device)


def strict_two_hop(adjacency: sp.csr_array, name: str = "the graph") -> sp.csr_array:
    r"""The strict two-hop neighbourhood :math:`\mathbb{I}[A^2 > 0]` without :math:`A` and without :math:`I`.

    Args:
        adjacency: Edge weights ``(n, n)``; that an edge exists counts, its weight does not.
        name: Of the graph, for the message.

    Returns:
        Zeros and ones, float32 CSR ``(n, n)``.

    Raises:
        UserError: If it might have more than :data:`MAX_TWO_HOP_ENTRIES` entries.
    """
    n = adjacency.shape[0]
    edges = sp.csr_array((np.ones(adjacency.nnz, np.float32), adjacency.indices, adjacency.indptr), shape=(n, n))
    most = np.minimum(edges @ np.diff(edges.indptr).astype(np.float64), n).sum()
    if most > MAX_TWO_HOP_ENTRIES:
        raise UserError(
            f"{name}: nodes have up to {most:,.0f} neighbours two steps away in all, more than the "
            f"{MAX_TWO_HOP_ENTRIES:,} that h2gcn can hold; choose gcn or gprgnn"
        )
    reached = sp.csr_array(edges @ edges)
    reached.data[:] = 1
    nearer = sp.csr_array(edges + sp.eye_array(n, dtype=np.float32, format="csr"))
    strict = sp.csr_array(reached - reached.multiply(nearer))
    strict.eliminate_zeros()
    return strict
