"""A user's graph from tables that are too large for memory."""

import logging
from dataclasses import dataclass
from itertools import chain
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.datasets.sources.edge_database import EdgeDatabase
from figure_kedro.datasets.sources.id_columns import IdColumn
from figure_kedro.datasets.sources.large_nodes import first_nodes, node_row_bytes, read_large_nodes
from figure_kedro.datasets.sources.own_nodes import read_nodes_table
from figure_kedro.datasets.sources.tables import count_rows, is_parquet, table_blocks
from figure_kedro.errors import UserError
from figure_kedro.graph import Graph
from figure_kedro.graph.columns import column
from figure_kedro.graph.edge_list import EdgeList
from figure_kedro.graph.edge_table import edge_weights, endpoint_columns, warn_of_single_use
from figure_kedro.graph.from_tables import check_ignored, graph_of_rows, no_such_node
from figure_kedro.graph.ids import check_ids
from figure_kedro.graph.node_table import Nodes, nodes_of_table
from figure_kedro.memory import GIB, memory
from figure_kedro.progress import Bar

if TYPE_CHECKING:
    from figure_kedro.datasets.sources.kinds.own import OwnSettings

logger = logging.getLogger(__name__)

ROW_BYTES = 250
"""What a row of a table of edges takes while it becomes a graph in memory, if ids are text."""

TABLE_SHARE = 1 / 2
"""Of the run's memory that reading a table may take."""

LEAST_ROWS, MOST_ROWS = 16, 1 << 19
"""Of a block."""


@dataclass(frozen=True)
class LargeTables:
    """Tables that are too large for what the run may take.

    Args:
        folder: Where to work on them: what does not fit into memory lies there.
        nodes: Whether the table of nodes is one of them.
    """

    folder: Path
    nodes: bool


def large_tables(settings: "OwnSettings") -> LargeTables | None:
    """What is to be read in blocks of these tables; none if they fit."""
    limited = memory()
    if not isinstance(limited.scratch, ScratchFolder):
        return None
    rows = count_rows(settings.edges, settings.text_format(settings.no_endpoints))
    edges, nodes = _is_large(settings.edges, rows, ROW_BYTES), False
    if settings.nodes is not None:
        rows = count_rows(settings.nodes, settings.text_format(settings.no_ids))
        nodes = _is_large(settings.nodes, rows, node_row_bytes(settings))
    return LargeTables(limited.scratch.folder, nodes) if edges or nodes else None


def _is_large(place: str, rows: int, row_bytes: int) -> bool:
    limit = memory().limit
    large = row_bytes * rows > TABLE_SHARE * limit
    logger.info(
        "%s: about %s rows, which would take %.1f GiB in memory (limit %.1f GiB): %s",
        place,
        f"{rows:,}",
        row_bytes * rows / GIB,
        limit / GIB,
        "read in blocks, its ids sorted and joined by DuckDB" if large else "read whole",
    )
    return large


def graph_of_large_tables(settings: "OwnSettings", name: str, large: LargeTables) -> Graph:
    """What :func:`~figure_kedro.graph.from_tables.graph_from_tables` makes of the same tables, in little memory.

    Whether a column looks like something else is found in the first block of rows. A node table that is not large is
    read whole.

    Args:
        settings: Where the tables are and what their columns mean.
        name: Of the graph.
        large: Which tables these are.
    """
    place, form = settings.edges, settings.text_format(settings.no_endpoints)
    text: list[str | int] = [0, 1, *filter(None, (settings.source_column, settings.target_column))]
    rows = max(LEAST_ROWS, min(MOST_ROWS, memory().entries(ROW_BYTES)))
    blocks = table_blocks(place, text, form, rows=rows)
    first = next(blocks)
    table = None
    if settings.nodes is not None:
        table = first_nodes(settings) if large.nodes else read_nodes_table(settings)
    places = (place, settings.nodes or "")
    check_ignored(settings, [first] if table is None else [first, table], places)
    names = [str(values.name) for values in endpoint_columns(settings, first, place)]
    kinds = [IdColumn.of(first[key], is_text_file=not is_parquet(place, form)) for key in names]
    expected, named = count_rows(place, form), settings.weight_column
    with EdgeDatabase(large.folder, kinds, weighted=named is not None) as database:
        done = 0
        with Bar("reading edges") as bar:
            for frame in chain([first], blocks):
                ends = [column(frame, place, key) for key in names]
                for values in ends:
                    check_ids(values, f"{place}, column {values.name!r}", before=done)
                weights = None if named is None else edge_weights(column(frame, place, named), place, before=done)
                database.add(ends, weights)
                done += len(frame)
                bar.show(min(1.0, done / expected), [f"{done:,} of about {expected:,} rows"])
        nodes = None
        if large.nodes:
            nodes = read_large_nodes(settings, database)
        elif table is not None:
            nodes = nodes_of_table(table, settings, places[1])
        del first, table
        edges = database.end_edges(None if nodes is None else nodes.ids)
        if nodes is None:
            nodes = Nodes(ids=database.find_nodes())
        else:
            database.take_nodes(nodes.ids)
        if settings.source_column is None or settings.target_column is None:
            _warn_of_single_use(database, edges, nodes, place, names)
        found = _row_numbers(database, edges, len(nodes.ids), weighted=named is not None)
        if found is None:
            end, edge, node = database.first_unknown()
            raise UserError(no_such_node(places, names[end], edge, node, nodes))
    return graph_of_rows(found, nodes, settings, name, place)


def _row_numbers(database: EdgeDatabase, edges: int, nodes: int, *, weighted: bool) -> EdgeList | None:
    """All edges as row numbers, in files if they are large; none if one ends where no node is."""
    index = np.int32 if max(nodes, 2 * edges) <= np.iinfo(np.int32).max else np.int64
    source, target = memory().empty(edges, index), memory().empty(edges, index)
    weights = memory().empty(edges, np.float32) if weighted else None
    done = 0
    with Bar("numbering their ends") as bar:
        for starts, stops, values in database.rows(edges, nodes):
            if min(starts.min(), stops.min()) < 0:
                return None
            new = slice(done, done + len(starts))
            source[new], target[new] = starts, stops
            if weights is not None:
                weights[new] = values
            done = new.stop
            bar.show(done / edges, [f"{done:,} of {edges:,} edges"])
    return EdgeList(source, target, weights)


def _warn_of_single_use(database: EdgeDatabase, edges: int, nodes: Nodes, place: str, names: list[str]) -> None:
    def once() -> list[str]:
        return [key for key, single in zip(names, database.occurs_once(), strict=True) if single]

    few = nodes.id_column is None or len(nodes.ids) < edges  # then the nodes are an upper bound that will do
    warn_of_single_use(edges, len(nodes.ids) if few else database.count_ids(), place, once)
