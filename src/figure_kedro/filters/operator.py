r"""The normalised adjacency, the operator that every filter is a polynomial of."""

import logging
import warnings
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp
import torch

from figure_kedro.errors import UserError
from figure_kedro.filters.bank import BANKS, BankSettings, FilterBank
from figure_kedro.filters.workspace import Workspace
from figure_kedro.graph import Graph
from figure_kedro.graph.row_blocks import csr_blocks
from figure_kedro.graph.transpose import transposed, with_both_directions
from figure_kedro.memory import is_mapped, memory

warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Operator:
    """The normalised adjacency of a graph, with the filters that are polynomials of it.

    Args:
        matrix: float32 CSR ``(n, n)``.
        filters: The bank and whether there are self-loops.
        symmetric: Whether the matrix equals its transpose.
    """

    matrix: sp.csr_array
    filters: BankSettings
    symmetric: bool

    @classmethod
    def of(cls, graph: Graph, filters: BankSettings) -> "Operator":
        """Normalise the adjacency of a graph in the direction that the settings name.

        Raises:
            UserError: If they name one and the graph is undirected.
        """
        adjacency, weight = oriented(graph, filters), filters.loop_weight
        matrix = normalised_adjacency(adjacency, self_loops=filters.self_loops, loop_weight=weight)
        operator = cls(matrix, filters, symmetric=not graph.directed or filters.direction == "ignore")
        caution = None if operator.symmetric else operator.bank.caution
        if caution is not None:
            logger.warning(caution)
        return operator

    @property
    def bank(self) -> FilterBank:
        return BANKS.build(self.filters)

    def on(self, device: torch.device | str = "cpu", *, differentiable: bool = True) -> "SparseOperator":
        """The matrix as what multiplies blocks on a device."""
        transposed = differentiable or self.filters.direction == "both"
        return SparseOperator(self.matrix, symmetric=self.symmetric, differentiable=transposed, device=device)


def oriented(graph: Graph, filters: BankSettings) -> sp.csr_array:
    """The adjacency ``(n, n)`` in the direction that the settings name; row ``u`` holds what node ``u`` looks at.

    ``out``, and ``both``, which has the transpose beside it, is the adjacency as it is, ``in`` its transpose, and
    ``ignore`` has both directions of every edge, with the larger of two weights.
    """
    direction = filters.direction
    if not graph.directed:
        if direction not in ("auto", "ignore"):
            raise UserError(
                f"filters.direction={direction} needs a directed graph and {graph.name} is undirected; set "
                "source.directed=true if its source has that setting, or leave filters.direction out"
            )
        return graph.adjacency
    if direction == "ignore":
        return with_both_directions(graph.adjacency)
    return transposed(graph.adjacency) if direction == "in" else graph.adjacency


def normalised_adjacency(adjacency: sp.csr_array, *, self_loops: bool = True, loop_weight: float = 1.0) -> sp.csr_array:
    r"""Compute :math:`A_n = D^{-1/2} (A + w I) D^{-1/2}`, or without :math:`I`.

    With :math:`D_{uu} = \sum_v (A + w I)_{uv}` the eigenvalues of :math:`A_n` lie in :math:`[-1, 1]`. For a directed
    graph the rows are scaled by out-degrees and the columns by in-degrees, which keeps all singular values below 1.
    An isolated node keeps its own features if there are self-loops and gets zeros if there are none.

    Args:
        adjacency: Edge weights ``(n, n)``.
        self_loops: Whether to add the identity first, as the paper does.
        loop_weight: :math:`w`.

    Returns:
        float32 CSR ``(n, n)`` with sorted indices.
    """
    n = adjacency.shape[0]
    left, right, counts = np.zeros(n), np.zeros(n), np.zeros(n, dtype=np.int64)
    for rows, block in _with_loops(adjacency, loop_weight if self_loops else 0.0):
        left[rows], counts[rows] = block.sum(axis=1), np.diff(block.indptr)
        np.add.at(right, block.indices, block.data)
    left, right = _inverse_root(left), _inverse_root(right)
    entries = int(counts.sum())
    index = np.int32 if max(n, entries) <= np.iinfo(np.int32).max else np.int64
    indptr = np.zeros(n + 1, dtype=index)
    np.cumsum(counts, out=indptr[1:])
    indices, data = memory().empty(entries, index), memory().empty(entries, np.float32)
    for rows, block in _with_loops(adjacency, loop_weight if self_loops else 0.0):
        filled = slice(int(indptr[rows.start]), int(indptr[rows.stop]))
        indices[filled] = block.indices
        data[filled] = block.data * (np.repeat(left[rows], counts[rows]) * right[block.indices])
    return sp.csr_array((data, indices, indptr), shape=(n, n), copy=False)


def _with_loops(adjacency: sp.csr_array, weight: float) -> Iterator[tuple[slice, sp.csr_array]]:
    """The adjacency in float64 with self-loops of that weight, block by block of its rows, with sorted indices."""
    for rows, block in csr_blocks(adjacency):
        block = block.astype(np.float64)
        if weight:
            block = sp.csr_array(block + weight * sp.eye_array(*block.shape, k=rows.start, format="csr"))
        block.sort_indices()
        yield rows, block


def _inverse_root(degrees: np.ndarray) -> np.ndarray:
    return np.divide(1.0, np.sqrt(degrees), out=np.zeros(len(degrees)), where=degrees > 0)


def to_torch(matrix: sp.csr_array, device: torch.device | str = "cpu") -> torch.Tensor:
    """The same matrix as a torch CSR tensor."""
    wide = matrix.nnz > np.iinfo(np.int32).max
    index = np.int64 if wide else np.int32
    return torch.sparse_csr_tensor(
        as_tensor(matrix.indptr, index),
        as_tensor(matrix.indices, index),
        as_tensor(matrix.data, matrix.dtype),
        size=matrix.shape,
        device=device,
        check_invariants=False,
    )


def as_tensor(array: np.ndarray, dtype: npt.DTypeLike) -> torch.Tensor:
    """The same numbers as a tensor of its own; what is mapped from disk is not copied and must not be changed."""
    array = np.ascontiguousarray(array, dtype=dtype)
    return torch.from_numpy(array if is_mapped(array) and array.flags.writeable else array.copy())


class SparseOperator:
    """A constant sparse matrix that multiplies dense blocks, also inside a differentiated step.

    The backward pass multiplies by the transpose, which is kept beside the matrix; a symmetric matrix is its own, and
    one whose products are never differentiated needs none.

    Args:
        matrix: CSR ``(m, n)``.
        symmetric: Whether it equals its transpose, which saves the second copy.
        differentiable: Whether there may be a backward pass.
        device: Where it multiplies.
        workspace: Where results are written; fresh arrays by default.
    """

    def __init__(
        self,
        matrix: sp.csr_array,
        *,
        symmetric: bool = False,
        differentiable: bool = True,
        device: torch.device | str = "cpu",
        workspace: Workspace | None = None,
    ) -> None:
        self.workspace = workspace
        self.shape: tuple[int, int] = matrix.shape
        self.nnz = int(matrix.nnz)
        self.matrix = to_torch(matrix, device)
        self.transposed: torch.Tensor | None = None
        if symmetric:
            self.transposed = self.matrix
        elif differentiable:
            self.transposed = to_torch(transposed(matrix), device)
        self._arrays = {"matrix": matrix} if is_mapped(matrix.data) else {}

    def __reduce__(self) -> tuple[Any, ...]:
        """For another process, on its CPU: always the same arrays, which need be handed over only once."""
        symmetric = self.transposed is self.matrix
        for name in ("matrix", "transposed"):
            tensor = getattr(self, name)
            if name not in self._arrays and tensor is not None and not (symmetric and name == "transposed"):
                self._arrays[name] = _as_scipy(tensor.cpu())
        return _restored, (self._arrays["matrix"], symmetric, self._arrays.get("transposed"))

    def __call__(self, block: torch.Tensor) -> torch.Tensor:
        """Multiply ``(n, d)`` to ``(m, d)``."""
        return self._product(block, back=False)

    def back(self, block: torch.Tensor) -> torch.Tensor:
        """Multiply by the transpose, ``(m, d)`` to ``(n, d)``."""
        return self._product(block, back=True)

    def _product(self, block: torch.Tensor, *, back: bool) -> torch.Tensor:
        differentiated = block.requires_grad and torch.is_grad_enabled()
        if self.transposed is None and (back or differentiated):
            raise RuntimeError("this operator was made without its transpose; make it with differentiable=True")
        return _Product.apply(self, block, back)

    def multiply(self, matrix: Any, block: torch.Tensor) -> torch.Tensor:
        """Multiply by the matrix or its transpose, outside of any differentiation."""
        if matrix.device.type != "cpu" or matrix.dtype != block.dtype:
            return matrix.to(block.dtype) @ block
        shape = (matrix.shape[0], block.shape[1])
        result = self.workspace.take(shape, block) if self.workspace else block.new_empty(shape)
        # in place with beta=0 spares the zeroed and copied result that `matrix @ block` makes
        return result.addmm_(matrix, block, beta=0)


def _as_scipy(tensor: torch.Tensor) -> sp.csr_array:
    """The same arrays, not copied."""
    parts = (tensor.values().numpy(), tensor.col_indices().numpy(), tensor.crow_indices().numpy())
    return sp.csr_array(parts, shape=tuple(tensor.shape), copy=False)


def _restored(matrix: sp.csr_array, symmetric: bool, transposed: sp.csr_array | None) -> SparseOperator:
    operator = SparseOperator(matrix, symmetric=symmetric, differentiable=False)
    if transposed is not None:
        operator.transposed = to_torch(transposed)
    return operator


class _Product(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, operator: SparseOperator, block: torch.Tensor, back: bool) -> torch.Tensor:
        ctx.operator, ctx.back = operator, back
        return operator.multiply(operator.transposed if back else operator.matrix, block)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[None, torch.Tensor, None]:
        operator = ctx.operator
        matrix = operator.matrix if ctx.back else operator.transposed
        return None, operator.multiply(matrix, gradient.contiguous()), None
