"""Node features in the form that a linear layer multiplies: dense, or sparse with its transpose."""

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.filters import SparseOperator, as_tensor
from figure_kedro.graph.compact import SPARSE_BELOW
from figure_kedro.graph.graph import Features

SPARSE_COLUMNS = 128
"""A sparse product is the quicker one above this number of columns, if few enough of their entries are not zero."""


def is_sparse(features: Features) -> bool:
    """Whether products with these features are computed sparsely."""
    n, f = features.shape
    if f <= SPARSE_COLUMNS:
        return False
    entries = sp.csr_array(features).nnz if sp.issparse(features) else np.count_nonzero(features)
    return bool(entries < SPARSE_BELOW * n * f)


class FeatureMatrix:
    """Features ``(n, f)`` on a device, sparse where that is quicker.

    Args:
        features: Dense or CSR.
        device: Where products are computed.
        symmetric: Whether the matrix equals its transpose, which saves a copy of a sparse one.
        differentiable: Whether products may be differentiated.
    """

    def __init__(
        self,
        features: Features,
        device: torch.device | str = "cpu",
        *,
        symmetric: bool = False,
        differentiable: bool = True,
    ) -> None:
        self.shape: tuple[int, int] = features.shape
        self.sparse = is_sparse(features)
        self.nnz = sp.csr_array(features).nnz if self.sparse else features.shape[0] * features.shape[1]
        if self.sparse:
            self._operator = SparseOperator(
                sp.csr_array(features), symmetric=symmetric, differentiable=differentiable, device=device
            )
        else:
            self.dense = as_tensor(dense_features(features), np.float32).to(device)

    def __matmul__(self, weights: torch.Tensor) -> torch.Tensor:
        """Multiply by weights ``(f, d)``."""
        return self._operator(weights) if self.sparse else self.dense @ weights


def dense_features(features: Features | None) -> np.ndarray:
    """The features as an array ``(n, f)``, which may be that of the graph and must not be changed."""
    assert features is not None, "the graph of a method that reads features has some"
    return sp.csr_array(features).toarray() if sp.issparse(features) else features
