"""Words in the two directions of a directed graph."""

from collections.abc import Iterator
from itertools import product
from typing import ClassVar

import numpy as np
import torch

from figure_kedro.filters.bank import BankSettings, FilterBank, Propagate

LETTERS = ("A", "A^T")


class Words(FilterBank):
    r"""All products of the normalised adjacency and its transpose up to a length:

    .. math:: F_w = w_1 w_2 \cdots w_l, \quad w_j \in \{A_n, A_n^T\}, \quad l = 0, \ldots, K - 1

    the monomial bank of a directed graph in both directions: :math:`A_n` looks at the nodes that a node points to,
    :math:`A_n^T` at those that point at it, and :math:`A_n A_n^T` at those that point where it points. A word of
    :math:`l` letters is a letter times a word of :math:`l - 1`, so that every word takes one product; the words of one
    length are held at a time.

    The singular values of :math:`A_n` are at most 1, and a word of :math:`l` letters scales no vector by more than
    :math:`\sigma^l` of the largest one; that is what is drawn. A node without edges keeps its features under every word
    if there are self-loops, and gets zeros without them; so does a node that no edge leaves for a word that begins with
    :math:`A_n`, and one that no edge enters for one that begins with :math:`A_n^T`.

    Args:
        settings: Their ``size`` is :math:`K`; there are :math:`2^K - 1` words.
    """

    title: ClassVar[str] = "Words in both directions"
    two_sided: ClassVar[bool] = True
    axis: ClassVar[tuple[str, float, float]] = (r"singular value $\sigma$ of $A_n$", 0.0, 1.0)

    def __init__(self, settings: BankSettings) -> None:
        super().__init__(settings)
        self.words = [word for length in range(settings.size) for word in product((0, 1), repeat=length)]
        self.size = len(self.words)

    @property
    def names(self) -> tuple[str, ...]:
        return tuple("".join(LETTERS[letter] for letter in word) or "I" for word in self.words)

    @property
    def degree(self) -> int:
        return self.settings.size - 1

    @property
    def products(self) -> int:
        return self.size - 1

    @property
    def working_blocks(self) -> int:
        return 2 ** max(self.degree - 1, 0) + 3

    def apply(self, propagate: Propagate, block: torch.Tensor) -> Iterator[torch.Tensor]:
        back: Propagate = propagate.back  # type: ignore[attr-defined]
        level = [block]
        yield block
        for length in range(1, self.degree + 1):
            before, level = level, []
            for letter in (propagate, back):  # the first letter of a word is applied last
                for shorter in before:
                    longer = letter(shorter)
                    if length < self.degree:
                        level.append(longer)
                    yield longer

    def response(self, eigenvalues: np.ndarray) -> np.ndarray:
        lengths = np.array([len(word) for word in self.words])[:, None]
        return np.asarray(eigenvalues) ** lengths

    @property
    def identities(self) -> tuple[bool, ...]:
        return tuple(not word for word in self.words)
