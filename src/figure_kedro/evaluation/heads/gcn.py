r"""The graph convolutional network."""

from typing import Literal

import torch
from torch import nn

from figure_kedro.evaluation.dropout import dropout
from figure_kedro.evaluation.graph_inputs import GraphInputs
from figure_kedro.evaluation.head import HEADS
from figure_kedro.evaluation.network import GraphHead, Network, NetworkSettings
from figure_kedro.methods.encoder import draw_weights


class GCN(Network):
    r"""Two graph convolutions, from "Semi-Supervised Classification with Graph Convolutional Networks" (Kipf and
    Welling, 2017):

    .. math:: Y = A_n \, \mathrm{ReLU}(A_n X W_1 + b_1) \, W_2 + b_2

    :math:`A_n = D^{-1/2} (A + I) D^{-1/2}` is the normalised adjacency, :math:`X` are the features, :math:`Y` the
    logits. The published model drops entries of :math:`X`; here entries of :math:`X W_1` are dropped in their place,
    so that a sparse :math:`X` stays a constant with a quick product, and entries of the hidden layer as published.

    With the same weights the logits equal those of two ``GCNConv`` layers of PyTorch Geometric. Those take dense
    features and add up messages edge by edge, forward and backward; this one multiplies sparse features and a constant
    adjacency whose transpose is at hand. An epoch on cora took 5.5 times as long with ``GCNConv`` on one thread, both
    without dropout, and 17 times with it.

    Args:
        num_features: Columns of :math:`X`.
        num_classes: Columns of :math:`Y`.
        generator: Draws the initial weights.
        hidden: Columns of the hidden layer.
        dropout: Share of entries that are dropped in training.
    """

    def __init__(
        self, num_features: int, num_classes: int, generator: torch.Generator, hidden: int = 64, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.rate, self.drops = dropout, dropout > 0
        self.w_1, self.w_2 = draw_weights(num_features, hidden, generator), draw_weights(hidden, num_classes, generator)
        self.b_1, self.b_2 = nn.Parameter(torch.zeros(hidden)), nn.Parameter(torch.zeros(num_classes))

    def forward(self, inputs: GraphInputs, generator: torch.Generator | None = None) -> torch.Tensor:
        """Logits ``(n, C)`` of the nodes that are judged; with a generator entries are dropped."""
        transformed = dropout(inputs.features @ self.w_1, self.rate, generator)  # (n, hidden)
        hidden = dropout(torch.relu(inputs.adjacency(transformed) + self.b_1), self.rate, generator)
        return inputs.chosen(inputs.adjacency(hidden @ self.w_2) + self.b_2)


class GcnSettings(NetworkSettings):
    """GCN's training and search."""

    head: Literal["gcn"] = "gcn"


@HEADS.register
class Gcn(GraphHead):
    """:class:`GCN`, trained on the labels end to end."""

    Settings = GcnSettings
    model = GCN
