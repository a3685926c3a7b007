r"""MVGRL: nodes under the adjacency against the summary under a diffusion, and the other way round."""

import math
from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import nn

from figure_kedro.filters import Operator, Propagate, SparseOperator, Workspace
from figure_kedro.graph import Graph
from figure_kedro.methods.contrast import cross_contrast
from figure_kedro.methods.diffusion import Diffusion, diffusion_products
from figure_kedro.methods.encoder import Encoder, EncoderSettings
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.filter_order import FilteredPairs, is_pair_filter_first, transformed_pair
from figure_kedro.methods.method import METHODS, Allocate, Method, TrainedSettings


class MvgrlSettings(TrainedSettings):
    """The diffusion of the second view."""

    method: Literal["mvgrl"] = "mvgrl"
    teleport: float = Field(0.2, gt=0, lt=1, description="probability that personalised PageRank returns to its node")
    order: int = Field(8, ge=1, le=64, description="sparse products for the diffusion; a directed graph takes more")


@METHODS.register
class Mvgrl(Method):
    r"""The node version of "Contrastive Multi-View Representation Learning on Graphs" (Hassani and Khasahmadi, 2020).

    The graph is seen as its normalised adjacency :math:`A_n` and as the :class:`~.diffusion.Diffusion` :math:`S`, each
    with an encoder of its own:

    .. math:: h^A = \mathrm{PReLU}(A_n (X \Theta_A + b_A)), \quad h^S = \mathrm{PReLU}(S (X \Theta_S + b_S))

    Training minimises :func:`~figure_kedro.methods.contrast.cross_contrast`; a node's embedding is :math:`h^A + h^S`.
    """

    Settings = MvgrlSettings
    chance_loss: ClassVar[float | None] = math.log(2)

    @property
    def views(self) -> tuple[str, ...]:
        return ("mvgrl",)

    def build(self, num_nodes: int, num_features: int) -> "MvgrlModel":
        return MvgrlModel(num_features, self.settings.dim, self.generator())

    def objective(
        self,
        model: "MvgrlModel",
        graph: Graph,
        operator: Operator,
        device: torch.device,
        allocate: Allocate | None,
    ) -> "MvgrlObjective":
        assert graph.features is not None
        return MvgrlObjective(model, FeatureMatrix(graph.features, device), *self._filters(operator, device))

    @torch.no_grad()
    def embed(self, model: "MvgrlModel", graph: Graph, operator: Operator) -> Iterator[np.ndarray]:
        device = model.discriminator.device
        assert graph.features is not None
        features = FeatureMatrix(graph.features, device, differentiable=False)
        result = torch.zeros(graph.num_nodes, self.settings.dim, device=device)
        filters: tuple[Propagate, ...] = self._filters(operator, device, differentiable=False)
        for encoder, apply_filter in zip(model.encoders, filters, strict=True):
            result += F.prelu(apply_filter(encoder.transform(features)), encoder.slope)
        yield result.cpu().numpy()

    def hops(self, operator: Operator) -> int:
        return diffusion_products(self.settings.teleport, self.settings.order, symmetric=operator.symmetric)

    def _filters(
        self, operator: Operator, device: torch.device, *, differentiable: bool = True
    ) -> tuple[SparseOperator, Diffusion]:
        adjacency = operator.on(device, differentiable=differentiable)
        teleport, order = self.settings.teleport, self.settings.order
        return adjacency, Diffusion(adjacency, teleport, order, symmetric=operator.symmetric)


class MvgrlModel(nn.Module):
    """An encoder for each view, the adjacency's first, and the discriminator that they share.

    Args:
        num_features: Columns of the features.
        dim: Columns of an embedding.
        generator: Draws the initial weights.
    """

    def __init__(self, num_features: int, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.encoders: Any = nn.ModuleList(Encoder(num_features, dim, EncoderSettings(), generator) for _ in range(2))
        self.discriminator = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim, dim), generator=generator))


class MvgrlObjective:
    """The loss on the whole graph, with one corruption for both views.

    An encoder is linear up to its PReLU, so a filter may come after the weights or before them, as in
    :class:`~figure_kedro.methods.full.FullObjective`; each filter has an encoder of its own here.

    Args:
        module: The model to train.
        features: Of all nodes.
        operator: The normalised adjacency.
        diffusion: Of the same graph.
        filter_first: Force an order; ``None`` chooses the cheaper one.
    """

    def __init__(
        self,
        module: MvgrlModel,
        features: FeatureMatrix,
        operator: SparseOperator,
        diffusion: Diffusion,
        filter_first: bool | None = None,
    ) -> None:
        self.module, self._features = module, features
        self._filters: tuple[Propagate, ...] = (operator, diffusion)
        dim = len(module.discriminator)
        if filter_first is None:
            nnz = operator.nnz * (1 + diffusion.products) // 2  # on average over the two views
            filter_first = is_pair_filter_first(features.shape, dim, nnz)
        self.filter_first = filter_first and not features.sparse
        self._workspace = Workspace()
        if self.filter_first:
            both = range(len(self._filters))
            self._pairs = FilteredPairs(features, self._apply, both, dim, reuse=False)

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        encoders = self.module.encoders
        order = torch.randperm(self._features.shape[0], generator=generator).to(self.module.discriminator.device)
        self._workspace.rewind()
        if self.filter_first:
            first, second = (block for _, block in self._pairs.blocks(order, lambda i: encoders[i].linear_map()))
        else:
            first, second = (
                apply_filter(transformed_pair(encoder.transform(self._features), order))
                for encoder, apply_filter in zip(encoders, self._filters, strict=True)
            )
        slopes = (encoders[0].slope, encoders[1].slope)
        yield cross_contrast((first, second), slopes, self.module.discriminator, self._workspace)

    def _apply(self, block: torch.Tensor) -> Iterator[torch.Tensor]:
        for apply_filter in self._filters:
            yield apply_filter(block)
