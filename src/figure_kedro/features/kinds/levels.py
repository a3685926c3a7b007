"""How high a node stands in a directed graph: the later papers of citations, the predators of a food web."""

import logging
from collections.abc import Iterator
from typing import Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field
from scipy.sparse.linalg import cg

from figure_kedro.errors import UserError
from figure_kedro.features.structural import STRUCTURAL, ColumnSettings, StructuralFeatures
from figure_kedro.graph import Graph
from figure_kedro.graph.components import components
from figure_kedro.graph.csr import column_counts
from figure_kedro.graph.row_blocks import csr_blocks, csr_rows, even_blocks, row_blocks, stacked
from figure_kedro.graph.transpose import transposed
from figure_kedro.memory import memory

logger = logging.getLogger(__name__)

TOLERANCE, STEPS = 1e-6, 5000


class LevelsSettings(ColumnSettings):
    """Levels and degrees of a directed graph, each spread over several columns."""

    structural: Literal["levels"] = "levels"
    bins: int = Field(32, ge=2, le=1024, description="columns for each of the level, the out-degree and the in-degree")


@STRUCTURAL.register
class Levels(StructuralFeatures):
    """Columns of :func:`level_features`."""

    Settings = LevelsSettings
    settings: LevelsSettings

    def columns(self, graph: Graph) -> np.ndarray | None:
        if not graph.directed:
            raise UserError(
                f"features.structural=levels needs a directed graph and {graph.name} is undirected; set "
                "source.directed=true if its source has that setting, or choose degrees or auto"
            )
        return level_features(graph, self.settings.bins)


def level_features(graph: Graph, bins: int) -> np.ndarray:
    """The level of every node, the logarithm of its out-degree and of its in-degree, each in at most ``bins`` columns.

    The columns are hat functions at quantiles (:func:`hats`), so that a linear map of them can be any function of the
    level, where a single column would only rise or fall.
    """
    out, into = np.diff(graph.adjacency.indptr), column_counts(graph.adjacency)
    measures = [trophic_levels(graph), np.log1p(out), np.log1p(into)]
    tops = [quantiles(values, bins) for values in measures]
    features = memory().empty((graph.num_nodes, sum(map(len, tops))))
    for rows in even_blocks(*features.shape):
        features[rows] = np.hstack([hats(values[rows], at) for values, at in zip(measures, tops, strict=True)])
    return features


def trophic_levels(graph: Graph) -> np.ndarray:
    r"""The level :math:`h` of every node after "How directed is a directed network?" (MacKay et al., 2020): edges go
    down by one step, as nearly as possible,

    .. math:: \min_h \sum_{u \to v} w_{uv} (h_u - h_v - 1)^2 \quad \Leftrightarrow \quad
              (D - W - W^T) h = s^{out} - s^{in}

    with the weights :math:`W` of the edges, the strengths :math:`s` on both sides and :math:`D` their sum. A level is
    defined up to a constant for each connected component; here the mean of each, weighted by :math:`D`, is 0, as it is
    for a node without edges.

    Solved by conjugate gradients: 1.2 million citations take less than a second.
    """
    n, weights = graph.num_nodes, graph.adjacency
    out, into = np.zeros(n), np.zeros(n)
    for rows, block in _double_blocks(weights):
        out[rows] = block.sum(axis=1)
        np.add.at(into, block.indices, block.data)
    strength = out + into
    scaling = sp.diags_array(np.divide(1.0, strength, out=np.ones_like(strength), where=strength > 0))
    levels, failed = cg(_laplacian(weights, strength), out - into, rtol=TOLERANCE, maxiter=STEPS, M=scaling)
    if failed:
        logger.warning("the levels of %s are not exact to %g after %d steps", graph.name, TOLERANCE, STEPS)
    component = components(weights)
    total = np.bincount(component, strength, n)
    mean = np.divide(np.bincount(component, strength * levels, n), total, out=np.zeros(n), where=total > 0)
    return np.where(strength > 0, levels - mean[component], 0.0)


def _laplacian(weights: sp.csr_array, strength: np.ndarray) -> sp.csr_array:
    """:math:`D - W - W^T` in double precision, in files where it is too large for memory."""
    turned, n = transposed(weights), len(strength)

    def block(rows: slice) -> sp.csr_array:
        diagonal = sp.diags_array(strength[rows], offsets=rows.start, shape=(rows.stop - rows.start, n))
        forth, back = (csr_rows(side, rows).astype(np.float64) for side in (weights, turned))
        return sp.csr_array(diagonal - forth - back)

    blocks = row_blocks(weights.indptr.astype(np.int64) + turned.indptr)
    return stacked(map(block, blocks), weights.shape, 2 * weights.nnz + n, np.float64)


def _double_blocks(matrix: sp.csr_array) -> Iterator[tuple[slice, sp.csr_array]]:
    return ((rows, block.astype(np.float64)) for rows, block in csr_blocks(matrix))


def quantiles(values: np.ndarray, most: int) -> np.ndarray:
    """At most so many quantiles, from the smallest value to the largest; fewer where values repeat."""
    return np.unique(np.quantile(values, np.linspace(0, 1, most)))


def hats(values: np.ndarray, tops: np.ndarray) -> np.ndarray:
    """Hat functions with their tops at rising numbers: each row sums to 1 and has at most two entries, side by side.

    A single top makes one column of ones.

    >>> hats(np.array([0.0, 1.0, 2.0, 4.0, 8.0]), np.array([0.0, 2.0, 8.0])).round(2)
    array([[1.  , 0.  , 0.  ],
           [0.5 , 0.5 , 0.  ],
           [0.  , 1.  , 0.  ],
           [0.  , 0.67, 0.33],
           [0.  , 0.  , 1.  ]], dtype=float32)
    """
    if len(tops) == 1:
        return np.ones((len(values), 1), dtype=np.float32)
    left = np.clip(np.searchsorted(tops, values, side="right") - 1, 0, len(tops) - 2)
    share = np.clip((values - tops[left]) / (tops[left + 1] - tops[left]), 0, 1)
    rows, result = np.arange(len(values)), np.zeros((len(values), len(tops)), dtype=np.float32)
    result[rows, left], result[rows, left + 1] = 1 - share, share
    return result
