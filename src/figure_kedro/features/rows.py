"""Given features with all rows at one scale."""

import numpy as np
import scipy.sparse as sp
from sklearn.preprocessing import normalize

from figure_kedro.graph import Graph
from figure_kedro.graph.graph import Features
from figure_kedro.graph.row_blocks import csr_blocks, even_blocks
from figure_kedro.memory import memory


def with_normalised_rows(graph: Graph) -> Graph:
    """The same graph, each row of its features divided by the sum of its magnitudes.

    Counts of words become shares, so that a long text weighs no more than a short one. Rows of zeros stay as they
    are, sparse features stay sparse, and a graph without features is returned itself.
    """
    if graph.features is None:
        return graph
    return graph.with_features(normalised_rows(graph.features))


def normalised_rows(features: Features) -> Features:
    """Each row divided by the sum of its magnitudes; rows of zeros stay."""
    if isinstance(features, np.ndarray):
        result = memory().empty(features.shape, features.dtype)
        for rows in even_blocks(*features.shape):
            result[rows] = normalize(features[rows], norm="l1")
        return result
    data = memory().empty(features.nnz, features.dtype)
    for rows, block in csr_blocks(features):
        data[features.indptr[rows.start] : features.indptr[rows.stop]] = normalize(block, norm="l1").data
    return sp.csr_array((data, features.indices, features.indptr), shape=features.shape, copy=False)
