"""Leading singular vectors of how much likelier than by chance neighbours are."""

from typing import Literal

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from figure_kedro.features.kinds.svd import SpectralSettings, scaled_as_given, singular_columns
from figure_kedro.features.structural import STRUCTURAL, StructuralFeatures
from figure_kedro.graph import Graph

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
        return scaled_as_given(graph, normalize(columns, copy=False))


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
    steps = normalize(sp.csr_array(adjacency, dtype=np.float64), norm="l1")
    met = np.asarray(steps.sum(axis=0)).ravel() ** CHANCE_POWER
    chance = met / max(met.sum(), np.finfo(float).tiny)
    logs = np.log(steps.data) - np.log(chance[steps.indices])
    return sp.csr_array((logs.astype(np.float32), steps.indices, steps.indptr), shape=steps.shape)
