"""From a graph of networkx to one of ours."""

from typing import TYPE_CHECKING, Any

import pandas as pd

from figure_kedro.errors import UserError
from figure_kedro.graph.from_tables import from_pandas
from figure_kedro.graph.graph import Graph
from figure_kedro.graph.ids import as_text

if TYPE_CHECKING:
    import networkx as nx

SOURCE, TARGET, ID, WEIGHT = "source", "target", "id", "weight"


def from_networkx(graph: "nx.Graph", *, features: Any = None, name: str = "graph", **columns: Any) -> Graph:
    """A graph from one of networkx, with its attributes as columns of its nodes and edges.

    Nodes keep their order. Attributes of nodes that hold numbers or lists of numbers become features, one that looks
    like a label is asked about; the attribute ``weight`` is the weight of an edge, and 1 where it is missing.

    Args:
        graph: Directed or not, also with several edges between two nodes, of which the largest weight stands.
        features: One row for each node instead of attributes, as in :meth:`Graph.from_arrays`.
        name: Of the graph.
        columns: ``label_column`` and the other fields of :class:`~figure_kedro.graph.columns.Columns`, which name
            attributes.
    """
    edges, nodes = tables_of_networkx(graph)
    if nodes.empty:
        raise UserError(f"{name}: the graph has no nodes")
    if features is not None:
        from figure_kedro.graph.features import as_features

        given = as_features(features, name)
        return from_networkx(graph, name=name, **{**columns, "feature_columns": []}).with_features(given)
    if WEIGHT in edges.columns:
        columns = {"weight_column": WEIGHT, **columns}
    columns = {"directed": graph.is_directed(), "source_column": SOURCE, "target_column": TARGET, **columns}
    return from_pandas(edges, nodes, name=name, id_column=ID, **columns)


def tables_of_networkx(graph: "nx.Graph") -> tuple[pd.DataFrame, pd.DataFrame]:
    """Its edges, with columns ``source``, ``target`` and their attributes, and its nodes, with ``id`` and theirs."""
    ends = list(graph.edges(data=True))
    ids = _ids(list(graph.nodes)).to_numpy()
    number = {node: row for row, node in enumerate(graph.nodes)}
    attributes = [{k: v for k, v in data.items() if k not in (SOURCE, TARGET)} for _, _, data in ends]
    edges = pd.DataFrame({SOURCE: ids[[number[u] for u, _, _ in ends]], TARGET: ids[[number[v] for _, v, _ in ends]]})
    if any(attributes):
        edges = edges.join(pd.DataFrame(attributes, index=edges.index))
    if WEIGHT in edges.columns:
        edges[WEIGHT] = edges[WEIGHT].fillna(1)
    known = [{k: v for k, v in data.items() if k != ID} for _, data in graph.nodes(data=True)]
    nodes = pd.DataFrame({ID: ids})
    if any(known):
        nodes = nodes.join(pd.DataFrame(known, index=nodes.index))
    return edges, nodes


def _ids(nodes: list[Any]) -> pd.Series:
    """The nodes as ids; what is neither a number nor text, such as a tuple, becomes text."""
    plain = all(isinstance(node, int | float | str) and not isinstance(node, bool) for node in nodes)
    return pd.Series(nodes if plain else as_text(nodes))
