"""The contextual stochastic block model: a graph of any size with a chosen degree and homophily."""

import numpy as np

from figure_kedro.errors import UserError
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.graph.graph import Graph
from figure_kedro.graph.row_blocks import even_blocks
from figure_kedro.graph.splits import random_splits
from figure_kedro.memory import check_memory, memory


def generate_csbm(
    nodes: int,
    degree: float,
    classes: int,
    homophily: float,
    features: int,
    signal: float,
    splits: int,
    seed: int,
    name: str,
    labelled: float = 1.0,
) -> Graph:
    r"""Draw a graph from the model of "Contextual Stochastic Block Models" (Deshpande et al., 2018), with any number of
    classes.

    The :math:`n` nodes are divided evenly at random among :math:`C` classes. Each pair of nodes is joined
    independently, with one probability inside the classes and one between them:

    .. math:: p_{in} = \frac{h \, n k / 2}{N_{in}}, \quad p_{out} = \frac{(1 - h) \, n k / 2}{N_{out}}

    where :math:`k` is the expected degree, :math:`h` the expected share of edges that join equal labels, and
    :math:`N_{in}, N_{out}` count the pairs of nodes of equal and of different classes. A node :math:`u` of class
    :math:`y_u` has the features

    .. math:: x_u = s \, m_{y_u} + z_u, \quad \|m_c\| = 1, \quad z_u \sim N(0, I)

    with :math:`s` the signal and :math:`m_c` a random direction for each class. The splits are random, 50/25/25 % of
    each class.

    The number of edges inside and between classes is drawn first and then that many distinct pairs, which is the same
    distribution at a cost that is linear in nodes and edges.

    Args:
        nodes: Number of nodes :math:`n`, at least two a class.
        degree: Expected degree :math:`k`.
        classes: Number of classes :math:`C`, at least 2.
        homophily: Expected edge homophily :math:`h`, from 0 to 1; :math:`1/C` makes the edges tell nothing.
        features: Number of feature columns; 0 for a graph without features.
        signal: Norm :math:`s` of the class means, in units of the noise; 0 makes the features tell nothing.
        splits: How many splits to draw.
        seed: Of the random generator; the same seed gives the same graph.
        name: Of the graph.
        labelled: Share of the nodes of each class whose label is known; the others are in no split.
    """
    if classes < 2 or nodes < 2 * classes:
        raise UserError(
            f"{name}: {nodes} nodes in {classes} classes; give two classes or more, each of two nodes or more"
        )
    if not 0 <= homophily <= 1:
        raise UserError(f"{name}: homophily = {homophily} is not a share; choose one from 0 to 1")
    if degree < 0 or signal < 0 or features < 0:
        raise UserError(f"{name}: degree, signal and features must not be negative")

    if memory().scratch is None:  # else large arrays lie in files
        need = nodes * (40 + 4 * features + splits + 32 * degree)  # ids, labels, order, and an edge four times over
        check_memory(need, f"{name}: a graph of {nodes} nodes", "ask for fewer nodes, features or neighbours")

    node_rng, edge_rng, feature_rng, split_rng, label_rng = np.random.default_rng(seed).spawn(5)
    sizes = np.full(classes, nodes // classes) + (np.arange(classes) < nodes % classes)
    order = node_rng.permutation(nodes)  # position in class order -> node
    labels = np.empty(nodes, dtype=np.int64)
    labels[order] = np.repeat(np.arange(classes), sizes)

    source, target = _edges(edge_rng, order, sizes, nodes * degree / 2, homophily, name)
    settings = {
        "nodes": nodes,
        "degree": degree,
        "classes": classes,
        "homophily": homophily,
        "features": features,
        "signal": signal,
        "seed": seed,
    }
    values = _features(feature_rng, labels, classes, features, signal) if features else None
    if labelled < 1:
        labels = _some_known(label_rng, labels, labelled)
    return graph_from_edges(
        source,
        target,
        name=name,
        num_nodes=nodes,
        features=values,
        labels=labels,
        classes=tuple(map(str, range(classes))),
        splits=random_splits(labels, splits, 0.5, 0.25, int(split_rng.integers(2**32))) if splits else None,
        generated={"generator": "csbm", **settings},
    )


def _some_known(rng: np.random.Generator, labels: np.ndarray, share: float) -> np.ndarray:
    """The labels of that share of every class, at least one, and -1 for the others."""
    known = np.full_like(labels, -1)
    for c in range(int(labels.max()) + 1):
        nodes = rng.permutation(np.flatnonzero(labels == c))
        known[nodes[: max(1, round(share * len(nodes)))]] = c
    return known


def _edges(
    rng: np.random.Generator, order: np.ndarray, sizes: np.ndarray, expected: float, homophily: float, name: str
) -> tuple[np.ndarray, np.ndarray]:
    """Endpoints as nodes, each edge once."""
    first, second = np.triu_indices(len(sizes), k=1)
    every = np.arange(len(sizes))
    parts = []
    for a, b, pairs, share in (
        (every, every, sizes * (sizes - 1) // 2, homophily),
        (first, second, sizes[first] * sizes[second], 1 - homophily),
    ):
        population = int(pairs.sum())
        probability = share * expected / population
        if probability > 1:
            raise UserError(
                f"{name}: degree and homophily ask for {share * expected:.0f} edges among {population} pairs of nodes; "
                "lower the degree or raise the number of nodes"
            )
        keys = _distinct(rng, population, int(rng.binomial(population, probability)))
        parts.append((keys, a, b, pairs))
    nodes = order.astype(np.int32 if len(order) <= np.iinfo(np.int32).max else np.int64)
    count = sum(len(keys) for keys, *_ in parts)
    source, target = memory().empty(count, nodes.dtype), memory().empty(count, nodes.dtype)
    done = 0
    for keys, a, b, pairs in parts:
        for part in even_blocks(len(keys)):
            filled = slice(done + part.start, done + part.stop)
            ends = _decode(keys[part], a, b, pairs, sizes)
            source[filled], target[filled] = (nodes[end] for end in ends)
        done += len(keys)
    return source, target


def _distinct(rng: np.random.Generator, population: int, count: int) -> np.ndarray:
    """A uniform subset of ``count`` of the numbers below ``population``, in memory of order ``count``."""
    if 2 * count > population:
        return rng.permutation(population)[:count]
    keys, found = memory().empty(count, np.int64), 0
    while found < count:
        for part in even_blocks(count - found):
            keys[found + part.start : found + part.stop] = rng.integers(population, size=part.stop - part.start)
        keys.sort()
        found = _unique_first(keys)
    return keys


def _unique_first(keys: np.ndarray) -> int:
    """Move the distinct ones of sorted numbers to the front; returns how many there are."""
    found, last = 0, -1
    for part in even_blocks(len(keys)):
        block = keys[part]
        block = block[np.diff(block, prepend=last) > 0]  # a copy
        keys[found : found + len(block)] = block
        found += len(block)
        last = int(block[-1]) if len(block) else last
    return found


def _decode(
    keys: np.ndarray, a: np.ndarray, b: np.ndarray, pairs: np.ndarray, sizes: np.ndarray
) -> tuple[np.ndarray, np.ndarray]:
    """Turn pair numbers into positions; block ``i`` holds the ``pairs[i]`` pairs between classes ``a[i]`` and ``b[i]``.

    Inside a class of ``s`` nodes the pairs are numbered as chords of a circle: number ``(d - 1) s + u`` joins ``u``
    and ``u + d`` modulo ``s``, which lists each pair once and needs whole numbers only.
    """
    start = np.cumsum(sizes) - sizes
    ends = np.cumsum(pairs)
    block = np.searchsorted(ends, keys, side="right")
    keys = keys - (ends - pairs)[block]
    a, b = a[block], b[block]
    quotient, remainder = np.divmod(keys, sizes[b])
    source = np.where(a == b, (remainder + quotient + 1) % sizes[b], quotient)
    return start[a] + source, start[b] + remainder


def _features(rng: np.random.Generator, labels: np.ndarray, classes: int, columns: int, signal: float) -> np.ndarray:
    means = rng.standard_normal((classes, columns), dtype=np.float32)
    means *= signal / np.linalg.norm(means, axis=1, keepdims=True)
    values = memory().empty((len(labels), columns))
    for rows in even_blocks(*values.shape):
        rng.standard_normal(dtype=np.float32, out=values[rows])
        values[rows] += means[labels[rows]]
    return values
