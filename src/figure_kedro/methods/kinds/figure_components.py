r"""FiGURe in some of the dimensions, and filtered principal components of the features in the others."""

from collections.abc import Iterator, Sequence
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field
from sklearn.utils.extmath import randomized_svd

from figure_kedro.errors import UserError
from figure_kedro.features import large_columns
from figure_kedro.filters import FilterBank, Operator
from figure_kedro.graph import Graph
from figure_kedro.graph.graph import Features
from figure_kedro.graph.row_blocks import fitting_blocks
from figure_kedro.memory import memory
from figure_kedro.methods.column_blocks import filtered_views
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.kinds.figure import Figure, FigureSettings
from figure_kedro.methods.method import METHODS, Allocate
from figure_kedro.training.loop import TrainingObjective

ROUNDS = 7
"""Of the subspace iteration: 256 components of citeseer's words have converged to four digits by then."""


class FigureComponentsSettings(FigureSettings):
    """The encoder of the first dimensions, and how many are left to components."""

    method: Literal["figure_components"] = "figure_components"  # type: ignore[assignment]
    dim: int = Field(512, ge=2, description="dimension of the embeddings, those of the components included")
    components: float = Field(0.5, gt=0, lt=1, description="share of the dimensions that components of features take")


class ComponentsModel(FigureModel):
    r"""FiGURe's model, and the leading right singular vectors :math:`V` of the features ``(f, r)`` with their singular
    values over :math:`\sqrt n`, :math:`\sigma` ``(r,)``, neither of which is trained."""

    directions: torch.Tensor
    strengths: torch.Tensor

    def __init__(
        self, shape: tuple[int, int], settings: FigureComponentsSettings, bank: FilterBank, generator: torch.Generator
    ) -> None:
        num_features = shape[1]
        wanted = min(max(1, round(settings.components * settings.dim)), settings.dim - 1)
        count = min(wanted, *shape)  # there are no more
        super().__init__(num_features, settings.dim - count, bank, settings.encoder, generator)
        self.register_buffer("directions", torch.zeros(num_features, count))
        self.register_buffer("strengths", torch.zeros(count))

    def find_components(self, features: Features, seed: int) -> None:
        """Take the components of these features ``(n, f)``."""
        values = features.data if sp.issparse(features) else features
        if float(np.abs(values).max(initial=0)) * max(features.shape) > np.finfo(np.float32).max:
            advice = large_columns(features)
            raise UserError(f"the components of the features exceed what single precision holds; {advice}")
        _, values, rows = randomized_svd(features, len(self.strengths), n_iter=ROUNDS, random_state=seed)
        self.directions.copy_(torch.from_numpy(np.ascontiguousarray(rows.T, dtype=np.float32)))
        self.strengths.copy_(torch.from_numpy(np.asarray(values / np.sqrt(features.shape[0]), dtype=np.float32)))

    @torch.no_grad()
    def scaled_directions(self) -> torch.Tensor:
        r""":math:`c V`, which gives the components the size that the encoder gives the same features:

        .. math:: c = \lVert \mathrm{diag}(\sigma) V^T \Theta \rVert_F / \lVert \sigma \rVert

        :math:`\Theta` are the weights of the first layer, those of the first filter if each has its own. With
        :math:`V^T V = I` these are the root mean squares of :math:`X V V^T \Theta` and of :math:`X V`, so that no node
        needs to be seen.
        """
        encoded = self.strengths[:, None] * (self.directions.T @ self.encoders[0].theta)
        size = self.strengths.norm()
        return self.directions * (encoded.norm() / size if size > 0 else 0.0)


@METHODS.register
class FigureComponents(Figure):
    r""":class:`~figure_kedro.methods.kinds.figure.Figure` with components beside it, in the same number of dimensions:

    .. math:: E(X, F_i) = [\mathrm{PReLU}(F_i (X \Theta + b)),\; c F_i X V]

    :math:`V` are the leading right singular vectors of :math:`X`, ``(f, r)``, and :math:`\Theta` has ``dim - r``
    columns. It is for graphs whose filtered features alone do better than a trained encoder, because the PReLU and the
    weights lose some of what a linear classifier could have used: citeseer, whose words are many and rare.
    """

    Settings = FigureComponentsSettings

    def _model(self, num_nodes: int, num_features: int) -> ComponentsModel:
        return ComponentsModel((num_nodes, num_features), self.settings, self.bank, self.generator())

    def objective(  # type: ignore[override]
        self, model: ComponentsModel, graph: Graph, operator: Operator, device: torch.device, allocate: Allocate | None
    ) -> TrainingObjective | None:
        assert graph.features is not None
        model.find_components(graph.features, self.settings.training.seed)
        return super().objective(model, graph, operator, device, allocate)

    def embed(self, model: ComponentsModel, graph: Graph, operator: Operator) -> Iterator[np.ndarray]:  # type: ignore[override]
        assert graph.features is not None
        features, propagate = FeatureMatrix(graph.features, differentiable=False), operator.on(differentiable=False)
        components = (features @ model.scaled_directions()).numpy()
        trained = super().embed(model, graph, operator)
        for views in zip(trained, filtered_views(self.bank, propagate, components), strict=True):
            yield _beside(*views)

    def embed_first(  # type: ignore[override]
        self, model: ComponentsModel, graph: Graph, operator: Operator, levels: Sequence[int]
    ) -> Iterator[np.ndarray]:
        for view in self.embed(model, graph, operator):
            yield view[: levels[0]]


def _beside(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Two views of the same nodes as one, in a file where it is too large for memory."""
    both = memory().empty((len(first), first.shape[1] + second.shape[1]))
    for rows in fitting_blocks(*both.shape):
        np.concatenate([first[rows], second[rows]], axis=1, out=both[rows])
    return both
