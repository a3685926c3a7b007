r"""The generalised PageRank graph neural network."""

from collections.abc import Mapping
from typing import ClassVar, Literal

import torch
from pydantic import Field
from torch import nn

from figure_kedro.evaluation.dropout import dropout
from figure_kedro.evaluation.graph_inputs import GraphInputs
from figure_kedro.evaluation.head import HEADS
from figure_kedro.evaluation.network import Choice, GraphHead, Network, NetworkSettings, Value
from figure_kedro.methods.encoder import draw_weights


class GPRGNN(Network):
    r"""A network on the features alone whose output is filtered by a learnt polynomial, from "Adaptive Universal
    Generalized PageRank Graph Neural Network" (Chien et al., 2021):

    .. math:: Y = \sum_{k=0}^{K} \gamma_k A_n^k H, \quad H = \mathrm{ReLU}(X W_1 + b_1) \, W_2 + b_2

    :math:`A_n = D^{-1/2} (A + I) D^{-1/2}` is the normalised adjacency, :math:`X` are the features, :math:`Y` the
    logits. The coefficients :math:`\gamma` are learnt freely, negative ones included, without weight decay. They start
    as those of personalised PageRank: :math:`\gamma_k = \alpha (1 - \alpha)^k` and
    :math:`\gamma_K = (1 - \alpha)^K`, which add up to 1.

    The published model also drops entries of :math:`X`; here the first entries to be dropped are those after
    :math:`W_1`, so that a sparse :math:`X` stays a constant with a quick product.

    Args:
        num_features: Columns of :math:`X`.
        num_classes: Columns of :math:`Y`.
        generator: Draws the initial weights.
        hidden: Columns of the hidden layer.
        dropout: Share of entries of the hidden layer that are dropped in training.
        propagation_dropout: Share of entries of :math:`H` that are dropped in training.
        alpha: :math:`\alpha`, between 0 and 1; small values look far.
        steps: :math:`K`.
    """

    undecayed = ("gamma",)

    def __init__(
        self,
        num_features: int,
        num_classes: int,
        generator: torch.Generator,
        hidden: int = 64,
        dropout: float = 0.5,
        propagation_dropout: float = 0.5,
        alpha: float = 0.1,
        steps: int = 10,
    ) -> None:
        super().__init__()
        self.rate, self.propagation_rate = dropout, propagation_dropout
        self.drops = max(dropout, propagation_dropout) > 0
        self.w_1, self.w_2 = draw_weights(num_features, hidden, generator), draw_weights(hidden, num_classes, generator)
        self.b_1, self.b_2 = nn.Parameter(torch.zeros(hidden)), nn.Parameter(torch.zeros(num_classes))
        gamma = alpha * (1 - alpha) ** torch.arange(steps + 1, dtype=torch.float32)
        gamma[-1] = (1 - alpha) ** steps
        self.gamma = nn.Parameter(gamma)

    def forward(self, inputs: GraphInputs, generator: torch.Generator | None = None) -> torch.Tensor:
        """Logits ``(n, C)`` of the nodes that are judged; with a generator entries are dropped."""
        hidden = dropout(torch.relu(inputs.features @ self.w_1 + self.b_1), self.rate, generator)  # (n, hidden)
        powers = [dropout(hidden @ self.w_2 + self.b_2, self.propagation_rate, generator)]  # (n, C)
        for _ in range(len(self.gamma) - 1):
            powers.append(inputs.adjacency(powers[-1]))
        return inputs.chosen((self.gamma @ torch.stack(powers).flatten(1)).view_as(powers[0]))

    def coefficients(self) -> dict[str, float]:
        r"""The learnt :math:`\gamma`, each with the name of its power."""
        return {f"A^{k}": value for k, value in enumerate(self.gamma.tolist())}


class GprgnnChoice(Choice):
    """GPRGNN has more to choose."""

    propagation_dropout: float = Field(0.5, ge=0, lt=1, description="share of entries dropped before the filter")
    alpha: float = Field(0.1, gt=0, lt=1, description="the coefficients start as personalised PageRank's with it")
    steps: int = Field(10, ge=1, description="the highest power of the adjacency")


class GprgnnSettings(NetworkSettings):
    """GPRGNN's training and search."""

    choice = GprgnnChoice
    ranges: ClassVar[Mapping[str, tuple[Value, ...]]] = {
        **NetworkSettings.ranges,
        "propagation_dropout": (0.5, 0.0),
        "alpha": (0.1, 0.5, 0.9),
    }

    head: Literal["gprgnn"] = "gprgnn"


@HEADS.register
class Gprgnn(GraphHead):
    """:class:`GPRGNN`, trained on the labels end to end."""

    Settings = GprgnnSettings
    model = GPRGNN
