r"""Random walks of the first and the second order, many at once."""

from collections.abc import Callable
from functools import cached_property

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.graph.csr import row_sums

ENDED = -1
"""Stands in a walk after a node that no edge leaves."""

ROUNDS = 16
"""Rejections after which a step is drawn from its written-out distribution."""

ENTRIES = 2**22
"""Edges of such distributions that are held at a time."""


Step = Callable[[torch.Tensor | None, torch.Tensor], torch.Tensor]
"""Draws the next node of walks from the nodes before the last, where there are any, and the last ones."""


class WalkGraph:
    """The edges of a graph in the order of their source, ready for drawing; memory is linear in the edges.

    Walks live on the CPU, where a step is a few look-ups and no arithmetic to speak of.

    Args:
        adjacency: Positive edge weights, CSR ``(n, n)``.
    """

    def __init__(self, adjacency: sp.csr_array) -> None:
        adjacency = adjacency.sorted_indices()
        self.num_nodes = adjacency.shape[0]
        self.first = torch.from_numpy(adjacency.indptr.astype(np.int64))  # (n + 1,)
        self.target = torch.from_numpy(adjacency.indices.astype(np.int64))  # (m,)
        self.degree = self.first.diff()
        self._weight = torch.from_numpy(adjacency.data.astype(np.float64))

    @cached_property
    def source(self) -> torch.Tensor:
        return torch.repeat_interleave(self.degree)  # (m,)

    @cached_property
    def share(self) -> torch.Tensor:
        """Each edge's share of the weight that leaves its source ``(m,)``."""
        return _normalise(self._weight, self.source, self.num_nodes)

    @cached_property
    def _steps(self) -> torch.Tensor:
        return _cumulate(self.share, self.source, self.first)

    @cached_property
    def _keys(self) -> torch.Tensor:
        return self.source * self.num_nodes + self.target  # ascending, because rows are sorted

    def step(self, node: torch.Tensor, generator: torch.Generator) -> torch.Tensor:
        """Draw a successor of each node, in proportion to edge weights; every node needs an outgoing edge."""
        drawn = torch.rand(len(node), dtype=torch.float64, generator=generator)
        edge = torch.searchsorted(self._steps, node + drawn, right=True)
        return self.target[edge.clamp(self.first[node], self.first[node + 1] - 1)]  # rounding may leave the row

    def find(self, source: torch.Tensor, target: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        """The number of the edge between two nodes, and whether there is one."""
        key = source * self.num_nodes + target
        edge = torch.searchsorted(self._keys, key).clamp(max=len(self._keys) - 1)
        return edge, self._keys[edge] == key


def first_order_walks(graph: WalkGraph, starts: torch.Tensor, length: int, generator: torch.Generator) -> torch.Tensor:
    r"""The walks of "DeepWalk: Online Learning of Social Representations" (Perozzi et al., 2014), on weighted edges:

    .. math:: P(x \mid v) = w_{vx} / \sum_y w_{vy}

    Args:
        graph: Where to walk.
        starts: The first nodes ``(b,)``.
        length: Nodes of a walk, the first one included.
        generator: Draws the steps.

    Returns:
        Nodes ``(b, length)``; :data:`ENDED` after a node that no edge leaves.
    """
    return _walks(graph, starts, length, lambda before, node: graph.step(node, generator))


def second_order_walks(
    graph: WalkGraph, starts: torch.Tensor, length: int, p: float, q: float, generator: torch.Generator
) -> torch.Tensor:
    r"""The walks of "node2vec: Scalable Feature Learning for Networks" (Grover & Leskovec, 2016), which remember the
    node :math:`t` that they came from:

    .. math::
        P(x \mid v, t) \propto w_{vx} \cdot \begin{cases}
            1 / p & x = t \\ 1 & \text{there is an edge from } t \text{ to } x \\ 1 / q & \text{otherwise} \end{cases}

    Instead of a table for every pair of edges, a step proposes as a first-order walk does and accepts with the
    probability of the last factor over its largest value. A factor :math:`1 / p` above the others would make
    acceptance rare, so the way back is proposed more often by just as much. The first step has no :math:`t`. With
    :math:`p = q = 1` everything is accepted without a draw: the walks are first-order walks, to the last bit.

    Args:
        graph: Where to walk.
        starts: The first nodes ``(b,)``.
        length: Nodes of a walk, the first one included.
        p: Return parameter.
        q: In-out parameter.
        generator: Draws the steps.

    Returns:
        Nodes ``(b, length)``; :data:`ENDED` after a node that no edge leaves.
    """

    def step(before: torch.Tensor | None, node: torch.Tensor) -> torch.Tensor:
        if before is None:
            return graph.step(node, generator)
        return _second_step(graph, before, node, p, q, generator)

    return _walks(graph, starts, length, step)


def expected_visits(adjacency: sp.csr_array, length: int) -> np.ndarray:
    r"""How often first-order walks, one from each node, visit the nodes: :math:`\sum_{k < l} (P^T)^k 1`, ``(n,)``.

    Nodes without any edge count 0: their walks hold no pair.
    """
    out = row_sums(adjacency)
    inverse = np.divide(1.0, out, out=np.zeros(len(out)), where=out > 0)
    transposed = sp.csr_array(adjacency.T, dtype=np.float64)
    visits = now = ((out > 0) | (np.diff(transposed.indptr) > 0)).astype(np.float64)
    for _ in range(length - 1):
        now = transposed @ (inverse * now)
        visits = visits + now
    return visits


def _walks(graph: WalkGraph, starts: torch.Tensor, length: int, step: Step) -> torch.Tensor:
    walks = torch.full((length, len(starts)), ENDED)
    walks[0] = starts
    alive = torch.arange(len(starts))
    for k in range(1, length):
        alive = alive[graph.degree[walks[k - 1, alive]] > 0]
        before = walks[k - 2, alive] if k > 1 else None
        walks[k, alive] = step(before, walks[k - 1, alive])
    return walks.T.contiguous()


def _second_step(
    graph: WalkGraph, before: torch.Tensor, node: torch.Tensor, p: float, q: float, generator: torch.Generator
) -> torch.Tensor:
    bound = max(1.0, 1 / q)
    surplus = max(1 / p - bound, 0.0)
    if surplus:
        edge, found = graph.find(node, before)
        weight = surplus * torch.where(found, graph.share[edge], 0.0)
        back = weight / (bound + weight)  # how often the way back is proposed on top of first-order proposals
    drawn = torch.empty_like(node)
    waiting = torch.arange(len(node))
    for _ in range(ROUNDS):
        t, x = before[waiting], graph.step(node[waiting], generator)
        if surplus:
            x = torch.where(_uniform(len(x), generator) < back[waiting], t, x)
        factor = _factor(graph, t, x, p, q)
        accepted = factor >= bound
        unsure = (~accepted).nonzero().squeeze(1)
        accepted[unsure] = _uniform(len(unsure), generator) * bound < factor[unsure]
        drawn[waiting[accepted]] = x[accepted]
        waiting = waiting[~accepted]
        if not len(waiting):
            return drawn
    rows = max(1, ENTRIES // int(graph.degree[node[waiting]].max()))
    for part in waiting.split(rows):
        drawn[part] = _written_out_step(graph, before[part], node[part], p, q, generator)
    return drawn


def _written_out_step(
    graph: WalkGraph, before: torch.Tensor, node: torch.Tensor, p: float, q: float, generator: torch.Generator
) -> torch.Tensor:
    """The same step from the probabilities of all successors, for walks that would be rejected too often."""
    degree = graph.degree[node]
    owner = torch.repeat_interleave(degree)
    first = torch.cat([degree.new_zeros(1), degree.cumsum(0)])
    edge = torch.arange(len(owner)) - first[owner] + graph.first[node][owner]
    weight = graph.share[edge] * _factor(graph, before[owner], graph.target[edge], p, q)
    steps = _cumulate(_normalise(weight, owner, len(node)), owner, first)
    drawn = torch.arange(len(node)) + _uniform(len(node), generator)
    chosen = torch.searchsorted(steps, drawn, right=True).clamp(first[:-1], first[1:] - 1)
    return graph.target[edge[chosen]]


def _factor(graph: WalkGraph, t: torch.Tensor, x: torch.Tensor, p: float, q: float) -> torch.Tensor:
    _, near = graph.find(t, x)
    factor = torch.where(near, 1.0, 1 / q).double()
    return torch.where(x == t, 1 / p, factor)


def _uniform(count: int, generator: torch.Generator) -> torch.Tensor:
    return torch.rand(count, dtype=torch.float64, generator=generator)


def _normalise(weight: torch.Tensor, owner: torch.Tensor, owners: int) -> torch.Tensor:
    total = torch.zeros(owners, dtype=torch.float64).index_add_(0, owner, weight)
    return weight / total[owner]


def _cumulate(share: torch.Tensor, owner: torch.Tensor, first: torch.Tensor) -> torch.Tensor:
    """Row number plus cumulative share within the row, so that one sorted array serves all rows."""
    total = torch.cat([share.new_zeros(1), share.cumsum(0)])
    return owner + (total[1:] - total[first[:-1]][owner])
