"""What every bank of graph filters can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator

import numpy as np
import torch
from numpy.polynomial import chebyshev

Propagate = Callable[[torch.Tensor], torch.Tensor]


class FilterBank(ABC):
    r"""A bank of :math:`K` filters :math:`F_i = h_i(L)`, polynomials of :math:`L = I - A_n`.

    A bank never forms :math:`F_i` as a matrix. It applies all filters to a block of columns by a recurrence in
    which the normalised adjacency appears only as a function that multiplies a block by :math:`A_n`; so the same
    bank serves a whole graph, a column block of a larger one, and the inside of a differentiated training step.

    A new bank is one new file in ``figure_kedro/filters/banks`` with a class named ``Bank``; the file's name is the
    bank's name in the settings.

    Args:
        size: The number of filters :math:`K`, at least 1; the largest degree is :math:`K - 1`.
    """

    def __init__(self, size: int) -> None:
        self.size = size

    @property
    @abstractmethod
    def names(self) -> tuple[str, ...]:
        """What each filter is called in tables and file names."""

    @abstractmethod
    def apply(self, propagate: Propagate, block: torch.Tensor) -> Iterator[torch.Tensor]:
        """Yield :math:`F_0 X, F_1 X, ...` in order.

        Args:
            propagate: Multiplies a block by the normalised adjacency.
            block: Columns to filter ``(n, d)``; it is not changed.
        """

    @abstractmethod
    def response(self, eigenvalues: np.ndarray) -> np.ndarray:
        r"""Evaluate :math:`h_i(\lambda)` at eigenvalues of :math:`L` in [0, 2]; returns ``(K, len(eigenvalues))``."""

    @property
    def working_blocks(self) -> int:
        """Blocks that a differentiated application holds at a time beside one for each filter; for estimates."""
        return 3

    @property
    def identities(self) -> tuple[bool, ...]:
        """Which filters return their input unchanged on every graph; training leaves these out."""
        spectrum = np.linspace(0.0, 2.0, self.size + 1)  # K + 1 points fix a polynomial of degree K - 1
        return tuple(bool(np.allclose(row, 1.0)) for row in self.response(spectrum))


def chebyshev_coefficients(bank: FilterBank) -> np.ndarray:
    r"""Write every filter in Chebyshev polynomials: :math:`h_i(\lambda) = \sum_j C_{ij} T_j(\lambda - 1)`.

    A filter whose response stays within [-1, 1] has coefficients below 2 in magnitude, whatever its degree.

    Returns:
        :math:`C`, ``(K, K)``.
    """
    nodes = chebyshev.chebpts1(bank.size)
    return np.linalg.solve(chebyshev.chebvander(nodes, bank.size - 1), bank.response(nodes + 1.0).T).T
