"""From a table of edges and a table of nodes to a graph."""

import dataclasses
import logging
from collections.abc import Sequence
from typing import Any

import numpy as np
import pandas as pd
from pydantic import ValidationError

from figure_kedro.errors import UserError, nearest
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.graph.columns import UNNAMED, Columns, column, ignored
from figure_kedro.graph.edge_list import EdgeList
from figure_kedro.graph.edge_table import edge_weights, endpoint_columns, warn_of_single_use
from figure_kedro.graph.graph import Graph
from figure_kedro.graph.ids import as_ids, rows_of, sorted_ids
from figure_kedro.graph.node_table import Nodes, nodes_of_table
from figure_kedro.graph.symmetry import tell_if_symmetric

logger = logging.getLogger(__name__)


def from_pandas(
    edges: pd.DataFrame, nodes: pd.DataFrame | None = None, *, name: str = "graph", **columns: Any
) -> Graph:
    """A graph from a table of edges and, where there is one, a table of nodes.

    Args:
        edges: One edge per row; the first two columns are the endpoints unless ``source_column`` and
            ``target_column`` say otherwise.
        nodes: One node per row; its index is the id if it has a name or holds words, else the first column, unless
            ``id_column`` says otherwise. Without this table the nodes are the endpoints, sorted.
        name: Of the graph.
        columns: The fields of :class:`~figure_kedro.graph.columns.Columns`. No splits are drawn unless
            ``random_splits`` asks for them.

    Example::

        edges = pd.DataFrame({"source": ["a", "b"], "target": ["b", "c"]})
        from_pandas(edges).ids.tolist()  # ["a", "b", "c"]
    """
    if not isinstance(edges, pd.DataFrame) or not isinstance(nodes, pd.DataFrame | None):
        raise UserError(f"{name}: edges and nodes must be tables of pandas")
    try:
        chosen = Columns(**{"random_splits": 0, **columns})
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        field = ".".join(map(str, first["loc"]))
        unknown = first["type"] == "extra_forbidden"
        message = nearest(field, Columns.model_fields) if unknown else first["msg"].removeprefix("Value error, ")
        raise UserError(f"{name}: {f'there is no {field!r}; ' if unknown else ''}{message}") from None
    if nodes is not None and _names_rows(nodes.index) and "id" not in nodes.columns:
        nodes = nodes.rename_axis("id")
    return graph_from_tables(named_by_text(edges), None if nodes is None else named_by_text(nodes), chosen, name)


def named_by_text(frame: pd.DataFrame) -> pd.DataFrame:
    """The same table with its index as a column, if it is more than row numbers, and columns named by strings."""
    if _names_rows(frame.index):
        frame = frame.rename_axis(f"{UNNAMED}index")
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    frame = frame.set_axis([str(name) for name in frame.columns], axis="columns")
    if (repeated := frame.columns.duplicated()).any():
        raise UserError(f"two columns are called {frame.columns[repeated][0]!r}; rename one")
    return frame


def _names_rows(index: pd.Index) -> bool:
    """Whether an index without a name holds words, which may be ids."""
    return index.nlevels == 1 and index.name is None and not pd.api.types.is_numeric_dtype(index) and len(index) > 0


def graph_from_tables(
    edges: pd.DataFrame,
    nodes: pd.DataFrame | None,
    columns: Columns,
    name: str,
    *,
    places: tuple[str, str] = ("the edges", "the nodes"),
) -> Graph:
    """Make the graph that two tables describe, and say in the log what their columns were taken for.

    Ids may be of any type, unsorted and with gaps. With a node table its rows give the order of the nodes and every
    endpoint must be in it; without one the nodes are the endpoints, sorted.

    Raises:
        UserError: For anything in the tables that makes no graph, naming the table, the column and the row or node; and
            for a column that looks like something else than it would be taken for, see
            :mod:`figure_kedro.graph.doubts`.
    """
    check_ignored(columns, [edges] if nodes is None else [edges, nodes], places)
    place = places[0]
    ends = endpoint_columns(columns, edges, place)
    endpoints = [as_ids(values, f"{place}, column {values.name!r}") for values in ends]
    named = columns.weight_column
    weights = None if named is None else edge_weights(column(edges, place, named), place)
    if columns.source_column is None or columns.target_column is None:
        count = pd.concat([pd.Series(end) for end in endpoints]).nunique()
        once = [str(values.name) for values, end in zip(ends, endpoints, strict=True) if pd.Index(end).is_unique]
        warn_of_single_use(len(edges), count, place, lambda: once)
    known_nodes = Nodes(ids=sorted_ids(endpoints)) if nodes is None else nodes_of_table(nodes, columns, places[1])
    rows = rows_of(endpoints, known_nodes.ids)
    for values, ids, row in zip(ends, endpoints, rows, strict=True):
        if (row < 0).any():
            edge = int(np.argmax(row < 0))
            raise UserError(no_such_node(places, str(values.name), edge, str(ids[edge]), known_nodes))
    return graph_of_rows(EdgeList(rows[0], rows[1], weights), known_nodes, columns, name, place)


def check_ignored(columns: Columns, tables: Sequence[pd.DataFrame], places: Sequence[str]) -> None:
    """Raise a :class:`UserError` if a column that is to be left out is in no table."""
    for unknown in columns.ignore:
        single = columns.model_copy(update={"ignore": (unknown,)})
        if not any(ignored(single, table) for table in tables):
            known = [key for table in tables for key in table.columns]
            raise UserError(f"{' and '.join(places)} have no column {unknown!r} to ignore; {nearest(unknown, known)}")


def no_such_node(places: tuple[str, str], name: str, edge: int, node: str, nodes: Nodes) -> str:
    """What to say of an edge that ends where there is no node."""
    return (
        f"{places[0]}, column {name!r}, row {edge + 1}: there is no node {node!r} in {places[1]}, column "
        f"{nodes.id_column!r}"
    )


def graph_of_rows(edges: EdgeList, nodes: Nodes, columns: Columns, name: str, place: str) -> Graph:
    """Make the graph of edges between row numbers, and say how large it is.

    Args:
        edges: Of which repeated ones and loops are dropped.
        nodes: What is known about them.
        columns: What the columns mean.
        name: Of the graph.
        place: The name of the table of edges.
    """
    graph = graph_from_edges(
        edges.source,
        edges.target,
        name=name,
        ids=nodes.ids,
        weights=edges.weights,
        directed=columns.directed,
        features=nodes.features,
        labels=nodes.labels,
        classes=nodes.classes,
        splits=nodes.splits,
    )
    graph = dataclasses.replace(graph, feature_names=nodes.feature_names or None, trusted=True)
    direction = "directed" if graph.directed else "undirected"
    logger.info("%s: %d nodes and %d %s edges", name, graph.num_nodes, graph.num_edges, direction)
    if graph.directed:
        tell_if_symmetric(graph.adjacency, place, columns.setting("directed"))
    return graph
