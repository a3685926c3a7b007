r"""The normalised adjacency, the operator that every filter is a polynomial of."""

import numpy as np
import scipy.sparse as sp
import torch


def normalised_adjacency(adjacency: sp.csr_array, *, self_loops: bool = True) -> sp.csr_array:
    r"""Compute :math:`A_n = D^{-1/2} (A + I) D^{-1/2}`, or without :math:`I`.

    With :math:`D_{uu} = \sum_v (A + I)_{uv}` the eigenvalues of :math:`A_n` lie in :math:`[-1, 1]`. For a directed
    graph the rows are scaled by out-degrees and the columns by in-degrees, which keeps all singular values below 1.
    An isolated node keeps its own features if there are self-loops and gets zeros if there are none.

    Args:
        adjacency: Edge weights ``(n, n)``.
        self_loops: Whether to add the identity first, as the paper does.

    Returns:
        float32 CSR ``(n, n)`` with sorted indices.
    """
    n = adjacency.shape[0]
    matrix = adjacency.astype(np.float64)
    if self_loops:
        matrix = matrix + sp.eye_array(n, format="csr")
    left, right = (_inverse_root(matrix.sum(axis=axis)) for axis in (1, 0))
    matrix = sp.csr_array(matrix)
    rows = np.repeat(left, np.diff(matrix.indptr))
    matrix.data *= rows * right[matrix.indices]
    matrix.sort_indices()
    return matrix.astype(np.float32)


def _inverse_root(degrees: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)


def to_torch(matrix: sp.csr_array, device: torch.device | str = "cpu") -> torch.Tensor:
    """The same matrix as a torch CSR tensor."""
    wide = matrix.nnz > np.iinfo(np.int32).max
    index = torch.int64 if wide else torch.int32
    return torch.sparse_csr_tensor(
        torch.as_tensor(matrix.indptr, dtype=index),
        torch.as_tensor(matrix.indices, dtype=index),
        torch.as_tensor(matrix.data),
        size=matrix.shape,
        device=device,
        check_invariants=False,
    )
