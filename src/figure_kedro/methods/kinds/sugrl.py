r"""SUGRL: anchors from features alone, positives from the graph, negatives from other nodes, kept apart by margins."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from pydantic import Field
from sklearn.preprocessing import normalize
from torch import nn

from figure_kedro.filters import Operator, SparseOperator, oriented
from figure_kedro.graph import Graph
from figure_kedro.graph.graph import Features
from figure_kedro.methods.contrast import CACHE_ENTRIES
from figure_kedro.methods.feature_dropout import DroppedFeatures, FeatureDropout
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.method import METHODS, Allocate, Method, TrainedSettings


class SugrlSettings(TrainedSettings):
    """What positives and negatives are, and the margins between them."""

    ranges: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "training.learning_rate": (1e-4, 1e-3, 1e-2),
        "margin": (0.2, 0.5, 0.8),
        "bound": (0.1, 0.2, 0.5),
    }

    method: Literal["sugrl"] = "sugrl"
    hidden_layers: int = Field(0, ge=0, le=3, description="layers of the network before its last one")
    dropout: float = Field(0.2, ge=0, lt=1, description="of the features")
    neighbours: int = Field(5, ge=1, description="neighbours drawn for a node's second positive")
    negatives: int = Field(5, ge=1, description="permutations per epoch")
    margin: float = Field(0.8, ge=0, description="how much farther a negative must be than a positive")
    bound: float = Field(0.2, ge=0, description="how much farther than that it may be")
    weight_structure: float = Field(5.0, ge=0, description="of the loss with structural positives")
    weight_neighbours: float = Field(5.0, ge=0, description="of the loss with neighbour positives")


@METHODS.register
class Sugrl(Method):
    r"""From "Simple Unsupervised Graph Representation Learning" (Mo et al., 2022).

    The anchors :math:`H = \mathrm{MLP}(X)` do not see the graph; :math:`H^+ = A_n H`, a graph convolution with the
    same weights, does and is the embedding, its rows divided by their length as the authors do. :func:`multiplet_loss`
    draws an anchor to :math:`H^+` and to the mean of a few neighbours' anchors, and keeps it from the anchors of other
    nodes.

    The margins are distances, so the scale of the features matters: rows of :math:`X` are divided by their length
    first, as the authors divide by the sum of their entries. Rows of zeros stay so.
    """

    Settings = SugrlSettings

    @property
    def views(self) -> tuple[str, ...]:
        return ("sugrl",)

    def build(self, num_nodes: int, num_features: int) -> "SugrlModel":
        return SugrlModel(num_features, self.settings.dim, self.settings.hidden_layers, self.generator())

    def objective(
        self,
        model: "SugrlModel",
        graph: Graph,
        operator: Operator,
        device: torch.device,
        allocate: Allocate | None,
    ) -> "SugrlObjective":
        features = normalize(graph.features)
        return SugrlObjective(
            model, features, operator.on(device), oriented(graph, operator.filters), self.settings, device
        )

    @torch.no_grad()
    def embed(self, model: "SugrlModel", graph: Graph, operator: Operator) -> Iterator[np.ndarray]:
        device = model.biases[0].device
        anchors = model(FeatureMatrix(normalize(graph.features), device, differentiable=False))
        yield F.normalize(operator.on(device, differentiable=False)(anchors)).cpu().numpy()

    def hops(self, operator: Operator) -> int:
        return 1


class SugrlModel(nn.Module):
    """The network that makes anchors of features: linear maps with ReLU between them.

    Args:
        num_features: Columns of the features.
        dim: Columns of an embedding, and of the hidden layers.
        hidden_layers: How many; without any the network is one linear map.
        generator: Draws the initial weights.
    """

    def __init__(self, num_features: int, dim: int, hidden_layers: int, generator: torch.Generator) -> None:
        super().__init__()
        rows = [num_features] + hidden_layers * [dim]
        self.weights = nn.ParameterList(nn.init.xavier_uniform_(torch.empty(n, dim), generator=generator) for n in rows)
        self.biases = nn.ParameterList(torch.zeros(dim) for _ in rows)

    def forward(self, features: FeatureMatrix | DroppedFeatures | torch.Tensor) -> torch.Tensor:
        """The anchors ``(n, d)``."""
        hidden = features @ self.weights[0] + self.biases[0]
        for weights, bias in zip(self.weights[1:], self.biases[1:], strict=True):
            hidden = F.relu(hidden) @ weights + bias
        return hidden


class SugrlObjective:
    """The loss on the whole graph, with fresh dropout, neighbours and negatives in every epoch.

    Args:
        module: The model to train.
        features: Of all nodes ``(n, f)``.
        operator: The normalised adjacency.
        adjacency: Whose rows hold the neighbours that are drawn.
        settings: Of the method.
        device: Where the module is.
    """

    def __init__(
        self,
        module: SugrlModel,
        features: Features,
        operator: SparseOperator,
        adjacency: sp.csr_array,
        settings: SugrlSettings,
        device: torch.device,
    ) -> None:
        self.module, self._operator, self._settings, self._device = module, operator, settings, device
        self._dropout = FeatureDropout(features, settings.dropout, device)
        self._first = torch.from_numpy(adjacency.indptr[:-1].astype(np.int64))
        self._degrees = torch.from_numpy(np.diff(adjacency.indptr).astype(np.int64))
        self._neighbours = torch.from_numpy(adjacency.indices.astype(np.int64))

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        n = len(self._degrees)
        anchors = self.module(self._dropout(generator))
        drawn = self.draw_neighbours(generator).to(self._device)
        orders = [torch.randperm(n, generator=generator).to(self._device) for _ in range(self._settings.negatives)]
        yield multiplet_loss(anchors, self._operator(anchors), drawn, orders, self._settings)

    def draw_neighbours(self, generator: torch.Generator) -> torch.Tensor:
        """Neighbours of every node ``(n, m)``, uniformly and with replacement; a node without any gets itself."""
        n, m = len(self._degrees), self._settings.neighbours
        offsets = (torch.rand(n, m, generator=generator, dtype=torch.float64) * self._degrees[:, None]).long()
        alone = (self._degrees == 0)[:, None]
        places = (self._first[:, None] + offsets).masked_fill(alone, 0)
        itself = torch.arange(n)[:, None].expand(n, m)
        return torch.where(alone, itself, self._neighbours[places]) if len(self._neighbours) else itself


def multiplet_loss(
    anchors: torch.Tensor,
    structural: torch.Tensor,
    neighbours: torch.Tensor,
    orders: list[torch.Tensor],
    settings: SugrlSettings,
) -> torch.Tensor:
    r"""Two triplet losses and an upper bound:

    .. math::
        \mathcal{L} = \omega_1 \mathcal{L}_S + \omega_2 \mathcal{L}_N + \mathcal{L}_U, \quad
        \mathcal{L}_S = \{d(h, h^+)^2 - d(h, h^-)^2 + \alpha\}_+, \quad
        \mathcal{L}_U = \{d(h, h^-)^2 - d(h, h^+)^2 - \alpha - \beta\}_+

    and :math:`\mathcal{L}_N` as :math:`\mathcal{L}_S` with the mean of drawn neighbours' anchors in place of
    :math:`h^+`; each is the mean over nodes and negatives :math:`h^-`. Without the bound, distances would grow without
    end, because that satisfies any margin.

    Args:
        anchors: :math:`h` ``(n, d)``.
        structural: :math:`h^+` ``(n, d)``.
        neighbours: Drawn for each node ``(n, m)``.
        orders: Permutations ``(n,)``; a node's negative is the anchor of the node in its place.
        settings: The margin :math:`\alpha`, the bound :math:`\beta` and the weights.

    Returns:
        The loss, a scalar.
    """
    mean = F.embedding_bag(neighbours, anchors, mode="mean")
    near, beside = (_squares(anchors - positive) for positive in (structural, mean))
    far = distances_to_permuted(anchors, torch.stack(orders))
    margin = settings.margin
    structure = F.relu(near - far + margin).mean()
    neighbourhood = F.relu(beside - far + margin).mean()
    bound = F.relu(far - near - margin - settings.bound).mean()
    return settings.weight_structure * structure + settings.weight_neighbours * neighbourhood + bound


def distances_to_permuted(rows: torch.Tensor, orders: torch.Tensor) -> torch.Tensor:
    r"""The squared distances :math:`D_{ki} = \|h_i - h_{o_k(i)}\|^2` between rows and permutations of the same rows.

    The gradient :math:`2 G_{ki} (h_i - h_{o_k(i)}) + 2 G_{kj} (h_i - h_j)` with :math:`o_k(j) = i` needs the rows
    alone, while automatic differentiation would keep several copies of them for each permutation.

    Args:
        rows: :math:`h` ``(n, d)``.
        orders: Permutations ``(k, n)``.

    Returns:
        ``(k, n)``.
    """
    return _PermutedDistances.apply(rows, orders)


class _PermutedDistances(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, orders: torch.Tensor) -> torch.Tensor:
        ctx.save_for_backward(rows, orders)
        result = rows.new_empty(orders.shape)
        for part in _row_blocks(rows):
            for k, order in enumerate(orders):
                result[k, part] = _squares(rows[part] - rows.index_select(0, order[part]))
        return result

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor, None]:
        rows, orders = ctx.saved_tensors
        inverses = torch.argsort(orders, dim=1)
        factors = 2 * gradient
        result = torch.zeros_like(rows)
        for part in _row_blocks(rows):
            for order, inverse, factor in zip(orders, inverses, factors, strict=True):
                back = inverse[part]
                for other, weight in ((order[part], factor[part]), (back, factor[back])):
                    difference = rows[part] - rows.index_select(0, other)
                    result[part].addcmul_(difference, weight[:, None])
        return result, None


def _row_blocks(rows: torch.Tensor) -> list[slice]:
    """Blocks of rows that fit into a core's cache; all rows on other devices."""
    step = max(1, CACHE_ENTRIES // rows.shape[1]) if rows.device.type == "cpu" else len(rows)
    return [slice(start, start + step) for start in range(0, len(rows), step)]


def _squares(differences: torch.Tensor) -> torch.Tensor:
    """Squared length of every row."""
    return (differences * differences).sum(1)
