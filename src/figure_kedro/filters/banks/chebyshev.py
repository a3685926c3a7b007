"""Chebyshev polynomials, ChebNet's bank."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import torch
from numpy.polynomial import chebyshev

from figure_kedro.filters.bank import BANKS, BankSettings, FilterBank, Propagate


class ChebyshevSettings(BankSettings):
    """Chebyshev polynomials: bounded at any order on undirected graphs."""

    bank: Literal["chebyshev"] = "chebyshev"


@BANKS.register
class Chebyshev(FilterBank):
    r"""Chebyshev polynomials of the shifted Laplacian, after "Convolutional Neural Networks on Graphs with Fast
    Localized Spectral Filtering" (Defferrard et al., 2016):

    .. math:: F_i = T_i(L - I), \quad T_0 = I, \; T_1(x) = x, \; T_i(x) = 2 x T_{i-1}(x) - T_{i-2}(x)

    With :math:`L - I = -A_n`, ``K - 1`` products and two blocks held. On undirected graphs responses stay within
    [-1, 1] at any order. An isolated node without self-loops has :math:`A_n` zero and gets :math:`T_i(0)`: its
    features, zeros, or their negative, in turn.
    """

    Settings = ChebyshevSettings
    title = "Chebyshev basis"

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(f"T_{i}" for i in range(self.size))

    @property
    def caution(self) -> str | None:
        if self.size <= 4:
            return None
        return (
            f"Chebyshev filters of a directed graph are not bounded by 1: norms of 32 were seen at order 10, and these "
            f"go to order {self.degree}; take fewer filters, or filters.bank=monomial"
        )

    @property
    def working_blocks(self) -> int:
        return 6

    def apply(self, propagate: Propagate, block: torch.Tensor) -> Iterator[torch.Tensor]:
        before, now = None, block  # T_{i-2} X, T_{i-1} X
        yield now
        for i in range(1, self.size):
            product = propagate(now)
            before, now = now, (-product if i == 1 else -2 * product - before)
            yield now

    def response(self, eigenvalues: np.ndarray) -> np.ndarray:
        return chebyshev.chebvander(eigenvalues - 1.0, self.size - 1).T
