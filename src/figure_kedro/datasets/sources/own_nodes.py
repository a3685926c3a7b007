"""The node table of a user's graph."""

from typing import TYPE_CHECKING

import pandas as pd

from figure_kedro.datasets.sources.tables import read_table
from figure_kedro.graph.node_table import Nodes, nodes_of_table

if TYPE_CHECKING:
    from figure_kedro.datasets.sources.kinds.own import OwnSettings


def read_nodes(settings: "OwnSettings") -> Nodes:
    """Read what the node table that the settings name says about the nodes."""
    return nodes_of_table(read_nodes_table(settings), settings, str(settings.nodes))


def read_nodes_table(settings: "OwnSettings") -> pd.DataFrame:
    """The node table that the settings name; ids, words and categories in it are read as text."""
    assert settings.nodes is not None, "there is a node table"
    return read_table(settings.nodes, text_columns(settings), settings.text_format(settings.no_ids))


def text_columns(settings: "OwnSettings") -> list[str | int]:
    """The columns of the node table in which a text file has ids, words and categories."""
    text: list[str | int] = [settings.id_column or 0, *settings.split_columns, *settings.one_hot]
    return text if settings.label_column is None else [*text, settings.label_column]
