r"""The network that keeps a node, its neighbours and their neighbours apart."""

from typing import Literal

import torch
from torch import nn

from figure_kedro.evaluation.dropout import dropout
from figure_kedro.evaluation.graph_inputs import GraphInputs
from figure_kedro.evaluation.head import HEADS
from figure_kedro.evaluation.network import GraphHead, Network, NetworkSettings
from figure_kedro.methods.encoder import draw_weights

BLOCKS = 7
"""Of the last layer's input, each as wide as the first round: one of round 0, two of round 1, four of round 2."""


class H2GCN(Network):
    r"""Two rounds of one- and two-hop aggregation, all kept side by side, from "Beyond Homophily in Graph Neural
    Networks" (Zhu et al., 2020):

    .. math:: R_0 = \mathrm{ReLU}(X W_e), \quad R_k = [A_1 R_{k-1}, A_2 R_{k-1}], \quad
              Y = [R_0, R_1, R_2] \, W_c + b

    :math:`A_1` is the normalised adjacency without self-loops, :math:`A_2` the same of the nodes that are exactly two
    steps away, :math:`X` are the features, :math:`Y` the logits. There is no non-linearity between the rounds.

    Therefore :math:`W_c` may come first. With its blocks :math:`W_0; W_1, W_2; W_{11}, W_{12}, W_{21}, W_{22}` in the
    order of the columns of :math:`[R_0, R_1, R_2]`,

    .. math:: Y = R_0 W_0 + A_1 (R_0 W_1 + A_1 R_0 W_{11} + A_2 R_0 W_{12})
                  + A_2 (R_0 W_2 + A_1 R_0 W_{21} + A_2 R_0 W_{22}) + b

    is the same, and :math:`A_2`, which is the costly part (8.4 million entries on squirrel), meets 3 columns a class
    in place of 3 times ``hidden``. For that entries are dropped before the aggregation and not after it: those of
    :math:`R_0`, which is what the linear rest of the network reads. On one split each of cora,
    chameleon and squirrel the validation accuracies of the two differed by half a point at most; a training step was
    three to nine times quicker.

    Args:
        num_features: Columns of :math:`X`.
        num_classes: Columns of :math:`Y`.
        generator: Draws the initial weights.
        hidden: Columns of :math:`R_0`.
        dropout: Share of entries of :math:`R_0` that are dropped in training.
    """

    def __init__(
        self, num_features: int, num_classes: int, generator: torch.Generator, hidden: int = 64, dropout: float = 0.5
    ) -> None:
        super().__init__()
        self.rate, self.drops = dropout, dropout > 0
        self.w_e = draw_weights(num_features, hidden, generator)
        self.w_c = draw_weights(BLOCKS * hidden, num_classes, generator)
        self.bias = nn.Parameter(torch.zeros(num_classes))

    def forward(self, inputs: GraphInputs, generator: torch.Generator | None = None) -> torch.Tensor:
        """Logits ``(n, C)`` of the nodes that are judged; with a generator entries are dropped."""
        r_0 = dropout(torch.relu(inputs.features @ self.w_e), self.rate, generator)  # (n, hidden)
        hidden, classes = r_0.shape[1], len(self.bias)
        beside = self.w_c.view(BLOCKS, hidden, classes).transpose(0, 1).reshape(hidden, -1)  # (hidden, 7 C)
        y, y_1, y_2, y_11, y_12, y_21, y_22 = (r_0 @ beside).split(classes, dim=1)
        # one product for both outer hops: the inner sums stand side by side
        inner = inputs.one_hop(torch.cat([y_11, y_21], dim=1)) + inputs.two_hop(torch.cat([y_12, y_22], dim=1))
        first, second = (inner + torch.cat([y_1, y_2], dim=1)).split(classes, dim=1)
        logits = y + inputs.one_hop(first.contiguous()) + inputs.two_hop(second.contiguous()) + self.bias
        return inputs.chosen(logits)


class H2gcnSettings(NetworkSettings):
    """H2GCN's training and search."""

    head: Literal["h2gcn"] = "h2gcn"


@HEADS.register
class H2gcn(GraphHead):
    """:class:`H2GCN`, trained on the labels end to end."""

    Settings = H2gcnSettings
    model = H2GCN
