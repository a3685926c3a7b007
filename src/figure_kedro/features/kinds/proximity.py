"""Leading singular vectors of how much likelier than by chance neighbours are."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from figure_kedro.features.kinds.svd import SpectralSettings, scaled_as_given, singular_columns
from figure_kedro.features.structural import STRUCTURAL, StructuralFeatures
from figure_kedro.graph import Graph
from figure_kedro.graph.row_blocks import csr_blocks, even_blocks
from figure_kedro.memory import memory

CHANCE_POWER = 0.75
"""How much a node that many point to is expected to be met by chance, as in skip-gram models."""


class ProximitySettings(SpectralSettings):
    """Singular vectors of logarithms of transition probabilities."""

    structural: Literal["proximity"] = "proximity"


@STRUCTURAL.register
class Proximity(StructuralFeatures):
    """Singular vectors of :func:`log_proximity`, every row of one length."""

    Settings = ProximitySettings
    settings: ProximitySettings

    def columns(self, graph: Graph) -> np.ndarray | None:
        columns = singular_columns(
            log_proximity(graph.adjacency), self.settings.components, self.settings.seed, both_sides=graph.directed
        )
        for rows in even_blocks(*columns.shape):
            columns[rows] = normalize(columns[rows], copy=False)
        return scaled_as_given(graph, columns)


def log_proximity(adjacency: sp.csr_array) -> sp.csr_array:
    r"""The matrix that ProNE factorises in its first step ("ProNE: Fast and Scalable Network Representation Learning",
    Zhang et al., 2019):

    .. math:: M_{ij} = \ln p_{ij} - \ln q_j, \quad p_{ij} = A_{ij} / d_i, \quad q_j \propto (\sum_i p_{ij})^{3/4}

    for every edge, 0 elsewhere: how much likelier a step from :math:`i` leads to :math:`j` than chance :math:`q`.
    Unlike the normalised adjacency it has no singular vectors that tell nothing but small connected components apart.
    An isolated node has zeros.

    Args:
        adjacency: With weights above 0; those of a directed graph from a node to those that it points to.
    """
    met = np.zeros(adjacency.shape[1])
    for _, steps in _steps(adjacency):
        np.add.at(met, steps.indices, steps.data)
    met **= CHANCE_POWER
    with np.errstate(divide="ignore"):  # of nodes that nobody points to, whose chance nobody asks for
        log_chance = np.log(met / max(met.sum(), np.finfo(float).tiny))
    logs = memory().empty(adjacency.nnz)
    for rows, steps in _steps(adjacency):
        entries = slice(int(adjacency.indptr[rows.start]), int(adjacency.indptr[rows.stop]))
        logs[entries] = np.log(steps.data) - log_chance[steps.indices]
    return sp.csr_array((logs, adjacency.indices, adjacency.indptr), shape=adjacency.shape, copy=False)


def _steps(adjacency: sp.csr_array) -> Iterator[tuple[slice, sp.csr_array]]:
    """The transition probabilities in double precision, block by block of rows."""
    for rows, block in csr_blocks(adjacency):
        yield rows, normalize(block.astype(np.float64), norm="l1", copy=False)
