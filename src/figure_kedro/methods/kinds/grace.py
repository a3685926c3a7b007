r"""GRACE: nodes are told apart by what two corrupted views of the graph have in common."""

from collections.abc import Iterator, Mapping
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import nn

from figure_kedro.filters import Operator, SparseOperator, normalised_adjacency, oriented
from figure_kedro.graph import Graph
from figure_kedro.methods.encoder import draw_weights
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.filter_order import is_filter_first
from figure_kedro.methods.infonce import info_nce
from figure_kedro.methods.method import METHODS, Allocate, Method, TrainedSettings
from figure_kedro.parts import Decides


class GraceSettings(TrainedSettings):
    """The two corruptions and the contrast between them."""

    ranges: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "training.learning_rate": (1e-4, 5e-4, 1e-3),
        "drop_edges_1": (0.0, 0.2, 0.4),
        "drop_edges_2": (0.1, 0.3, 0.4),
        "drop_features_1": (0.0, 0.2, 0.3),
        "drop_features_2": (0.0, 0.2, 0.4),
        "temperature": (0.4, 0.7, 0.9),
    }

    method: Literal["grace"] = "grace"
    drop_edges_1: float = Field(0.2, ge=0, lt=1, description="share of edges left out of the first view")
    drop_edges_2: float = Field(0.4, ge=0, lt=1, description="share of edges left out of the second view")
    drop_features_1: float = Field(0.3, ge=0, lt=1, description="share of feature columns left out of the first view")
    drop_features_2: float = Field(0.4, ge=0, lt=1, description="share of feature columns left out of the second view")
    temperature: float = Field(0.4, ge=0.05, description="of the similarities")
    projector: int = Field(128, ge=1, description="width of the network between embeddings and contrast")
    nodes: int = Field(
        4096, ge=0, description="nodes that an epoch contrasts, drawn anew each time; 0 is all of them, as in its paper"
    )
    block_rows: Annotated[int, Decides.NOTHING] = Field(
        512, ge=1, description="rows and columns of similarities held at a time, best in the cache"
    )


@METHODS.register
class Grace(Method):
    r"""GRACE, from "Deep Graph Contrastive Representation Learning" (Zhu et al., 2020).

    .. math::
        \min \mathcal{J}(g(U), g(V)), \quad U = f(X \circ m_1, A_1), \quad V = f(X \circ m_2, A_2), \quad
        f(X, A) = \sigma(A_n \sigma(A_n X W_1 + b_1) W_2 + b_2)

    with :math:`A_i` the graph without a random share of its edges, :math:`A_n` its normalised adjacency, :math:`m_i`
    a random mask of feature columns, :math:`\sigma` the ReLU, :math:`g` a network of two layers with ELU between them,
    and :math:`\mathcal{J}` the symmetric InfoNCE loss (:func:`~figure_kedro.methods.infonce.info_nce`). A node's
    embedding is its row of :math:`f(X, A)`, nothing left out, divided by its length, since the loss looks at directions
    alone; :math:`g` is dropped after training.
    """

    Settings = GraceSettings

    @property
    def views(self) -> tuple[str, ...]:
        return ("grace",)

    def build(self, num_nodes: int, num_features: int) -> "GraceModel":
        return GraceModel(num_features, self.settings.dim, self.settings.projector, self.generator())

    def objective(
        self, model: "GraceModel", graph: Graph, operator: Operator, device: torch.device, allocate: Allocate | None
    ) -> "GraceObjective":
        return GraceObjective(model, graph, operator, self.settings, device)

    @torch.no_grad()
    def embed(self, model: "GraceModel", graph: Graph, operator: Operator) -> Iterator[np.ndarray]:
        device = model.first.device
        assert graph.features is not None
        adjacency = operator.on(device, differentiable=False)
        features = FeatureMatrix(graph.features, device, differentiable=False)
        yield F.normalize(model(features, adjacency, adjacency)).cpu().numpy()

    def hops(self, operator: Operator) -> int:
        return 2


class GraceModel(nn.Module):
    """A graph convolutional network of two layers, and the projection head that only training uses.

    Args:
        num_features: Columns of the features.
        dim: Columns of the embedding; the hidden layer has twice as many.
        projector: Columns of both layers of the head.
        generator: Draws the initial weights.
    """

    def __init__(self, num_features: int, dim: int, projector: int, generator: torch.Generator) -> None:
        super().__init__()
        self.first = draw_weights(num_features, 2 * dim, generator)
        self.first_bias = nn.Parameter(torch.zeros(2 * dim))
        self.second = draw_weights(2 * dim, dim, generator)
        self.second_bias = nn.Parameter(torch.zeros(dim))
        layers = [nn.Linear(dim, projector), nn.Linear(projector, projector)]
        self.head = nn.ModuleList(layers)
        for layer in layers:  # biases too: with zero ones, nodes whose embedding is zero would have no direction
            for parameter in layer.parameters():
                nn.init.uniform_(parameter, -(layer.in_features**-0.5), layer.in_features**-0.5, generator=generator)

    def forward(
        self,
        features: FeatureMatrix,
        inner: SparseOperator,
        outer: SparseOperator,
        columns: torch.Tensor | None = None,
    ) -> torch.Tensor:
        """Embed the nodes that ``outer`` has rows for.

        Args:
            features: Of all nodes.
            inner: Rows ``(k, n)`` of the normalised adjacency, for the first layer.
            outer: Rows and columns ``(m, k)`` of it, for the second layer.
            columns: 1 for a feature that is used and 0 for one that is not ``(f,)``; all are used by default.
        """
        first = self.first if columns is None else self.first * columns[:, None]
        hidden = inner(features.dense) @ first if self.filters_first(features) else inner(features @ first)
        hidden = hidden.add_(self.first_bias).relu_()
        if outer.shape[0] < outer.shape[1]:  # the weights meet the fewer rows
            return (outer(hidden) @ self.second).add_(self.second_bias).relu_()
        return outer(hidden @ self.second).add_(self.second_bias).relu_()

    def filters_first(self, features: FeatureMatrix) -> bool:
        """Whether the first layer filters the features themselves; then nothing is filtered in the backward pass."""
        return is_filter_first(features.shape, self.first.shape[1], nnz=1, sparse=features.sparse)

    def project(self, embedding: torch.Tensor) -> torch.Tensor:
        """The head: ``(m, dim)`` to ``(m, projector)``."""
        return self.head[1](F.elu(self.head[0](embedding), inplace=True))


class GraceObjective:
    """The contrast between two views of the graph that are drawn anew in every epoch.

    Args:
        module: The model to train.
        graph: With features.
        operator: Its normalised adjacency; views have its direction, and self-loops if it has.
        settings: Shares that are dropped, temperature, number of nodes.
        device: Where the model is.
    """

    def __init__(
        self,
        module: GraceModel,
        graph: Graph,
        operator: Operator,
        settings: GraceSettings,
        device: torch.device | str = "cpu",
    ) -> None:
        self.module, self._settings, self._device = module, settings, device
        self._symmetric = operator.symmetric
        assert graph.features is not None
        self._features = FeatureMatrix(graph.features, device)
        self._filtered_first = module.filters_first(self._features)
        adjacency = oriented(graph, operator.filters)
        weight = operator.filters.loop_weight
        self._edges = EdgeDropper(adjacency, operator.matrix, directed=not operator.symmetric, loop_weight=weight)

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        n, given = self._features.shape[0], self._settings
        nodes = torch.randperm(n, generator=generator)[: given.nodes].numpy() if 0 < given.nodes < n else None
        first, second = (
            self._view(nodes, edges, columns, generator)
            for edges, columns in (
                (given.drop_edges_1, given.drop_features_1),
                (given.drop_edges_2, given.drop_features_2),
            )
        )
        yield info_nce(first, second, given.temperature, given.block_rows)

    def _view(
        self, nodes: np.ndarray | None, drop_edges: float, drop_features: float, generator: torch.Generator
    ) -> torch.Tensor:
        matrix = self._edges.draw(drop_edges, generator)
        kept = torch.rand(self._features.shape[1], generator=generator) >= drop_features
        inner, outer = self._operators(matrix, nodes)
        return self.module.project(self.module(self._features, inner, outer, kept.float().to(self._device)))

    def _operators(self, matrix: sp.csr_array, nodes: np.ndarray | None) -> tuple[SparseOperator, SparseOperator]:
        """What the two layers multiply by; of some nodes, only rows that reach them."""
        if nodes is None:
            operator = SparseOperator(matrix, symmetric=self._symmetric, device=self._device)
            return operator, operator
        rows = sp.csr_array(matrix[nodes])
        reached, numbers = np.unique(rows.indices, return_inverse=True)
        outer = sp.csr_array((rows.data, numbers, rows.indptr), shape=(len(nodes), len(reached)))
        inner = SparseOperator(
            sp.csr_array(matrix[reached]), differentiable=not self._filtered_first, device=self._device
        )
        return inner, SparseOperator(outer, device=self._device)


class EdgeDropper:
    """Draws the normalised adjacency of a graph that has lost a share of its edges.

    Both entries of an undirected edge share one random number, so a symmetric matrix stays symmetric. Which entry is
    the mirror of which is found once; a draw sorts nothing.

    Args:
        adjacency: Edge weights ``(n, n)``.
        matrix: The normalised adjacency of all edges; it has a diagonal if self-loops are used.
        directed: Whether the two entries between a pair of nodes are edges of their own.
        loop_weight: Of a self-loop.
    """

    def __init__(
        self, adjacency: sp.csr_array, matrix: sp.csr_array, *, directed: bool, loop_weight: float = 1.0
    ) -> None:
        self._adjacency, self._matrix = adjacency.sorted_indices(), matrix
        self._loop_weight = loop_weight
        self._self_loops = bool(matrix.diagonal().any())
        self._numbers = None if directed else _pair_numbers(self._adjacency)

    def draw(self, share: float, generator: torch.Generator) -> sp.csr_array:
        """The normalised adjacency ``(n, n)`` of what is left; the given one itself for a share of 0."""
        if share == 0:
            return self._matrix
        adjacency = self._adjacency
        numbers = torch.rand(adjacency.nnz, generator=generator).numpy()
        kept = (numbers if self._numbers is None else numbers[self._numbers]) >= share
        before = np.concatenate([[0], np.cumsum(kept)])  # entries kept before each entry
        left = (adjacency.data[kept], adjacency.indices[kept], before[adjacency.indptr])
        return normalised_adjacency(
            sp.csr_array(left, shape=adjacency.shape), self_loops=self._self_loops, loop_weight=self._loop_weight
        )


def _pair_numbers(adjacency: sp.csr_array) -> np.ndarray:
    """For each entry of a symmetric matrix, the lower position of itself and its mirror."""
    positions = np.arange(adjacency.nnz)
    numbered = sp.csr_array((positions, adjacency.indices, adjacency.indptr), shape=adjacency.shape)
    return np.minimum(positions, sp.csr_array(numbered.T).data)
