r"""MVGRL: nodes under the adjacency against the summary under a diffusion, and the other way round."""

import math
from collections.abc import Iterator
from typing import ClassVar

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import nn

from figure_kedro.filters import SparseOperator, Workspace
from figure_kedro.graph import Graph
from figure_kedro.methods.contrast import cross_contrast
from figure_kedro.methods.diffusion import Diffusion
from figure_kedro.methods.encoder import Encoder
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.full import is_filtering_features_cheaper
from figure_kedro.methods.method import Allocate, Method
from figure_kedro.methods.settings import EncoderSettings


class Mvgrl(Method):
    r"""The node version of "Contrastive Multi-View Representation Learning on Graphs" (Hassani and Khasahmadi, 2020).

    The graph is seen as its normalised adjacency :math:`A_n` and as the :class:`~.diffusion.Diffusion` :math:`S`, each
    with an encoder of its own:

    .. math:: h^A = \mathrm{PReLU}(A_n (X \Theta_A + b_A)), \quad h^S = \mathrm{PReLU}(S (X \Theta_S + b_S))

    Training minimises :func:`~figure_kedro.methods.contrast.cross_contrast`; a node's embedding is :math:`h^A + h^S`.
    """

    chance_loss: ClassVar[float] = math.log(2)

    @property
    def views(self) -> tuple[str, ...]:
        return ("mvgrl",)

    def build(self, num_nodes: int, num_features: int) -> "MvgrlModel":
        return MvgrlModel(num_features, self.settings.dim, self.generator())

    def objective(
        self,
        model: "MvgrlModel",
        graph: Graph,
        matrix: sp.csr_array,
        device: torch.device,
        allocate: Allocate | None = None,
    ) -> "MvgrlObjective":
        return MvgrlObjective(model, FeatureMatrix(graph.features, device), *self._filters(graph, matrix, device))

    @torch.no_grad()
    def embed(self, model: "MvgrlModel", graph: Graph, matrix: sp.csr_array) -> Iterator[np.ndarray]:
        device = model.discriminator.device
        features = FeatureMatrix(graph.features, device)
        result = torch.zeros(graph.num_nodes, self.settings.dim, device=device)
        for encoder, apply_filter in zip(model.encoders, self._filters(graph, matrix, device), strict=True):
            result += F.prelu(apply_filter(encoder.transform(features)), encoder.slope)
        yield result.cpu().numpy()

    def _filters(self, graph: Graph, matrix: sp.csr_array, device: torch.device) -> tuple[SparseOperator, Diffusion]:
        symmetric, chosen = not graph.directed, self.settings.mvgrl
        operator = SparseOperator(matrix, symmetric=symmetric, device=device)
        return operator, Diffusion(operator, chosen.teleport, chosen.order, symmetric=symmetric)


class MvgrlModel(nn.Module):
    """An encoder for each view, the adjacency's first, and the discriminator that they share.

    Args:
        num_features: Columns of the features.
        dim: Columns of an embedding.
        generator: Draws the initial weights.
    """

    def __init__(self, num_features: int, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.encoders = nn.ModuleList(Encoder(num_features, dim, EncoderSettings(), generator) for _ in range(2))
        self.discriminator = nn.Parameter(nn.init.xavier_uniform_(torch.empty(dim, dim), generator=generator))


class MvgrlObjective:
    """The loss on the whole graph, with one corruption for both views.

    An encoder is linear up to its PReLU, so a filter may come after the weights or before them, as in
    :class:`~figure_kedro.methods.full.FullObjective`. After: the corrupted half is the product ``X Theta`` in another
    order, and both halves go through the same sparse products. Before: the true features are filtered once and for
    all, the corrupted ones in every step, and nothing is filtered in the backward pass; best for few dense features.

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
        self.module, self._features, self._filters = module, features, (operator, diffusion)
        if filter_first is None:
            nnz = operator.nnz * (1 + diffusion.products) // 2  # on average over the two views
            filter_first = is_filtering_features_cheaper(features.shape, len(module.discriminator), nnz)
        self.filter_first = filter_first and not features.sparse
        self._workspace = Workspace()
        if self.filter_first:
            ones = features.dense.new_ones(features.shape[0], 1)  # the bias, as the weight of a constant feature
            self._inputs = torch.cat([features.dense, ones], dim=1)
            # true features in the first half, for good; the second half is written anew in every step
            self._both = [torch.stack([x, x], dim=1) for x in (f(self._inputs) for f in self._filters)]

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        order = torch.randperm(self._features.shape[0], generator=generator).to(self.module.discriminator.device)
        self._workspace.rewind()
        blocks = self._filter_features(order) if self.filter_first else self._filter_transformed(order)
        slopes = tuple(encoder.slope for encoder in self.module.encoders)
        yield cross_contrast(tuple(blocks), slopes, self.module.discriminator, self._workspace)

    def _filter_transformed(self, order: torch.Tensor) -> Iterator[torch.Tensor]:
        for encoder, apply_filter in zip(self.module.encoders, self._filters, strict=True):
            hidden = encoder.transform(self._features)
            yield apply_filter(torch.cat([hidden, hidden.index_select(0, order)], dim=1))  # (n, 2 d)

    def _filter_features(self, order: torch.Tensor) -> Iterator[torch.Tensor]:
        corrupted = self._inputs.index_select(0, order)
        for encoder, apply_filter, both in zip(self.module.encoders, self._filters, self._both, strict=True):
            both[:, 1] = apply_filter(corrupted)  # of (n, 2, f + 1)
            product = both.view(2 * len(both), -1) @ torch.cat([encoder.theta, encoder.bias[None]])
            yield product.view(len(both), -1)  # (n, 2 d)
