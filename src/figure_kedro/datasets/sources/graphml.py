"""Graphs in GraphML files, read by networkx."""

import io
import logging
from typing import Any
from xml.parsers import expat

import pandas as pd

from figure_kedro.datasets.sources.text_table import read_bytes
from figure_kedro.errors import UserError
from figure_kedro.graph.from_networkx import tables_of_networkx

logger = logging.getLogger(__name__)

LIMIT = 1 << 30
"""Bytes of XML that are read at most: networkx needs many times as much memory."""


def read_graphml(path: str) -> tuple[pd.DataFrame, pd.DataFrame, bool]:
    """Read a GraphML file (also ``.gz``) as tables of edges and nodes, and whether its edges are directed.

    Entities are refused: a short file can hold some that unfold to gigabytes.
    """
    import networkx as nx

    try:
        content = read_bytes(path, LIMIT + 1)
        if len(content) > LIMIT:
            raise UserError(f"{path} is larger than {LIMIT >> 20} MB of XML; convert it to Parquet tables")
        _refuse_entities(content, path)
        graph = nx.read_graphml(io.BytesIO(content), node_type=str)
    except UserError:
        raise
    except (OSError, EOFError, SyntaxError, ValueError, KeyError, expat.ExpatError, nx.NetworkXError) as error:
        raise UserError(f"{path} cannot be read as GraphML: {' '.join(str(error).split())}") from error
    if graph.number_of_nodes() == 0 or graph.number_of_edges() == 0:
        raise UserError(f"{path} holds no {'edges' if graph.number_of_nodes() else 'nodes'}")
    return *tables_of_networkx(graph), graph.is_directed()


class _Begun(Exception):
    """The first element is reached, and no entity can be declared after that."""


def _refuse_entities(content: bytes, path: str) -> None:
    parser = expat.ParserCreate()

    def refuse(*declaration: Any) -> None:
        raise UserError(f"{path} declares XML entities, which are not read; remove its DOCTYPE")

    def begin(*element: Any) -> None:
        raise _Begun

    parser.EntityDeclHandler, parser.StartElementHandler = refuse, begin
    try:
        parser.Parse(content, True)
    except _Begun:
        return
