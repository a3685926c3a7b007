"""Given features with all columns at one scale."""

from collections.abc import Iterable, Iterator

import numpy as np
import scipy.sparse as sp

from figure_kedro.graph import Graph
from figure_kedro.graph.graph import Features
from figure_kedro.graph.row_blocks import csr_blocks, even_blocks, stacked
from figure_kedro.memory import memory

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
    standard = _scaled_columns if sp.issparse(graph.features) else _standard_columns
    return graph.with_features(standard(graph.features))


def _scaled_columns(features: sp.csr_array) -> sp.csr_array:
    root = _mean_square_roots(features)
    scale = sp.diags_array(np.divide(1.0, root, out=np.zeros_like(root), where=root > 0))
    blocks = (sp.csr_array(block.astype(np.float64) @ scale) for _, block in csr_blocks(features))
    return stacked(blocks, features.shape, features.nnz)


def _standard_columns(features: np.ndarray) -> np.ndarray:
    n = len(features)
    standard = memory().empty(features.shape)
    for columns, rows in _blocks(features):
        mean = _sums(features[part, columns].astype(np.float64) for part in rows) / n
        squares = _sums(np.square(features[part, columns] - mean) for part in rows)
        deviation = np.sqrt(squares / n)
        largest = np.max([np.abs(features[part, columns]).max(axis=0) for part in rows], axis=0)
        rounding = deviation <= 1e-7 * largest  # of a constant column
        for part in rows:
            values = features[part, columns] - mean
            standard[part, columns] = np.where(rounding, 0.0, values / np.where(rounding, 1.0, deviation))
    return standard


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
    squares = np.zeros(features.shape[1])
    if isinstance(features, np.ndarray):
        for rows in even_blocks(*features.shape):
            squares += np.square(features[rows], dtype=np.float64).sum(axis=0)
    else:
        for part in even_blocks(features.nnz):
            np.add.at(squares, features.indices[part], np.square(features.data[part], dtype=np.float64))
    return np.sqrt(squares / features.shape[0])


def _blocks(features: np.ndarray) -> Iterator[tuple[slice, list[slice]]]:
    """Columns, and the parts of their rows that are worked on at a time."""
    n, width = features.shape
    if not memory().holds(8 * n * BLOCK):
        yield slice(0, width), list(even_blocks(n, width))
        return
    for start in range(0, width, BLOCK):
        yield slice(start, start + BLOCK), [slice(0, n)]


def _sums(parts: Iterable[np.ndarray]) -> np.ndarray:
    """The sum of every column, one row after the other through all parts."""
    sums: np.ndarray | None = None
    for part in parts:
        sums = (part if sums is None else np.vstack([sums, part])).sum(axis=0)
    assert sums is not None
    return sums
