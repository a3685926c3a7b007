"""How well connected a node and its neighbours are."""

from typing import Literal

import numpy as np
import scipy.sparse as sp

from figure_kedro.features.structural import STRUCTURAL, ColumnSettings, StructuralFeatures
from figure_kedro.graph import Graph
from figure_kedro.graph.csr import row_sums
from figure_kedro.graph.row_blocks import csr_blocks
from figure_kedro.graph.transpose import transposed


class DegreesSettings(ColumnSettings):
    """Statistics of degrees, and PageRank."""

    structural: Literal["degrees"] = "degrees"


@STRUCTURAL.register
class Degrees(StructuralFeatures):
    """Columns of :func:`degree_features`."""

    Settings = DegreesSettings
    version = 2  # both sides of directed graphs

    def columns(self, graph: Graph) -> np.ndarray | None:
        return degree_features(graph)


def degree_features(graph: Graph) -> np.ndarray:
    r"""Columns that say how well connected a node and its neighbours are, each of mean 0 and variance 1:

    .. math:: l_u, \; \underset{v \in N(u)}{\text{mean}} \, l_v, \; \min_v l_v, \; \max_v l_v, \;
        \underset{v}{\text{std}} \, l_v, \; \log \pi_u, \quad l_u = \log(1 + |N(u)|)

    :math:`N(u)` are the neighbours, weights aside, and :math:`\pi` is PageRank along the edges with their weights. A
    directed graph has the first five columns twice: for the nodes that a node points to, and for those that point at
    it. The four statistics of a node without neighbours are 0 before the columns are standardised; a column that is
    the same for all nodes is zero.
    """
    sides = [graph.adjacency, transposed(graph.adjacency)] if graph.directed else [graph.adjacency]
    columns = np.column_stack([*(_neighbour_statistics(side) for side in sides), np.log(pagerank(graph))])
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-9)


def _neighbour_statistics(neighbours: sp.csr_array) -> np.ndarray:
    """Logarithm of the degree, and its mean, minimum, maximum and deviation over the neighbours ``(n, 5)``."""
    log_degree = np.log1p(np.diff(neighbours.indptr).astype(np.float64))
    statistics = np.empty((len(log_degree), 5))
    statistics[:, 0] = log_degree
    for rows, block in csr_blocks(neighbours):
        statistics[rows, 1:] = _over_rows(log_degree[block.indices], block.indptr)
    return statistics


def _over_rows(around: np.ndarray, indptr: np.ndarray) -> np.ndarray:
    """Mean, minimum, maximum and deviation of the values of each row ``(r, 4)``."""
    counts = np.diff(indptr)
    some = counts > 0
    starts = indptr[:-1][some]  # reduceat cannot skip an empty row

    def over_neighbours(reduce: np.ufunc, values: np.ndarray) -> np.ndarray:
        result = np.zeros(len(counts))
        if len(starts):
            result[some] = reduce.reduceat(values, starts)
        return result

    divisor = np.maximum(counts, 1)
    mean = over_neighbours(np.add, around) / divisor
    deviation = around - np.repeat(mean, counts)
    std = np.sqrt(over_neighbours(np.add, deviation**2) / divisor)
    smallest, largest = over_neighbours(np.minimum, around), over_neighbours(np.maximum, around)
    return np.column_stack([mean, smallest, largest, std])


def pagerank(graph: Graph, damping: float = 0.85, tolerance: float = 1e-10, steps: int = 200) -> np.ndarray:
    r"""PageRank after "The anatomy of a large-scale hypertextual Web search engine" (Brin and Page, 1998):

    .. math:: \pi = d \, \pi (D^{-1} A + \delta 1^T / n) + (1 - d) / n, \quad \sum_u \pi_u = 1

    with :math:`d` the damping and :math:`\delta_u = 1` for a node without outgoing edges, which jumps anywhere.
    """
    n = graph.num_nodes
    strength = row_sums(graph.adjacency)
    inverse = np.divide(1.0, strength, out=np.zeros(n), where=strength > 0)
    backwards = transposed(graph.adjacency) if graph.directed else graph.adjacency
    rank = np.full(n, 1.0 / n)
    for _ in range(steps):
        jump = damping * rank[strength == 0].sum() + 1 - damping
        flow = rank * inverse
        before, rank = rank, np.empty(n)
        for rows, block in csr_blocks(backwards):
            rank[rows] = damping * (block @ flow) + jump / n
        if np.abs(rank - before).sum() < tolerance:
            break
    return rank
