"""Given features with all columns at one scale."""

from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp

from figure_kedro.graph import Graph
from figure_kedro.graph.graph import Features
from figure_kedro.graph.row_blocks import even_blocks

LARGE = 100.0
"""Columns whose values are typically above this train badly: the encoder begins with weights for values around 1."""

BLOCK = 64
"""Columns that are held in double precision at a time."""


def with_standard_columns(graph: Graph) -> Graph:
    """The same graph, each column of its features with mean 0 and standard deviation 1.

    Incomes, ages and times become comparable. A constant column becomes zeros. Sparse features stay sparse: their
    columns are divided by the root of their mean square and keep their zeros. A graph without features is returned
    itself.
    """
    if graph.features is None:
        return graph
    if sp.issparse(graph.features):
        root = _mean_square_roots(graph.features)
        scale = sp.diags_array(np.divide(1.0, root, out=np.zeros_like(root), where=root > 0))
        return graph.with_features(sp.csr_array(graph.features.astype(np.float64) @ scale, dtype=np.float32))
    standard = np.empty(graph.features.shape, dtype=np.float32)
    for columns in _blocks(graph.features):
        values = graph.features[:, columns].astype(np.float64)
        values -= values.mean(axis=0)
        deviation = np.sqrt(np.square(values).mean(axis=0))
        rounding = deviation <= 1e-7 * np.abs(graph.features[:, columns]).max(axis=0)  # of a constant column
        standard[:, columns] = np.where(rounding, 0.0, values / np.where(rounding, 1.0, deviation))
    return graph.with_features(standard)


def large_columns(features: Features | None) -> str | None:
    """What to do about features with columns of large values; none if there are none."""
    if features is None:
        return None
    roots = _mean_square_roots(features)
    column = int(np.argmax(roots))
    if roots[column] <= LARGE:
        return None
    return f"column {column} of the features has values around {roots[column]:.3g}; set features.normalise=columns"


def _mean_square_roots(features: Features) -> np.ndarray:
    """The root of the mean square of every column ``(d,)``."""
    if not isinstance(features, np.ndarray):
        squares = np.square(features.data, dtype=np.float64)
        return np.sqrt(np.bincount(features.indices, squares, minlength=features.shape[1]) / features.shape[0])
    squares = np.zeros(features.shape[1])
    for rows in even_blocks(*features.shape):
        squares += np.square(features[rows], dtype=np.float64).sum(axis=0)
    return np.sqrt(squares / len(features))


def _blocks(features: np.ndarray) -> Iterator[slice]:
    for start in range(0, features.shape[1], BLOCK):
        yield slice(start, start + BLOCK)
