"""Node2Vec: DeepWalk on walks that lean inwards or outwards."""

from collections.abc import Mapping
from typing import Any, ClassVar, Literal

from pydantic import Field

from figure_kedro.methods.kinds.deepwalk import DeepWalk
from figure_kedro.methods.method import METHODS
from figure_kedro.methods.skipgram import Walk, WalkSettings
from figure_kedro.methods.walks import WalkGraph, second_order_walks


class Node2VecSettings(WalkSettings):
    """Node2Vec's walks remember where they came from."""

    ranges: ClassVar[Mapping[str, tuple[Any, ...]]] = {
        "per_node": (5, 10, 15),
        "length": (40, 50, 60),
        "p": (0.1, 0.25, 0.5, 1.0),
        "q": (3.0, 4.0, 5.0),
    }

    method: Literal["node2vec"] = "node2vec"
    p: float = Field(1.0, gt=0, description="return parameter: small values turn back often")
    q: float = Field(1.0, gt=0, description="in-out parameter: large values stay near")


@METHODS.register
class Node2Vec(DeepWalk):
    """ "node2vec: Scalable Feature Learning for Networks" (Grover & Leskovec, 2016): the objective of
    :class:`~figure_kedro.methods.kinds.deepwalk.DeepWalk` on the walks of
    :func:`~figure_kedro.methods.walks.second_order_walks`, whose ``p`` and ``q`` say how readily a walk turns back
    and how far it strays. Negatives are drawn as for DeepWalk, by the visits of first-order walks."""

    Settings = Node2VecSettings  # type: ignore[assignment]

    def walk(self, graph: WalkGraph) -> Walk:
        w = self.settings
        return lambda starts, generator: second_order_walks(graph, starts, w.length, w.p, w.q, generator)
