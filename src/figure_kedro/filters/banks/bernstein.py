"""Bernstein polynomials, BernNet's bank."""

from collections.abc import Iterator
from math import comb
from typing import Literal

import numpy as np
import torch

from figure_kedro.filters.bank import BANKS, BankSettings, FilterBank, Propagate, chebyshev_coefficients
from figure_kedro.filters.banks.chebyshev import Chebyshev, ChebyshevSettings


class BernsteinSettings(BankSettings):
    """Bernstein polynomials: filters that add up to the identity, each with a hill of its own."""

    bank: Literal["bernstein"] = "bernstein"


@BANKS.register
class Bernstein(FilterBank):
    r"""Bernstein polynomials of the Laplacian, after "BernNet: Learning Arbitrary Graph Spectral Filters via Bernstein
    Approximation" (He et al., 2021):

    .. math:: F_i = \frac{1}{2^{K-1}} \binom{K-1}{i} (2I - L)^{K-1-i} L^i, \quad \sum_i F_i = I

    Written out, the bank costs :math:`K^2/2` products. Each :math:`F_i` is a combination of the Chebyshev polynomials
    :math:`T_0, \ldots, T_{K-1}` with coefficients below 2 in magnitude, so ``K - 1`` products and ``K`` blocks
    suffice, with no loss of precision (the monomials would lose about three digits at :math:`K = 11`). An isolated
    node without self-loops has :math:`L = I` and gets the share :math:`\binom{K-1}{i} / 2^{K-1}` of its features.
    """

    Settings = BernsteinSettings
    title = "Bernstein basis"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"B_{i}" for i in range(self.size))

    @property
    def working_blocks(self) -> int:
        return self.size + 5

    def apply(self, propagate: Propagate, block: torch.Tensor) -> Iterator[torch.Tensor]:
        coefficients = chebyshev_coefficients(self).tolist()
        filtered: list[torch.Tensor] = []
        for j, term in enumerate(Chebyshev(ChebyshevSettings(size=self.size)).apply(propagate, block)):
            if j == 0:
                filtered = [term * row[0] for row in coefficients]
            else:
                filtered = [f.add(term, alpha=row[j]) for f, row in zip(filtered, coefficients, strict=True)]
        yield from filtered

    def response(self, eigenvalues: np.ndarray) -> np.ndarray:
        degree = self.size - 1
        i = np.arange(self.size)[:, None]
        binomials = np.array([comb(degree, k) for k in range(self.size)], dtype=float)[:, None]
        half = eigenvalues / 2.0
        return binomials * (1.0 - half) ** (degree - i) * half**i
