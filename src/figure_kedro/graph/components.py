"""Connected components, found in blocks of edges."""

import numpy as np
import scipy.sparse as sp

from figure_kedro.graph.row_blocks import csr_blocks


def components(adjacency: sp.csr_array) -> np.ndarray:
    """The smallest node of the connected component of every node ``(n,)``, directions aside.

    Every node names a smaller one of its component. An edge between two names makes the larger of them name the
    smaller; then all follow the names to the end, until no edge joins two of them.

    >>> components(sp.csr_array(np.array([[0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0], [0, 1, 0, 0]])))
    array([0, 1, 0, 1])
    """
    names, before = np.arange(adjacency.shape[0]), None
    while before is None or (names != before).any():
        before = names.copy()
        for rows, block in csr_blocks(adjacency):
            one = names[rows].repeat(np.diff(block.indptr))
            other = names[block.indices]
            smaller = np.minimum(one, other)
            np.minimum.at(names, one, smaller)
            np.minimum.at(names, other, smaller)
        while (names[names] != names).any():
            names = names[names]
    return names
