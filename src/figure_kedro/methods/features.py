"""Node features in the form that a linear layer multiplies: dense, or sparse with its transpose."""

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.filters import SparseOperator
from figure_kedro.graph.graph import Features

SPARSE_BELOW, SPARSE_COLUMNS = 0.2, 128
"""A sparse product is the quicker one below this share of non-zero entries, and above this number of columns."""


def is_sparse(features: Features) -> bool:
    """Whether products with these features are computed sparsely."""
    n, f = features.shape
    if f <= SPARSE_COLUMNS:
        return False
    entries = features.nnz if sp.issparse(features) else np.count_nonzero(features)
    return bool(entries < SPARSE_BELOW * n * f)


class FeatureMatrix:
    """Features ``(n, f)`` on a device, sparse where that is quicker.

    Args:
        features: Dense or CSR.
        device: Where products are computed.
        symmetric: Whether the matrix equals its transpose, which saves a copy of a sparse one.
    """

    def __init__(self, features: Features, device: torch.device | str = "cpu", *, symmetric: bool = False) -> None:
        self.shape = features.shape
        self.sparse = is_sparse(features)
        self.nnz = sp.csr_array(features).nnz if self.sparse else features.shape[0] * features.shape[1]
        if self.sparse:
            self._operator = SparseOperator(sp.csr_array(features), symmetric=symmetric, device=device)
        else:
            dense = features.toarray() if sp.issparse(features) else features
            self.dense = torch.tensor(np.asarray(dense), dtype=torch.float32, device=device)

    def __matmul__(self, weights: torch.Tensor) -> torch.Tensor:
        """Multiply by weights ``(f, d)``."""
        return self._operator(weights) if self.sparse else self.dense @ weights


def unit_rows(features: Features) -> Features:
    """Divide rows by their length; those of zeros stay."""
    if sp.issparse(features):
        lengths = np.sqrt(features.multiply(features).sum(axis=1))
        scale = np.divide(1, lengths, out=np.zeros_like(lengths), where=lengths > 0)
        return sp.csr_array(sp.diags_array(scale) @ features).astype(np.float32)
    lengths = np.linalg.norm(features, axis=1, keepdims=True)
    return np.divide(features, lengths, out=np.zeros(features.shape, dtype=np.float32), where=lengths > 0)
