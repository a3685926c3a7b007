r"""The normalised adjacency, the operator that every filter is a polynomial of."""

import warnings

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.filters.workspace import Workspace

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")


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
    index = np.int64 if wide else np.int32
    return torch.sparse_csr_tensor(
        torch.from_numpy(np.array(matrix.indptr, dtype=index)),
        torch.from_numpy(np.array(matrix.indices, dtype=index)),
        torch.from_numpy(np.array(matrix.data)),
        size=matrix.shape,
        device=device,
        check_invariants=False,
    )


class SparseOperator:
    """A constant sparse matrix that multiplies dense blocks, also inside a differentiated step.

    The backward pass multiplies by the transpose, which is kept beside the matrix; a symmetric matrix is its own.

    Args:
        matrix: CSR ``(m, n)``.
        symmetric: Whether it equals its transpose, which saves the second copy.
        device: Where it multiplies.
        workspace: Where results are written; fresh arrays by default.
    """

    def __init__(
        self,
        matrix: sp.csr_array,
        *,
        symmetric: bool = False,
        device: torch.device | str = "cpu",
        workspace: Workspace | None = None,
    ) -> None:
        self.workspace = workspace
        self.shape = matrix.shape
        self.nnz = matrix.nnz
        self.matrix = to_torch(matrix, device)
        self.transposed = self.matrix if symmetric else to_torch(sp.csr_array(matrix.T), device)

    def __call__(self, block: torch.Tensor) -> torch.Tensor:
        """Multiply ``(n, d)`` to ``(m, d)``."""
        return _Product.apply(self, block)

    def multiply(self, matrix: torch.Tensor, block: torch.Tensor) -> torch.Tensor:
        """Multiply by the matrix or its transpose, outside of any differentiation."""
        if matrix.device.type != "cpu" or matrix.dtype != block.dtype:
            return matrix.to(block.dtype) @ block
        shape = (matrix.shape[0], block.shape[1])
        result = self.workspace.take(shape, block) if self.workspace else block.new_empty(shape)
        # in place with beta=0 spares the zeroed and copied result that `matrix @ block` makes
        return result.addmm_(matrix, block, beta=0)


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx, operator: SparseOperator, block: torch.Tensor) -> torch.Tensor:
        ctx.operator = operator
        return operator.multiply(operator.matrix, block)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, ctx.operator.multiply(ctx.operator.transposed, gradient.contiguous())
