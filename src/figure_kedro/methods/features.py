"""Node features in the form that a linear layer multiplies: dense, or sparse with its transpose."""

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.filters import SparseOperator
from figure_kedro.graph.graph import Features

SPARSE_BELOW = 0.2
"""Share of non-zero entries below which a sparse product is the quicker one."""


class FeatureMatrix:
    """Features ``(n, f)`` on a device, sparse where that is quicker.

    Args:
        features: Dense or CSR.
        device: Where products are computed.
        symmetric: Whether the matrix equals its transpose, which saves a copy of a sparse one.
    """

    def __init__(self, features: Features, device: torch.device | str = "cpu", *, symmetric: bool = False) -> None:
        self.shape = features.shape
        entries = features.nnz if sp.issparse(features) else np.count_nonzero(features)
        self.sparse = entries < SPARSE_BELOW * features.shape[0] * features.shape[1]
        self.nnz = entries if self.sparse else features.shape[0] * features.shape[1]
        if self.sparse:
            self._operator = SparseOperator(sp.csr_array(features), symmetric=symmetric, device=device)
        else:
            dense = features.toarray() if sp.issparse(features) else features
            self.dense = torch.tensor(np.asarray(dense), dtype=torch.float32, device=device)

    def __matmul__(self, weights: torch.Tensor) -> torch.Tensor:
        """Multiply by weights ``(f, d)``."""
        return self._operator(weights) if self.sparse else self.dense @ weights
