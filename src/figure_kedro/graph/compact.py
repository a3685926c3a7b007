"""How node features are held."""

import numpy as np
import scipy.sparse as sp

SPARSE_BELOW = 0.2
"""Share of non-zero entries below which CSR is smaller, and multiplies faster, than a dense array."""


def compact(features: np.ndarray) -> np.ndarray | sp.csr_array:
    """Give features ``(n, d)`` as float32, in CSR form if few of them are not zero."""
    features = np.asarray(features, dtype=np.float32)
    if np.count_nonzero(features) < SPARSE_BELOW * features.size:
        return sp.csr_array(features)
    return features
