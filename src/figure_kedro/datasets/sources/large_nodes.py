"""The node table of a user's graph, if it is too large for memory."""

import logging
from itertools import chain
from typing import TYPE_CHECKING

import pandas as pd

from figure_kedro.datasets.sources.edge_database import EdgeDatabase
from figure_kedro.datasets.sources.id_columns import IdColumn
from figure_kedro.datasets.sources.own_nodes import read_nodes_table, text_columns
from figure_kedro.datasets.sources.tables import count_rows, is_parquet, table_blocks
from figure_kedro.errors import UserError
from figure_kedro.graph.ids import check_ids
from figure_kedro.graph.node_blocks import NodeBlocks
from figure_kedro.graph.node_survey import NodeSurvey, NotInBlocks
from figure_kedro.graph.node_table import Nodes, nodes_of_table, there_twice
from figure_kedro.memory import memory
from figure_kedro.progress import Bar

if TYPE_CHECKING:
    from collections.abc import Iterator

    from figure_kedro.datasets.sources.kinds.own import OwnSettings

logger = logging.getLogger(__name__)

SAMPLE_ROWS = 1000
"""Of a table, from which is estimated what a row takes."""

COPIES, OBJECT_BYTES = 2, 150
"""What a row takes while a table in memory becomes features, labels and splits: so many times what its cells take, and
so many bytes for its id and its label as objects of Python."""

LEAST_ROWS, MOST_ROWS = 16, 1 << 19
"""Of a block."""


def first_nodes(settings: "OwnSettings") -> pd.DataFrame:
    """The first rows of the node table."""
    return next(_blocks(settings, SAMPLE_ROWS))


def node_row_bytes(settings: "OwnSettings") -> int:
    """What a row of the node table takes in memory, judged by the first ones."""
    first = first_nodes(settings)
    return OBJECT_BYTES + COPIES * int(first.memory_usage(deep=True).sum()) // len(first)


def read_large_nodes(settings: "OwnSettings", database: EdgeDatabase) -> Nodes:
    """What :func:`~figure_kedro.graph.node_table.nodes_of_table` makes of the same table, in little memory.

    It is read twice: what a column is, and whether an id is there twice, is known at its end alone. What cannot be made
    block by block is read whole, and the log says so.

    Args:
        settings: Where the table is and what its columns mean.
        database: Sorts the ids.
    """
    assert settings.nodes is not None, "there is a node table"
    try:
        return _in_two_passes(settings, settings.nodes, database)
    except NotInBlocks as reason:
        logger.warning("%s: %s, and is read whole all the same", settings.nodes, reason)
        return nodes_of_table(read_nodes_table(settings), settings, settings.nodes)


def _in_two_passes(settings: "OwnSettings", place: str, database: EdgeDatabase) -> Nodes:
    form = settings.text_format(settings.no_ids)
    rows = max(LEAST_ROWS, min(MOST_ROWS, memory().entries(node_row_bytes(settings))))
    blocks = _blocks(settings, rows)
    first = next(blocks)
    survey, expected = NodeSurvey(settings, first, place), count_rows(place, form)
    key = survey.id_column
    database.begin_nodes(IdColumn.of(first[key], is_text_file=not is_parquet(place, form)))
    with Bar("looking through the nodes") as bar:
        for frame in chain([first], blocks):
            check_ids(frame[key], f"{place}, column {key!r}", before=survey.rows)
            database.add_nodes(frame[key])
            survey.see(frame)
            bar.show(min(1.0, survey.rows / expected), [f"{survey.rows:,} of about {expected:,} rows"])
    if (node := database.first_repeated()) is not None:
        raise UserError(there_twice(place, key, node))
    made, done = NodeBlocks(survey, settings, database.node_ids(), place), 0
    with Bar("reading nodes") as bar:
        for frame in _blocks(settings, rows):
            made.add(frame)
            done += len(frame)
            bar.show(done / survey.rows, [f"{done:,} of {survey.rows:,} rows"])
    return made.nodes()


def _blocks(settings: "OwnSettings", rows: int) -> "Iterator[pd.DataFrame]":
    form = settings.text_format(settings.no_ids)
    return table_blocks(str(settings.nodes), text_columns(settings), form, rows=rows)
