"""A network with a hidden layer on the combined embeddings, the paper's next step."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal

import numpy as np
import torch
from torch import nn

from figure_kedro.embeddings import Embeddings
from figure_kedro.evaluation.dropout import dropout
from figure_kedro.evaluation.head import HEADS, Final
from figure_kedro.evaluation.network import Network, NetworkHead, NetworkSettings, Trained, Value
from figure_kedro.evaluation.views import Views
from figure_kedro.methods.encoder import draw_weights
from figure_kedro.projections import Projection
from figure_kedro.training.device import pick_device
from figure_kedro.tuning.study import Space


class MlpSettings(NetworkSettings):
    """The network's training and search."""

    ranges: ClassVar[Mapping[str, tuple[Value, ...]]] = {**NetworkSettings.ranges, "hidden": (64, 256)}

    head: Literal["mlp"] = "mlp"


@dataclass(frozen=True)
class ViewInputs:
    """Projected views of the nodes that are judged.

    Args:
        views: All views, projected as a choice asks.
        device: Where the network is trained.
    """

    views: Views
    device: torch.device


class CombinedMLP(Network):
    r"""A perceptron on the learnt combination of views:

    .. math:: Y = \mathrm{ReLU}\Big(\frac{1}{s} \sum_i \alpha_i \phi(E_i) \, W_1 + b_1\Big) W_2 + b_2

    with :math:`\phi(E_i)` the projected embeddings under filter :math:`i`, :math:`\alpha` learnt with the weights from
    equal values on, and :math:`s` the root mean square of all entries, so that the scale of embeddings does not matter.

    Args:
        blocks: :math:`\phi(E_i)`, ``(n, D)`` each.
        names: Of the filters.
        num_classes: Columns of :math:`Y`.
        generator: Draws the initial weights.
        hidden: Columns of the hidden layer.
        dropout: Share of hidden entries that are dropped in training.
    """

    undecayed = ("alpha",)

    def __init__(
        self,
        blocks: list[torch.Tensor],
        names: tuple[str, ...],
        num_classes: int,
        generator: torch.Generator,
        hidden: int = 64,
        dropout: float = 0.5,
    ) -> None:
        super().__init__()
        self.rate, self.drops, self.names = dropout, dropout > 0, names
        self.blocks = blocks
        self.scale = max(float(torch.stack([block.square().mean() for block in blocks]).mean().sqrt()), 1e-12)
        self.alpha = nn.Parameter(torch.full((len(blocks),), len(blocks) ** -0.5))
        self.w_1 = draw_weights(blocks[0].shape[1], hidden, generator)
        self.w_2 = draw_weights(hidden, num_classes, generator)
        self.b_1, self.b_2 = nn.Parameter(torch.zeros(hidden)), nn.Parameter(torch.zeros(num_classes))

    def forward(self, inputs: ViewInputs, generator: torch.Generator | None = None) -> torch.Tensor:
        """Logits ``(n, C)``; with a generator entries are dropped."""
        weights = self.w_1 / self.scale
        parts = [a * (block @ weights) for a, block in zip(self.alpha, self.blocks, strict=True)]
        hidden = torch.relu(torch.stack(parts).sum(0) + self.b_1)  # (n, hidden)
        return dropout(hidden, self.rate, generator) @ self.w_2 + self.b_2

    def coefficients(self) -> dict[str, float]:
        return dict(zip(self.names, self.alpha.tolist(), strict=True))


@HEADS.register
class Mlp(NetworkHead):
    """:class:`CombinedMLP` on the projected embeddings of all filters."""

    Settings = MlpSettings
    settings: MlpSettings
    keeps = True

    def inputs(self, embeddings: Embeddings, projection: Projection, nodes: np.ndarray) -> ViewInputs:
        views = Views(embeddings.rows(nodes), projection, embeddings.names)
        return ViewInputs(views, pick_device(self.settings.device))

    def space(self, inputs: ViewInputs) -> Space:
        return super().space(inputs) | inputs.views.choices

    def network(
        self, inputs: ViewInputs, num_classes: int, generator: torch.Generator, choice: dict[str, Any]
    ) -> CombinedMLP:
        blocks = [block.to(inputs.device) for block in inputs.views.projected(choice)]
        own = {name: value for name, value in choice.items() if name not in inputs.views.choices}
        return CombinedMLP(blocks, inputs.views.names, num_classes, generator, **own)

    def _kept(self, trained: Trained, inputs: ViewInputs, rows: np.ndarray) -> Final:
        network = trained.network
        assert isinstance(network, CombinedMLP)
        weights = {name: value.cpu() for name, value in network.state_dict().items()}
        return Final(trained.classes, rows, weights | {"scale": torch.tensor(network.scale, dtype=torch.float64)})

    @torch.no_grad()
    def logits(self, weights: Mapping[str, torch.Tensor], views: list[torch.Tensor]) -> torch.Tensor:
        hidden, classes = weights["w_2"].shape
        names = tuple(map(str, range(len(views))))
        network = CombinedMLP(views, names, classes, torch.Generator(), hidden=hidden, dropout=0.0)
        network.load_state_dict({name: value for name, value in weights.items() if name != "scale"})
        network.scale = float(weights["scale"])
        return network(None)
