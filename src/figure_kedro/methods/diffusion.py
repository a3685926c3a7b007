r"""Personalised PageRank as a polynomial of the normalised adjacency, never formed as a matrix."""

import math
from typing import Any

import torch
from numpy.polynomial import chebyshev

from figure_kedro.filters import SparseOperator


class Diffusion:
    r"""Multiplies by the diffusion of "Diffusion Improves Graph Learning" (Klicpera et al., 2019):

    .. math:: S = \alpha (I - (1 - \alpha) A_n)^{-1} = s(A_n), \quad s(t) = \frac{\alpha}{1 - (1 - \alpha) t}

    with the probability :math:`\alpha` to return. The eigenvalues of a symmetric :math:`A_n` lie in :math:`[-1, 1]`,
    where the interpolation of :math:`s` in :math:`K + 1` Chebyshev nodes is off by at most

    .. math:: \epsilon_K = \frac{4 \alpha}{\sqrt{1 - (1 - \alpha)^2}} \frac{\rho^{-K}}{\rho - 1}, \quad
        \rho = \frac{1 + \sqrt{1 - (1 - \alpha)^2}}{1 - \alpha},

    twice the sum of the Chebyshev coefficients that are left out; that is :math:`\tfrac{4}{3} 2^{-K}` for
    :math:`\alpha = 0.2`. So :math:`\|S X - p(A_n) X\|_F \le \epsilon_K \|X\|_F` for any block :math:`X`.

    A directed graph has eigenvalues off the real line, where Chebyshev polynomials grow. Its singular values are at
    most 1, so the series :math:`\alpha \sum_{k \le M} (1 - \alpha)^k A_n^k` is off by at most
    :math:`(1 - \alpha)^{M+1}`; :math:`M` is the smallest number that makes this at most :math:`\epsilon_K`.

    A product takes three blocks of memory at most, and a differentiated one stores nothing: the backward pass is the
    same polynomial of the transpose.

    Args:
        operator: The normalised adjacency :math:`A_n` ``(n, n)``.
        teleport: The probability :math:`\alpha`.
        order: The degree :math:`K`.
        symmetric: Whether :math:`A_n` is.
    """

    def __init__(self, operator: SparseOperator, teleport: float, order: int, *, symmetric: bool) -> None:
        self.operator, self.teleport, self.symmetric = operator, teleport, symmetric
        self.bound = chebyshev_bound(teleport, order)
        interpolate: Any = chebyshev.chebinterpolate
        self.coefficients = interpolate(lambda t: teleport / (1 - (1 - teleport) * t), order)
        self.products = diffusion_products(teleport, order, symmetric=symmetric)
        """Sparse products for one block."""

    def __call__(self, block: torch.Tensor) -> torch.Tensor:
        """Multiply ``(n, d)``."""
        return _Diffuse.apply(self, block)

    def multiply(self, matrix: torch.Tensor, block: torch.Tensor) -> torch.Tensor:
        """The polynomial of the matrix or its transpose, outside of any differentiation."""
        matrix = matrix.to(block.dtype)
        return self._chebyshev(matrix, block) if self.symmetric else self._series(matrix, block)

    def _chebyshev(self, matrix: torch.Tensor, block: torch.Tensor) -> torch.Tensor:
        before, now = block.clone(), matrix @ block  # T_0 X, T_1 X
        result = (self.coefficients[0] * block).add_(now, alpha=self.coefficients[1])
        for coefficient in self.coefficients[2:]:
            before, now = now, before.addmm_(matrix, now, beta=-1, alpha=2)
            result.add_(now, alpha=coefficient)
        return result

    def _series(self, matrix: torch.Tensor, block: torch.Tensor) -> torch.Tensor:
        result = self.teleport * block
        for _ in range(self.products):  # by Horner's rule
            result = block.clone().addmm_(matrix, result, beta=self.teleport, alpha=1 - self.teleport)
        return result


def chebyshev_bound(teleport: float, order: int) -> float:
    r"""The error :math:`\epsilon_K` of the interpolation, see :class:`Diffusion`."""
    root = math.sqrt(1 - (1 - teleport) ** 2)
    rho = (1 + root) / (1 - teleport)
    return 4 * teleport / root * rho**-order / (rho - 1)


def diffusion_products(teleport: float, order: int, *, symmetric: bool) -> int:
    """Sparse products of a :class:`Diffusion` for one block, one after another."""
    if symmetric:
        return order
    return max(1, math.ceil(math.log(chebyshev_bound(teleport, order)) / math.log1p(-teleport)) - 1)


class _Diffuse(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, diffusion: Diffusion, block: torch.Tensor) -> torch.Tensor:
        ctx.diffusion = diffusion
        return diffusion.multiply(diffusion.operator.matrix, block)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[None, torch.Tensor]:
        return None, ctx.diffusion.multiply(ctx.diffusion.operator.transposed, gradient.contiguous())
