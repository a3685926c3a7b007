"""DGI: FiGURe's ancestor, with the adjacency as its only filter."""

import math
from collections.abc import Iterator

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from torch import nn

from figure_kedro.filters import SparseOperator, Workspace
from figure_kedro.graph import Graph
from figure_kedro.methods.contrast import contrast
from figure_kedro.methods.encoder import Encoder, draw_weights
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.method import Allocate, Method
from figure_kedro.methods.settings import EncoderSettings


class DgiModel(nn.Module):
    """A one-layer graph convolution and a bilinear discriminator.

    Args:
        num_features: Columns of the features.
        dim: Columns of the embedding.
        generator: Draws the initial weights.
    """

    def __init__(self, num_features: int, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.encoder = Encoder(num_features, dim, EncoderSettings(), generator)
        self.discriminator = draw_weights(dim, dim, generator)


class Dgi(Method):
    r""" "Deep Graph Infomax" (Velickovic et al., 2019): tell nodes of the graph from corrupted ones by their fit to a
    summary of the whole graph,

    .. math:: \mathcal{L} = -\frac{1}{2n} \sum_k \log D(h_k, c) + \log(1 - D(\tilde h_k, c)), \quad
              H = \mathrm{PReLU}(A_n (X \Theta + b)), \quad c = \sigma\Big(\frac{1}{n} \sum_k h_k\Big)

    with :math:`D(h, c) = \sigma(h^T W c)` and :math:`\tilde H` from features in another order. FiGURe with the single
    filter :math:`A_n` is this method, weight for weight.
    """

    chance_loss = math.log(2)

    @property
    def views(self) -> tuple[str, ...]:
        return ("A",)

    def build(self, num_nodes: int, num_features: int) -> DgiModel:
        return DgiModel(num_features, self.settings.dim, self.generator())

    def objective(
        self, model: DgiModel, graph: Graph, matrix: sp.csr_array, device: torch.device, allocate: Allocate | None
    ) -> "DgiObjective":
        operator = SparseOperator(matrix, symmetric=not graph.directed, device=device)
        return DgiObjective(model, FeatureMatrix(graph.features, device), operator)

    @torch.no_grad()
    def embed(self, model: DgiModel, graph: Graph, matrix: sp.csr_array) -> Iterator[np.ndarray]:
        operator = SparseOperator(matrix, symmetric=True)  # never differentiated: the transpose is not needed
        hidden = operator(model.encoder.transform(FeatureMatrix(graph.features)))
        yield F.prelu(hidden, model.encoder.slope).numpy()


class DgiObjective:
    """The loss on the whole graph; the true and the corrupted block go side by side through one sparse product."""

    def __init__(self, module: DgiModel, features: FeatureMatrix, operator: SparseOperator) -> None:
        self.module, self._features, self._operator = module, features, operator
        self._workspace = operator.workspace = Workspace()

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        encoder = self.module.encoder
        order = torch.randperm(self._features.shape[0], generator=generator).to(encoder.theta.device)
        self._workspace.rewind()
        hidden = encoder.transform(self._features)
        block = self._operator(torch.cat([hidden, hidden.index_select(0, order)], dim=1))  # (n, 2 d)
        yield contrast(block, encoder.slope, self.module.discriminator, 1.0, self._workspace)
