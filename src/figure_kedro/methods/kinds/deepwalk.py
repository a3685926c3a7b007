"""DeepWalk: nodes are words, random walks are sentences."""

from collections.abc import Iterator, Mapping
from typing import Any, ClassVar, Literal

import numpy as np
import torch

from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.method import METHODS, Allocate, Method
from figure_kedro.methods.skipgram import SkipGram, SkipGramObjective, Walk, WalkSettings
from figure_kedro.methods.walks import WalkGraph, expected_visits, first_order_walks


class DeepWalkSettings(WalkSettings):
    """DeepWalk's walks take any edge of a node."""

    ranges: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "length": (8, 9, 10, 11, 12),
        "window": (3, 4, 5),
        "negatives": (4, 5, 6),
    }

    method: Literal["deepwalk"] = "deepwalk"


@METHODS.register
class DeepWalk(Method):
    r""" "DeepWalk: Online Learning of Social Representations" (Perozzi et al., 2014), with negative samples in place
    of a tree of nodes. It looks at edges alone and minimises

    .. math::
        -\log \sigma(u_x \cdot v_y) - k \, \mathbb{E}_{z \sim N} \log \sigma(-u_x \cdot v_z)

    over nodes :math:`x, y` within a window of a random walk, where :math:`u` are the embeddings, :math:`v` second
    vectors for nodes as contexts, and :math:`N` draws in proportion to the power 0.75 of how often walks visit a node.

    A node without edges is on no walk and keeps the small vector that it began with.
    """

    Settings = DeepWalkSettings
    reads: ClassVar[frozenset[str]] = frozenset()
    inductive: ClassVar[bool] = False

    @property
    def views(self) -> tuple[str, ...]:
        return ("walk",)

    def build(self, num_nodes: int, num_features: int) -> SkipGram:
        return SkipGram(num_nodes, self.settings.dim, self.generator())

    def objective(
        self, model: SkipGram, graph: Graph, operator: Operator, device: torch.device, allocate: Allocate | None
    ) -> SkipGramObjective | None:
        if not graph.adjacency.nnz:
            return None
        walked = WalkGraph(graph.adjacency)
        starts = walked.degree.nonzero().squeeze(1)
        visits = expected_visits(graph.adjacency, self.settings.length)
        return SkipGramObjective(model, self.walk(walked), starts, visits, self.settings)

    def walk(self, graph: WalkGraph) -> Walk:
        """What makes the walks."""
        length = self.settings.length
        return lambda starts, generator: first_order_walks(graph, starts, length, generator)

    def embed(self, model: SkipGram, graph: Graph, operator: Operator) -> Iterator[np.ndarray]:
        yield model.embeddings.detach().cpu().numpy()
