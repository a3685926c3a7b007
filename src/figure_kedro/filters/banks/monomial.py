"""The standard basis, GPRGNN's bank."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import torch

from figure_kedro.filters.bank import BANKS, BankSettings, FilterBank, Propagate
from figure_kedro.filters.words import Words


class MonomialSettings(BankSettings):
    """Powers of the operator: I, A, A^2, and so on."""

    bank: Literal["monomial"] = "monomial"


@BANKS.register
class Monomial(FilterBank):
    r"""Powers of the normalised adjacency, the bank of "Adaptive Universal Generalized PageRank Graph Neural Network"
    (Chien et al., 2021) and the default of the FiGURe paper:

    .. math:: F_i = A_n^i, \quad h_i(\lambda) = (1 - \lambda)^i, \quad i = 0, \ldots, K - 1

    ``K - 1`` products, one block held at a time. An isolated node keeps its features under every filter if there are
    self-loops; without them every filter but the identity gives it zeros.
    """

    Settings = MonomialSettings
    title = "Standard basis"
    two_sided = True

    @classmethod
    def from_settings(cls, settings: MonomialSettings) -> FilterBank:  # type: ignore[override]
        """The powers of one direction, or :class:`~figure_kedro.filters.words.Words` in both."""
        return Words(settings) if settings.direction == "both" else cls(settings)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple(("I", "A")[i] if i < 2 else f"A^{i}" for i in range(self.size))

    def apply(self, propagate: Propagate, block: torch.Tensor) -> Iterator[torch.Tensor]:
        yield block
        for _ in range(1, self.size):
            block = propagate(block)
            yield block

    def response(self, eigenvalues: np.ndarray) -> np.ndarray:
        return (1.0 - eigenvalues) ** np.arange(self.size)[:, None]
