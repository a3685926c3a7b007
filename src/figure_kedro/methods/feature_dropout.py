"""Dropout of features, dense or sparse, that are then multiplied by weights."""

import copy

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.filters import SparseOperator
from figure_kedro.graph.graph import Features
from figure_kedro.methods.features import FeatureMatrix, is_sparse


class FeatureDropout:
    """Features with some of their entries set to zero, and the others scaled to keep the mean.

    Only the entries that are stored are drawn for: zeros of sparse features stay zeros whatever happens to them.

    Args:
        features: Dense or CSR ``(n, f)``.
        share: Of the entries that are dropped.
        device: Where products are computed.
    """

    def __init__(self, features: Features, share: float, device: torch.device) -> None:
        self._share = share
        self.sparse = is_sparse(features)
        if self.sparse:
            csr = sp.csr_array(features)
            self._operator = SparseOperator(csr, device=device)
            places = sp.csr_array((np.arange(csr.nnz), csr.indices, csr.indptr), shape=csr.shape)
            self._transposition = torch.from_numpy(sp.csr_array(places.T).data).to(device)
        else:
            self._dense = FeatureMatrix(features, device).dense

    def __call__(self, generator: torch.Generator) -> "torch.Tensor | DroppedFeatures":
        """A fresh draw, to be multiplied by weights ``(f, d)``."""
        if not self.sparse:
            return self._dense * self._mask(self._dense, generator) if self._share else self._dense
        operator = copy.copy(self._operator)
        if self._share:
            mask = self._mask(operator.matrix.values(), generator)
            operator.matrix = _times(operator.matrix, mask)
            assert operator.transposed is not None
            operator.transposed = _times(operator.transposed, mask[self._transposition])
        return DroppedFeatures(operator)

    def _mask(self, like: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        kept = torch.empty(like.shape).bernoulli_(1 - self._share, generator=generator)
        return kept.div_(1 - self._share).to(like.device)


class DroppedFeatures:
    """A sparse operator with the sign of a matrix product."""

    def __init__(self, operator: SparseOperator) -> None:
        self._operator = operator

    def __matmul__(self, weights: torch.Tensor) -> torch.Tensor:
        return self._operator(weights)


def _times(matrix: torch.Tensor, mask: torch.Tensor) -> torch.Tensor:
    """A CSR tensor with its entries multiplied."""
    return torch.sparse_csr_tensor(
        matrix.crow_indices(), matrix.col_indices(), matrix.values() * mask, matrix.shape, check_invariants=False
    )
