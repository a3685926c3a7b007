"""DGI: FiGURe's ancestor, with the adjacency as its only filter."""

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
import torch

from figure_kedro.filters import BankSettings, FilterBank, Propagate
from figure_kedro.methods.kinds.figure import Figure, FigureSettings
from figure_kedro.methods.method import METHODS


class DgiSettings(FigureSettings):
    """Those of FiGURe; the bank of filters is not read."""

    method: Literal["dgi"] = "dgi"  # type: ignore[assignment]


class Adjacency(FilterBank):
    """The single filter :math:`A_n`, without the identity."""

    title = "Adjacency"
    names = ("A",)
    degree = 1

    def __init__(self) -> None:
        super().__init__(BankSettings(bank="adjacency", size=1))

    def apply(self, propagate: Propagate, block: torch.Tensor) -> Iterator[torch.Tensor]:
        yield propagate(block)

    def response(self, eigenvalues: np.ndarray) -> np.ndarray:
        return 1.0 - eigenvalues[None]


@METHODS.register
class Dgi(Figure):
    r""" "Deep Graph Infomax" (Velickovic et al., 2019): tell nodes of the graph from corrupted ones by their fit to a
    summary of the whole graph,

    .. math:: \mathcal{L} = -\frac{1}{2n} \sum_k \log D(h_k, c) + \log(1 - D(\tilde h_k, c)), \quad
              H = \mathrm{PReLU}(A_n (X \Theta + b)), \quad c = \sigma\Big(\frac{1}{n} \sum_k h_k\Big)

    with :math:`D(h, c) = \sigma(h^T W c)` and :math:`\tilde H` from features in another order. This is FiGURe with the
    single filter :math:`A_n`, and computed as that.
    """

    Settings = DgiSettings
    reads: ClassVar[frozenset[str]] = frozenset({"features", "operator"})

    def __init__(self, settings: DgiSettings, bank: FilterBank) -> None:
        super().__init__(settings, Adjacency())
