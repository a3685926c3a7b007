"""Node2Vec: DeepWalk on walks that lean inwards or outwards."""

from figure_kedro.methods.deepwalk import DeepWalk
from figure_kedro.methods.skipgram import Walk
from figure_kedro.methods.walks import WalkGraph, second_order_walks


class Node2Vec(DeepWalk):
    """ "node2vec: Scalable Feature Learning for Networks" (Grover & Leskovec, 2016): the objective of
    :class:`~figure_kedro.methods.deepwalk.DeepWalk` on the walks of
    :func:`~figure_kedro.methods.walks.second_order_walks`, whose ``p`` and ``q`` say how readily a walk turns back
    and how far it strays. Negatives are drawn as for DeepWalk, by the visits of first-order walks."""

    def walk(self, graph: WalkGraph) -> Walk:
        w = self.settings.walks
        return lambda starts, generator: second_order_walks(graph, starts, w.length, w.p, w.q, generator)
