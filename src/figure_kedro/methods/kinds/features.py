"""Features as they are."""

from collections.abc import Iterator
from typing import Any, ClassVar, Literal

import numpy as np
from torch import nn

from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.features import dense_features
from figure_kedro.methods.method import METHODS, Method, MethodSettings


class FeaturesSettings(MethodSettings):
    """There is nothing to set."""

    method: Literal["features"] = "features"


@METHODS.register
class Features(Method):
    """The features of the graph, the single view ``X``; what a supervised run starts from."""

    Settings = FeaturesSettings
    reads: ClassVar[frozenset[str]] = frozenset({"features"})

    @property
    def views(self) -> tuple[str, ...]:
        return ("X",)

    def build(self, num_nodes: int, num_features: int) -> nn.Module:
        return nn.Module()

    def embed(self, model: Any, graph: Graph, operator: Operator) -> Iterator[np.ndarray]:
        yield np.array(dense_features(graph.features))

    def hops(self, operator: Operator) -> int:
        return 0

    def width(self, num_features: int) -> int:
        return num_features
