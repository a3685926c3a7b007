"""Nodes that cannot be told apart without their labels."""

from collections.abc import Iterator
from typing import Any

import numpy as np
import scipy.sparse as sp

from figure_kedro.graph.graph import Features, Graph
from figure_kedro.graph.row_blocks import csr_blocks, even_blocks
from figure_kedro.graph.splits import TEST, TRAIN

ALONE = -1
"""The group of a node without a twin."""


def twin_groups(graph: Graph, *, features: bool = False) -> np.ndarray:
    """Group nodes that have the same neighbours with the same weights; in a directed graph, nodes they point to.

    In the published chameleon and squirrel graphs such duplicates stand in the training and in the test part ("A
    Critical Look at the Evaluation of GNNs under Heterophily", Platonov et al., 2023): a method that finds them scores
    well without having learnt anything about other nodes. Most of them differ in their features. On chameleon two
    thirds of the test nodes have links to exactly the nodes that a training node has links to. The direction of links
    gains eight points there on all nodes, and none on the others.

    Rows are compared by sums of random 64-bit numbers, one for each neighbour, feature and value; two different rows
    have equal sums with a probability of about :math:`2^{-64}`. A node without neighbours has no twin.

    Args:
        graph: Its labels are not looked at.
        features: Whether twins must have the same features as well.

    Returns:
        A number for each node ``(n,)``, equal for twins, and -1 for a node without one.
    """
    rng = np.random.default_rng(0)
    degrees = np.diff(graph.adjacency.indptr)
    codes = _row_codes(graph.adjacency, rng)
    if features and graph.features is not None:
        codes = codes * np.uint64(0x9E3779B97F4A7C15) + _row_codes(graph.features, rng)
    _, groups, counts = np.unique(codes[degrees > 0], return_inverse=True, return_counts=True)
    twins = np.full(graph.num_nodes, ALONE)
    twins[degrees > 0] = np.where(counts[groups] > 1, groups, ALONE)
    return twins


def has_training_twin(twins: np.ndarray, codes: np.ndarray) -> np.ndarray:
    """Which nodes of a test part ``(n,)`` have a twin in the training part of the same split."""
    known = np.unique(twins[(codes == TRAIN) & (twins != ALONE)])
    return (codes == TEST) & np.isin(twins, known)


def _row_codes(matrix: Features, rng: np.random.Generator) -> np.ndarray:
    """A number for each row ``(n,)``, the same for rows with equal entries in any order; zeros count as none."""
    columns: Any = rng.integers(2**64, size=matrix.shape[1], dtype=np.uint64)
    codes = np.empty(matrix.shape[0], dtype=np.uint64)
    for rows, block in _blocks(matrix):
        bits = np.ascontiguousarray(block.data, dtype=np.float32).view(np.uint32).astype(np.uint64)
        values = (bits + np.uint64(0x632BE59BD9B4E019)) * np.uint64(0xD1342543DE82EF95)  # equal numbers, equal factors
        entries = columns[block.indices] * (values ^ (values >> np.uint64(29)) | np.uint64(1))
        entries[block.data == 0] = 0
        total = np.concatenate([np.zeros(1, np.uint64), np.cumsum(entries, dtype=np.uint64)])  # wraps, as it should
        codes[rows] = total[block.indptr[1:]] - total[block.indptr[:-1]]
    return codes


def _blocks(matrix: Features) -> Iterator[tuple[slice, sp.csr_array]]:
    if sp.issparse(matrix):
        yield from csr_blocks(matrix)
    else:
        for rows in even_blocks(*matrix.shape):
            yield rows, sp.csr_array(matrix[rows])
