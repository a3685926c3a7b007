"""What a table of data sets says about a graph."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import scipy.sparse as sp

from figure_kedro.graph.graph import Graph
from figure_kedro.graph.row_blocks import csr_blocks
from figure_kedro.graph.splits import PARTS
from figure_kedro.graph.targets import Targets
from figure_kedro.graph.twins import ALONE, has_training_twin, twin_groups

NAMED = 12  # of the features and classes of a graph


def edge_homophily(graph: Graph, labels: np.ndarray | None) -> float | None:
    r"""Share of the edges that join nodes of equal labels:

    .. math:: h = \frac{|\{\{u, v\} \in E : y_u = y_v\}|}{|E|}

    :math:`E` holds the distinct undirected pairs, without self-loops, whose endpoints both have a known label
    :math:`y`; the direction and weight of an edge do not count. ``None`` if there is no such edge, which includes a
    graph without labels.
    """
    if labels is None:
        return None
    adjacency = graph.adjacency
    equal = counted = 0
    for rows, block in csr_blocks(adjacency):
        edges = block.tocoo()
        source, target = edges.row + rows.start, edges.col
        pairs = source < target
        if graph.directed:  # of two edges between the same nodes one counts
            back = np.flatnonzero(source > target)
            if len(back):
                pairs[back] = adjacency[target[back], source[back]] == 0
        first, second = labels[source[pairs]], labels[target[pairs]]
        known = (first >= 0) & (second >= 0)
        equal += int(((first == second) & known).sum())
        counted += int(known.sum())
    return equal / counted if counted else None


def statistics_table(graph: Graph, targets: Targets) -> pd.DataFrame:
    """One row with the columns of the paper's table of data sets and what else a reader should know.

    ``edges`` counts undirected pairs, or directed edges if the graph is directed; ``entries_with_loops`` counts an
    undirected pair in both directions and one self-loop for every node, as many papers do. ``train``, ``val`` and
    ``test`` are the sizes of the first split (0 if there are no splits). ``homophily`` is :func:`edge_homophily`, empty
    where it is not defined. ``isolated_nodes`` have no edge in either direction. ``same_neighbours`` counts the nodes
    whose neighbours are those of another node (:mod:`figure_kedro.graph.twins`), ``same_neighbours_and_features`` those
    that share both, and ``test_..._in_training`` the test nodes that have such a twin in training, on average over the
    splits. ``feature_names`` are the columns that were taken for features, ``nodes_of_classes`` the classes with their
    sizes: at most twelve of either in words.
    """
    first_split = np.zeros(0, dtype=np.int8) if targets.splits is None else targets.splits[0]
    homophily = edge_homophily(graph, targets.labels)
    row = {
        "dataset": graph.name,
        "nodes": graph.num_nodes,
        "edges": graph.num_edges,
        "entries_with_loops": int(graph.adjacency.nnz) + graph.num_nodes,
        "features": graph.num_features,
        "classes": targets.num_classes,
        **{part: int((first_split == code).sum()) for part, code in PARTS.items()},
        "homophily": np.nan if homophily is None else homophily,
        "splits": targets.num_splits,
        "isolated_nodes": _isolated_nodes(graph.adjacency),
        "directed": graph.directed,
        **_twins(graph, targets),
        "feature_names": _some(graph.feature_names or ()),
        "nodes_of_classes": _some(_class_sizes(targets)),
    }
    return pd.DataFrame([row])


def _class_sizes(targets: Targets) -> list[str]:
    if targets.labels is None:
        return []
    sizes = {name: int((targets.labels == code).sum()) for code, name in enumerate(targets.classes)}
    unknown = int((targets.labels < 0).sum())
    return [f"{name}: {size:,}" for name, size in (sizes | ({"no label": unknown} if unknown else {})).items()]


def _some(words: Sequence[str]) -> str | None:
    """The first words, and how many more there are; nothing if there are none.

    >>> _some(["a", "b"])
    'a, b'
    """
    more = [f"and {len(words) - NAMED:,} more"] if len(words) > NAMED else []
    return ", ".join([*words[:NAMED], *more]) or None


def _twins(graph: Graph, targets: Targets) -> dict[str, float]:
    """How many nodes have the neighbours of another one, how many also its features, and how many test nodes have such
    twins in training, on average over the splits."""
    splits = np.zeros((0, graph.num_nodes), dtype=np.int8) if targets.splits is None else targets.splits
    numbers: dict[str, float] = {}
    for name, features in (("same_neighbours", False), ("same_neighbours_and_features", True)):
        known = None if features else targets.twins  # a source may know more than its graph tells
        twins = twin_groups(graph, features=features) if known is None else known
        found = [int(has_training_twin(twins, codes).sum()) for codes in splits]
        numbers[name] = int((twins != ALONE).sum())
        numbers[f"test_{name}_in_training"] = float(np.mean(found)) if found else 0.0
    return numbers


def _isolated_nodes(adjacency: sp.csr_array) -> int:
    touched = np.diff(adjacency.indptr) > 0
    for _, block in csr_blocks(adjacency):
        touched[block.indices] = True
    return int((~touched).sum())
