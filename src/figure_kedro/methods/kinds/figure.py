r"""FiGURe: one encoder, trained on every filter of a bank by mutual information."""

import math
from collections.abc import Collection, Iterator, Mapping, Sequence
from typing import Any, ClassVar, Literal, Self

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field, model_validator

from figure_kedro.errors import UserError
from figure_kedro.filters import Narrowing, Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.decoupled import DecoupledObjective, DecoupledSettings
from figure_kedro.methods.encoder import EncoderSettings, FigureModel
from figure_kedro.methods.features import FeatureMatrix, dense_features
from figure_kedro.methods.full import FullObjective
from figure_kedro.methods.method import LEARNING_RATES, METHODS, Allocate, Method, TrainedSettings
from figure_kedro.methods.sampled import SampledObjective, SampledSettings
from figure_kedro.methods.strategy import choose_strategy
from figure_kedro.training.loop import TrainingObjective


class FigureSettings(TrainedSettings):
    """The encoder, and how it is trained."""

    ranges: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "training.learning_rate": LEARNING_RATES,
        "sampled.size": (1500, 1750, 2000, 2250),
    }

    method: Literal["figure"] = "figure"
    encoder: EncoderSettings = EncoderSettings()
    strategy: Literal["auto", "full", "sampled", "decoupled"] = Field(
        "auto", description="auto: a step on the whole graph where that fits into memory, else decoupled"
    )
    sampled: SampledSettings = SampledSettings()
    decoupled: DecoupledSettings = DecoupledSettings()

    def idle(self) -> Collection[str]:
        of_others = {"full": {"sampled", "decoupled"}, "sampled": {"decoupled"}}.get(self.strategy, {"sampled"})
        return {*super().idle(), *of_others}

    @property
    def space(self) -> dict[str, list[Any]]:
        """What tuning searches; settings of the sampled strategy only where that is taken."""
        sampled = self.strategy == "sampled"
        return {path: values for path, values in super().space.items() if sampled or not path.startswith("sampled.")}

    @model_validator(mode="after")
    def _strategy_suits_the_encoder(self) -> Self:
        if self.strategy == "decoupled" and self.encoder != EncoderSettings():
            raise ValueError("the decoupled strategy needs one shared encoder of one layer; choose full or sampled")
        return self


@METHODS.register
class Figure(Method):
    """FiGURe, from "FiGURe: Simple and Efficient Unsupervised Node Representations with Filter Augmentations" (Ekbote
    et al., 2023): the views are the filters of the bank, the identity included, which is left out of training.
    """

    Settings = FigureSettings
    reads: ClassVar[frozenset[str]] = frozenset({"features", "operator", "bank"})
    chance_loss = math.log(2)

    @property
    def views(self) -> tuple[str, ...]:
        return self.bank.names

    def build(self, num_nodes: int, num_features: int) -> FigureModel:
        model = self._model(num_nodes, num_features)
        if not model.trained:
            raise UserError("all filters of the bank are identities, so there is nothing to train; raise filters.size")
        return model

    def _model(self, num_nodes: int, num_features: int) -> FigureModel:
        return FigureModel(num_features, self.settings.dim, self.bank, self.settings.encoder, self.generator())

    def objective(
        self, model: FigureModel, graph: Graph, operator: Operator, device: torch.device, allocate: Allocate | None
    ) -> TrainingObjective | None:
        """The objective of the strategy that the settings name or memory suggests."""
        settings, features, matrix = self.settings, graph.features, operator.matrix
        assert features is not None
        strategy = choose_strategy(settings, model, features, matrix.nnz, device)
        if strategy == "sampled":
            return SampledObjective(model, features, matrix, self.bank, settings.sampled, operator.symmetric)
        if strategy == "decoupled":
            seed = settings.training.seed
            return DecoupledObjective(model, features, matrix, self.bank, settings.decoupled, seed, allocate)
        return FullObjective(model, FeatureMatrix(features, device), operator.on(device), self.bank)

    def embed(self, model: FigureModel, graph: Graph, operator: Operator) -> Iterator[np.ndarray]:
        assert graph.features is not None
        features, propagate = FeatureMatrix(graph.features, differentiable=False), operator.on(differentiable=False)
        yield from model.embed(features, propagate, self.bank)

    def hops(self, operator: Operator) -> int:
        return self.bank.degree * self.settings.encoder.gcn_layers

    @torch.no_grad()
    def embed_first(
        self, model: FigureModel, graph: Graph, operator: Operator, levels: Sequence[int]
    ) -> Iterator[np.ndarray]:
        r"""Where the encoder is linear and widens the features, these are filtered, and the encoder meets the wanted
        rows alone: :math:`F (X \Theta + b) = (F X) \Theta + (F 1) b`."""
        if not model.linear or graph.num_features >= self.settings.dim:
            yield from super().embed_first(model, graph, operator, levels)
            return

        def filtered(block: torch.Tensor) -> Iterator[torch.Tensor]:
            one_after_another = self.bank.products == self.bank.degree
            propagate = Narrowing(operator.matrix, levels) if one_after_another else operator.on(differentiable=False)
            return self.bank.apply(propagate, block)

        features, ones = torch.from_numpy(dense_features(graph.features)), torch.ones(graph.num_nodes, 1)
        encoder, first = model.encoder(0), slice(levels[0])
        # ones by themselves: a column more would be a copy of all features, and cost a third more in a product of few
        for block, constant in zip(filtered(features), filtered(ones), strict=True):
            pre = torch.addmm(constant[first] * encoder.bias, block[first], encoder.theta)
            yield F.prelu(pre, encoder.slope).numpy()
