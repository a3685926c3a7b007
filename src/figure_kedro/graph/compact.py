"""How node features are held."""

import numpy as np
import scipy.sparse as sp

SPARSE_BELOW = 0.2
"""Share of non-zero entries below which CSR is smaller, and multiplies faster, than a dense array."""


def is_sparse(nonzero: int, size: int) -> bool:
    """Whether so many non-zero entries among all of them are few."""
    return nonzero < SPARSE_BELOW * size


def compact(features: np.ndarray) -> np.ndarray | sp.csr_array:
    """Give features ``(n, d)`` as float32, in CSR form if few of them are not zero."""
    features = np.asarray(features, dtype=np.float32)
    if is_sparse(int(np.count_nonzero(features)), features.size):
        return sp.csr_array(features)
    return features
