"""A table of new nodes as a request has it: one row per node, with its neighbours and features."""

from collections.abc import Iterable
from typing import Any

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError
from figure_kedro.graph import Graph
from figure_kedro.inference.new_nodes import NewNodes

ID, NEIGHBOURS, NEIGHBOURS_IN, WEIGHTS = "id", "neighbours", "neighbours_in", "weights"
OWN_COLUMNS = (ID, NEIGHBOURS, NEIGHBOURS_IN, WEIGHTS)
"""What a request says of a node beside its features: its id, the nodes that it has an edge to, on a directed graph
those that have an edge to it, and the weights of the edges in ``neighbours``."""


def read_request(table: pd.DataFrame, graph: Graph) -> NewNodes:
    """The new nodes of a request.

    Raises:
        UserError: If a column is missing, or if a list of weights has another length than that of neighbours.
    """
    if ID not in table:
        raise UserError(
            f"the request has no column {ID!r}; a row is a new node with its {ID}, {NEIGHBOURS} and features"
        )
    if NEIGHBOURS_IN in table and not graph.directed:
        raise UserError(f"{graph.name} has no directions; give all neighbours as {NEIGHBOURS!r}")
    ids = table[ID].to_numpy()
    to, into = _lists(table, NEIGHBOURS), _lists(table, NEIGHBOURS_IN)
    source = [*_repeated(ids, to), *_joined(into)]
    target = [*_joined(to), *_repeated(ids, into)]
    weights = None
    if WEIGHTS in table and table[WEIGHTS].notna().any():
        given = _lists(table, WEIGHTS)
        for node, neighbours, numbers in zip(ids, to, given, strict=True):
            if len(neighbours) != len(numbers):
                raise UserError(f"node {str(node)!r} has {len(neighbours)} neighbours and {len(numbers)} weights")
        weights = np.array([*_joined(given), *([1.0] * sum(map(len, into)))], dtype=np.float64)
        if len(weights) and not (np.isfinite(weights) & (weights > 0)).all():
            raise UserError("the weights of edges must be positive numbers")
    features = table[[name for name in table if name not in OWN_COLUMNS]]
    return NewNodes(
        ids,
        _as_ids(source, ids),
        _as_ids(target, ids),
        weights,
        features if len(features.columns) else None,
        edges_name="the request",
        nodes_name="the request",
    )


def _lists(table: pd.DataFrame, name: str) -> list[Any]:
    """The lists of a column; a node without one has an empty one."""
    if name not in table:
        return [[]] * len(table)
    lists = [[] if np.ndim(value) == 0 and pd.isna(value) else value for value in table[name]]
    if wrong := next((value for value in lists if isinstance(value, str) or np.ndim(value) != 1), None):
        raise UserError(f"column {name!r} must hold lists, not {str(wrong)!r}")
    return lists


def _joined(lists: Iterable[Any]) -> list[Any]:
    return [value for values in lists for value in values]


def _repeated(ids: np.ndarray, lists: list[Any]) -> list[Any]:
    return [node for node, values in zip(ids, lists, strict=True) for _ in values]


def _as_ids(values: list[Any], ids: np.ndarray) -> np.ndarray:
    if not values:
        return np.empty(0, dtype=ids.dtype)
    found = np.asarray(values)
    return found if found.dtype.kind in "iu" else np.asarray(values, dtype=object)
