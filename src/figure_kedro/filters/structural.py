"""Features that are made from the edges alone, for graphs without features or beside those given."""

import dataclasses
from typing import Literal

import numpy as np
import scipy.sparse as sp
from pydantic import BaseModel, ConfigDict, Field

from figure_kedro.filters.operator import normalised_adjacency
from figure_kedro.filters.svd import truncated_svd
from figure_kedro.graph import Graph


class FeatureSettings(BaseModel):
    """Which features a graph is given before it is filtered."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    normalise: Literal["none", "rows"] = Field(
        "none", description="rows: each row of the given features is divided by the sum of its magnitudes"
    )
    structural: Literal["auto", "none", "svd", "degrees", "one_hot_degree"] = Field(
        "auto", description="kind of structural features; auto is svd for a graph without features and none otherwise"
    )
    components: int = Field(128, gt=0, description="columns of svd, and the most that one_hot_degree may have")
    keep_given: bool = Field(True, description="whether the given features stand before the structural ones")
    scale: float = Field(1.0, gt=0, allow_inf_nan=False, description="factor on the structural columns")
    seed: int = Field(0, ge=0, description="seed of the random start of svd")


def with_structural_features(graph: Graph, settings: FeatureSettings) -> Graph:
    """The same graph with structural features beside its own, or instead of them.

    Given features that are sparse stay so, and the result is CSR; otherwise it is dense. If the settings ask for no
    structural features the graph itself is returned, whatever ``keep_given`` says.
    """
    structural = structural_features(graph, settings)
    if structural is None:
        return graph
    if graph.features is None or not settings.keep_given:
        features = structural
    elif sp.issparse(graph.features):
        features = sp.csr_array(sp.hstack([graph.features, sp.csr_array(structural)], format="csr"))
    else:
        features = np.hstack([graph.features, structural])
    return dataclasses.replace(graph, features=features)


def structural_features(graph: Graph, settings: FeatureSettings) -> np.ndarray | None:
    """The structural columns alone ``(n, c)``, float32 and finite on every graph; ``None`` if none are wanted.

    ``svd``: see :func:`spectral_features`, ``degrees``: :func:`degree_features`, ``one_hot_degree``:
    :func:`one_hot_degrees`; each multiplied by ``settings.scale``.
    """
    kind = settings.structural
    if kind == "auto":
        kind = "svd" if graph.features is None else "none"
    if kind == "none":
        return None
    if kind == "svd":
        columns = spectral_features(graph, settings.components, settings.seed)
    elif kind == "degrees":
        columns = degree_features(graph)
    else:
        columns = one_hot_degrees(graph, settings.components)
    return (settings.scale * columns).astype(np.float32)


def spectral_features(graph: Graph, components: int, seed: int = 0) -> np.ndarray:
    r"""Leading singular vectors of the normalised adjacency without self-loops, weighted by their singular values:

    .. math:: A_n \approx U \Sigma V^T, \quad X = c \, U \Sigma^{1/2}

    so that nodes with similar neighbours are near each other. One factor :math:`c` for all columns keeps their
    weights relative to each other: it makes the mean squared norm of a row equal to that of the given features, so
    that neither block drowns the other, and without given features it makes the mean square of an entry 1. For a
    directed graph the first half of the columns is taken from :math:`U` (to whom a node points) and the second from
    :math:`V \Sigma^{1/2}` (who points at it). The largest entry of each column in magnitude is positive.

    Isolated nodes get zeros. A graph of ``n`` nodes has at most ``n`` components; where ``components`` is larger
    there are ``n`` columns (twice that if directed), and columns beyond the rank of the matrix are zero. Singular
    vectors of equal singular values, such as those of several connected components, are a basis picked by the seed.

    Args:
        graph: Only its edges and the scale of its features are used.
        components: Number of columns.
        seed: Of the random start of the iteration.
    """
    matrix = normalised_adjacency(graph.adjacency, self_loops=False)
    rank = (components + 1) // 2 if graph.directed else components
    left, values, right = truncated_svd(matrix, min(rank, graph.num_nodes), seed)
    columns = np.hstack([left, right])[:, :components] if graph.directed else left
    weights = np.sqrt(np.concatenate([values, values]) if graph.directed else values)[: columns.shape[1]]
    columns = _fix_signs(columns * weights)
    wanted = columns.shape[1] if graph.features is None else _mean_squared_row_norm(graph.features)
    measured = _mean_squared_row_norm(columns)
    return columns * np.sqrt(wanted / measured) if measured > 0 else columns


def degree_features(graph: Graph) -> np.ndarray:
    r"""Six columns that say how well connected a node and its neighbours are, each of mean 0 and variance 1:

    .. math:: l_u, \; \underset{v \in N(u)}{\text{mean}} \, l_v, \; \min_v l_v, \; \max_v l_v, \;
        \underset{v}{\text{std}} \, l_v, \; \log \pi_u, \quad l_u = \log(1 + |N(u)|)

    :math:`N(u)` are the neighbours in either direction, weights aside, and :math:`\pi` is PageRank along the edges
    with their weights. The four statistics of an isolated node are 0 before the columns are standardised; a column
    that is the same for all nodes is zero.
    """
    neighbours = _neighbours(graph)
    counts = np.diff(neighbours.indptr)
    log_degree = np.log1p(counts.astype(np.float64))
    around = log_degree[neighbours.indices]
    some = counts > 0
    starts = neighbours.indptr[:-1][some]  # reduceat cannot skip an empty row

    def over_neighbours(reduce: np.ufunc, values: np.ndarray) -> np.ndarray:
        result = np.zeros(graph.num_nodes)
        if len(starts):
            result[some] = reduce.reduceat(values, starts)
        return result

    divisor = np.maximum(counts, 1)
    mean = over_neighbours(np.add, around) / divisor
    deviation = around - np.repeat(mean, counts)
    std = np.sqrt(over_neighbours(np.add, deviation**2) / divisor)
    smallest, largest = over_neighbours(np.minimum, around), over_neighbours(np.maximum, around)
    columns = np.column_stack([log_degree, mean, smallest, largest, std, np.log(pagerank(graph))])
    centred = columns - columns.mean(axis=0)
    spread = centred.std(axis=0)
    return np.divide(centred, spread, out=np.zeros_like(centred), where=spread > 1e-9)


def one_hot_degrees(graph: Graph, columns: int) -> np.ndarray:
    """One column for each number of neighbours from 0 on, at most ``columns`` of them; the last means that or more."""
    counts = np.diff(_neighbours(graph).indptr)
    columns = min(columns, int(counts.max()) + 1)
    result = np.zeros((graph.num_nodes, columns), dtype=np.float32)
    result[np.arange(graph.num_nodes), np.minimum(counts, columns - 1)] = 1
    return result


def pagerank(graph: Graph, damping: float = 0.85, tolerance: float = 1e-10, steps: int = 200) -> np.ndarray:
    r"""PageRank after "The anatomy of a large-scale hypertextual Web search engine" (Brin and Page, 1998):

    .. math:: \pi = d \, \pi (D^{-1} A + \delta 1^T / n) + (1 - d) / n, \quad \sum_u \pi_u = 1

    with :math:`d` the damping and :math:`\delta_u = 1` for a node without outgoing edges, which jumps anywhere.
    """
    n = graph.num_nodes
    strength = graph.adjacency.sum(axis=1, dtype=np.float64)
    inverse = np.divide(1.0, strength, out=np.zeros(n), where=strength > 0)
    backwards = sp.csr_array(graph.adjacency.T, dtype=np.float64)
    rank = np.full(n, 1.0 / n)
    for _ in range(steps):
        jump = damping * rank[strength == 0].sum() + 1 - damping
        before, rank = rank, damping * (backwards @ (rank * inverse)) + jump / n
        if np.abs(rank - before).sum() < tolerance:
            break
    return rank


def _neighbours(graph: Graph) -> sp.csr_array:
    return sp.csr_array(graph.adjacency.maximum(graph.adjacency.T)) if graph.directed else graph.adjacency


def _mean_squared_row_norm(features: np.ndarray | sp.csr_array) -> float:
    values = features.data if sp.issparse(features) else features
    return float(np.square(values, dtype=np.float64).sum()) / features.shape[0]


def _fix_signs(columns: np.ndarray) -> np.ndarray:
    largest = columns[np.abs(columns).argmax(axis=0), np.arange(columns.shape[1])]
    return columns * np.where(largest < 0, -1, 1).astype(columns.dtype)
