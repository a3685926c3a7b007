"""Filtered features without any training: a row that every table needs beside the trained ones."""

from collections.abc import Iterator
from typing import ClassVar, Literal

import numpy as np
from torch import nn

from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.memory import is_mapped
from figure_kedro.methods.column_blocks import filtered_views
from figure_kedro.methods.features import dense_features
from figure_kedro.methods.method import METHODS, Method, MethodSettings


class PropagationSettings(MethodSettings):
    """There is nothing to set: an embedding is as wide as the features."""

    method: Literal["propagation"] = "propagation"


@METHODS.register
class Propagation(Method):
    r"""The views :math:`F_i X` of all filters, with nothing to learn; its width is that of the features."""

    Settings = PropagationSettings
    reads: ClassVar[frozenset[str]] = frozenset({"features", "operator", "bank"})

    @property
    def views(self) -> tuple[str, ...]:
        return self.bank.names

    def build(self, num_nodes: int, num_features: int) -> nn.Module:
        return nn.Module()

    def embed(self, model: nn.Module, graph: Graph, operator: Operator) -> Iterator[np.ndarray]:
        features = dense_features(graph.features)
        start = features if is_mapped(features) else np.array(features)
        yield from filtered_views(self.bank, operator.on(differentiable=False), start)

    def hops(self, operator: Operator) -> int:
        return self.bank.degree

    def width(self, num_features: int) -> int:
        return num_features
