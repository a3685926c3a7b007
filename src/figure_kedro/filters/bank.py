"""What every bank of graph filters can do."""

import re
from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator
from typing import ClassVar, Literal, Self

import numpy as np
import torch
from numpy.polynomial import chebyshev
from pydantic import Field, model_validator

from figure_kedro.parts import Kind, Part, Settings

Propagate = Callable[[torch.Tensor], torch.Tensor]
"""Multiplies a block of columns ``(n, d)`` by the normalised adjacency."""


MOST_LETTERS = 8
"""The largest size of a bank in both directions, whose words double with every letter."""


class BankSettings(Settings):
    """The filter bank, and the operator that its filters are polynomials of.

    The settings of every bank; one with settings of its own adds them.
    """

    bank: str = Field(description="name of the filter bank")
    size: int = Field(4, ge=1, le=64, description="number of filters K, the identity included")
    self_loops: bool = Field(True, description="whether the operator is D^-1/2 (A + I) D^-1/2 or without I")
    loop_weight: float = Field(1.0, gt=0, le=1e6, description="weight of a self-loop; an edge has its own, mostly 1")
    direction: Literal["auto", "ignore", "out", "in", "both"] = Field(
        "auto",
        description="of the edges of a directed graph: ignore it, look at those a node points to (out), at those that "
        "point at it (in), or at both; auto is out for a directed graph and ignore for others",
    )

    def idle(self) -> Collection[str]:
        return () if self.self_loops else ("loop_weight",)

    @model_validator(mode="after")
    def _both_directions_need_words(self) -> Self:
        if self.direction == "both" and not BANKS.part(self).two_sided:
            raise ValueError(f"the bank {self.bank} has one direction; choose out or in, or filters.bank=monomial")
        if self.direction == "both" and self.size > MOST_LETTERS:
            raise ValueError(f"size {self.size} in both directions makes {2**self.size - 1} words; choose 2 to 8")
        return self


class FilterBank(Part, ABC):
    r"""A bank of :math:`K` filters :math:`F_i = h_i(L)`, polynomials of :math:`L = I - A_n`.

    A bank never forms :math:`F_i` as a matrix. It applies all filters to a block of columns by a recurrence in
    which the normalised adjacency appears only as a function that multiplies a block by :math:`A_n`; so the same
    bank serves a whole graph, a column block of a larger one, and the inside of a differentiated training step.

    A new bank is one new file in ``figure_kedro/filters/banks`` with its settings and a class that registers itself.

    Args:
        settings: Its ``size`` is the number of filters :math:`K`; the largest degree is :math:`K - 1`.

    Attributes:
        title: What the bank is called in pictures.
        two_sided: Whether it can use both directions of a directed graph.
        axis: What its responses are drawn over, and from where to where.
    """

    title: ClassVar[str]
    two_sided: ClassVar[bool] = False
    axis: ClassVar[tuple[str, float, float]] = (r"eigenvalue $\lambda$ of the Laplacian", 0.0, 2.0)

    def __init__(self, settings: BankSettings) -> None:
        self.settings, self.size = settings, settings.size

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
    def labels(self) -> tuple[str, ...]:
        """The names as mathtext, for pictures."""
        return tuple(mathtext(name) for name in self.names)

    @property
    def degree(self) -> int:
        """The largest degree of a filter."""
        return self.size - 1

    @property
    def products(self) -> int:
        """Products with the normalised adjacency that all filters take together."""
        return self.degree

    @property
    def caution(self) -> str | None:
        """What to know before the bank is used on a directed graph, if there is anything."""
        return None

    @property
    def working_blocks(self) -> int:
        """Blocks that a differentiated application holds at a time beside one for each filter; for estimates."""
        return 3

    @property
    def identities(self) -> tuple[bool, ...]:
        """Which filters return their input unchanged on every graph; training leaves these out."""
        spectrum = np.linspace(0.0, 2.0, self.degree + 2)  # one point more than fixes a polynomial of this degree
        return tuple(bool(np.allclose(row, 1.0)) for row in self.response(spectrum))


BANKS: Kind[FilterBank] = Kind("filter bank", tag="bank", package="figure_kedro.filters.banks", default="monomial")


def build_bank(name: str, size: int = 4) -> FilterBank:
    """Build the bank of that name with ``size`` filters."""
    return BANKS.build(BANKS.parse({"bank": name, "size": size}))


def mathtext(name: str) -> str:
    """The name of a filter as mathtext that raises all digits; other names stay as they are.

    >>> mathtext("A^10"), mathtext("A^TA"), mathtext("walks")
    ('$A^{10}$', '$A^{T}A$', 'walks')
    """
    if not re.fullmatch(r"([A-Z]([\^_](\d+|T))?)+", name):
        return name.replace("$", r"\$")
    return "$" + re.sub(r"([\^_])(\d+|T)", r"\1{\2}", name) + "$"


def chebyshev_coefficients(bank: FilterBank) -> np.ndarray:
    r"""Write every filter in Chebyshev polynomials: :math:`h_i(\lambda) = \sum_j C_{ij} T_j(\lambda - 1)`.

    A filter whose response stays within [-1, 1] has coefficients below 2 in magnitude, whatever its degree.

    Returns:
        :math:`C`, ``(K, degree + 1)``.
    """
    nodes = chebyshev.chebpts1(bank.degree + 1)
    return np.linalg.solve(chebyshev.chebvander(nodes, bank.degree), bank.response(nodes + 1.0).T).T
