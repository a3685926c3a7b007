"""Leading singular vectors of the normalised adjacency."""

from typing import Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from figure_kedro.features.structural import STRUCTURAL, ColumnSettings, StructuralFeatures
from figure_kedro.features.truncated_svd import truncated_svd
from figure_kedro.filters import normalised_adjacency
from figure_kedro.graph import Graph
from figure_kedro.graph.row_blocks import even_blocks
from figure_kedro.memory import memory


class SpectralSettings(ColumnSettings):
    """Singular vectors, so that nodes with similar neighbours are near each other."""

    components: int = Field(128, gt=0, description="number of columns")
    seed: int = Field(0, ge=0, description="seed of the random start of the iteration")


class SvdSettings(SpectralSettings):
    """Singular vectors for every graph."""

    structural: Literal["svd"] = "svd"


@STRUCTURAL.register
class Svd(StructuralFeatures):
    """Columns of :func:`spectral_features`."""

    Settings = SvdSettings
    settings: SpectralSettings

    def columns(self, graph: Graph) -> np.ndarray | None:
        return spectral_features(graph, self.settings.components, self.settings.seed)


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
    return scaled_as_given(graph, singular_columns(matrix, components, seed, both_sides=graph.directed))


def singular_columns(matrix: sp.csr_array, components: int, seed: int, *, both_sides: bool) -> np.ndarray:
    r"""The columns of :math:`U \Sigma^{1/2}`, or half of them and half of :math:`V \Sigma^{1/2}`, with fixed signs."""
    rank = (components + 1) // 2 if both_sides else components
    left, values, right = truncated_svd(matrix, min(rank, matrix.shape[0]), seed)
    sides = (left, right) if both_sides else (left,)
    weights = np.sqrt(np.concatenate([values] * len(sides)))[:components]
    columns = memory().empty((matrix.shape[0], len(weights)))
    for rows in even_blocks(*columns.shape):
        columns[rows] = np.hstack([side[rows] for side in sides])[:, :components] * weights
    _fix_signs(columns)
    return columns


def scaled_as_given(graph: Graph, columns: np.ndarray) -> np.ndarray:
    """Columns with the mean squared norm of the given features' rows, or with entries of mean square 1."""
    wanted = columns.shape[1] if graph.features is None else _mean_squared_row_norm(graph.features)
    measured = _mean_squared_row_norm(columns)
    if not measured > 0:
        return columns
    scaled = memory().empty(columns.shape, np.float64)
    for rows in even_blocks(*columns.shape):
        scaled[rows] = columns[rows] * np.sqrt(wanted / measured)
    return scaled


def _mean_squared_row_norm(features: np.ndarray | sp.csr_array) -> float:
    values = features if isinstance(features, np.ndarray) else features.data
    return _sum_of_squares(values.ravel(order="K")) / features.shape[0]


def _sum_of_squares(values: np.ndarray) -> float:
    """In double precision; where that takes too much memory, halved as numpy halves what it adds up, with its bits."""
    if len(values) <= 128 or memory().holds(8 * len(values)):
        return float(np.square(values, dtype=np.float64).sum())
    half = len(values) // 2
    half -= half % 8
    return _sum_of_squares(values[:half]) + _sum_of_squares(values[half:])


def _fix_signs(columns: np.ndarray) -> None:
    """Make the largest entry of each column in magnitude, and the first of several, positive."""
    largest = np.zeros(columns.shape[1], columns.dtype)
    for rows in even_blocks(*columns.shape):
        found = columns[rows][np.abs(columns[rows]).argmax(axis=0), np.arange(len(largest))]
        largest = np.where(np.abs(found) > np.abs(largest), found, largest)
    for rows in even_blocks(*columns.shape):
        columns[rows] *= np.where(largest < 0, -1, 1).astype(columns.dtype)
