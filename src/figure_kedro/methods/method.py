"""What the estimator needs of a method that learns node embeddings."""

from abc import ABC, abstractmethod
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
from torch import nn

from figure_kedro.filters import FilterBank
from figure_kedro.graph import Graph
from figure_kedro.methods.decoupled import Allocate
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.training.loop import Objective


class Method(ABC):
    """A model, the objective that trains it, and the embeddings that it gives.

    Fitting, saving and restoring are the same for all methods
    (:class:`~figure_kedro.estimator.Representation`), and so are epochs, early stop and checkpoints
    (:func:`~figure_kedro.training.loop.train`). A method only says what differs.

    Args:
        settings: Of the method, with its dimension and seed.
        bank: The filters; a method that has no use for a bank leaves it alone.
    """

    needs_features: ClassVar[bool] = True
    """Whether the graph must have features; one without gets structural ones first."""

    inductive: ClassVar[bool] = True
    """Whether the weights can embed another graph; otherwise only the nodes of the one that was trained on."""

    chance_loss: ClassVar[float | None] = None
    """The loss of a model that has learnt nothing, if that is known."""

    def __init__(self, settings: RepresentationSettings, bank: FilterBank) -> None:
        self.settings, self.bank = settings, bank

    @property
    @abstractmethod
    def views(self) -> tuple[str, ...]:
        """Names of the embeddings that a node gets: one for each filter, or a single one."""

    @abstractmethod
    def build(self, num_nodes: int, num_features: int) -> nn.Module:
        """A model with freshly drawn weights; the same seed gives the same weights."""

    def objective(
        self, model: nn.Module, graph: Graph, matrix: sp.csr_array, device: torch.device, allocate: Allocate | None
    ) -> Objective | None:
        """What is minimised to train the model, which is on the device already; ``None`` trains nothing.

        Args:
            model: From :meth:`build`.
            graph: With features if the method needs them; its labels are not looked at.
            matrix: Its normalised adjacency.
            device: Where training runs.
            allocate: Makes arrays that may be too large for memory.
        """
        return None

    @abstractmethod
    def embed(self, model: nn.Module, graph: Graph, matrix: sp.csr_array) -> Iterator[np.ndarray]:
        """Yield the embedding ``(n, width)``, float32, of every view, one at a time."""

    def width(self, num_features: int) -> int:
        """Columns of an embedding."""
        return self.settings.dim

    def generator(self) -> torch.Generator:
        """Draws the initial weights."""
        return torch.Generator().manual_seed(self.settings.training.seed)
