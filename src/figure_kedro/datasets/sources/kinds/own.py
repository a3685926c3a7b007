"""The user's own graph: tables of edges and nodes, or one file that holds both."""

import logging
from collections.abc import Collection
from typing import Annotated, ClassVar, Literal

from pydantic import Field, field_validator

from figure_kedro.datasets.files.content import unchanged
from figure_kedro.datasets.sources.graphml import read_graphml
from figure_kedro.datasets.sources.large_own import graph_of_large_tables, large_tables
from figure_kedro.datasets.sources.own_archive import graph_of_archive
from figure_kedro.datasets.sources.own_nodes import read_nodes_table
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.datasets.sources.tables import check_readable, read_table
from figure_kedro.datasets.sources.text_table import TextFormat, check_encoding, check_separator
from figure_kedro.errors import UserError
from figure_kedro.graph import Graph
from figure_kedro.graph.columns import Columns
from figure_kedro.graph.from_networkx import ID, SOURCE, TARGET
from figure_kedro.graph.from_tables import graph_from_tables
from figure_kedro.graph.symmetry import tell_if_symmetric
from figure_kedro.parts import Decides

logger = logging.getLogger(__name__)

NODE_COLUMNS = ("id_column", "label_column", "feature_columns", "one_hot", "split_columns")
GRAPHML = (".graphml", ".graphml.gz")


class OwnSettings(SourceSettings, Columns):
    """Where the tables are and what their columns mean. Paths are relative to the current directory."""

    prefix: ClassVar[str] = "source."

    kind: Literal["own"] = "own"
    edges: Annotated[str, Decides.CONTENT] = Field(
        description="edge table, one edge per row: .csv, .tsv (also .gz), .parquet or a folder of such files; or a "
        "whole graph: .npz, .graphml"
    )
    nodes: Annotated[str | None, Decides.CONTENT] = Field(
        None, description="node table, one node per row; default: the nodes are the endpoints"
    )
    separator: str | None = Field(
        None, description="between columns of text: a character, or comma, tab, semicolon, pipe, space; default: found"
    )
    encoding: str | None = Field(None, description="of text, such as latin-1; default: utf-8")
    header: bool | None = Field(None, description="whether text begins with the names of its columns; default: it does")

    @property
    def is_whole(self) -> bool:
        """Whether one file holds edges and nodes."""
        return self.edges.endswith((".npz", *GRAPHML))

    def text_format(self, others: tuple[str | None, ...]) -> TextFormat:
        """How text files look; the first ones of their columns are counted without these others."""
        return TextFormat(self.separator, self.encoding, self.header, others)

    def idle(self) -> Collection[str]:
        unset = {name for name in ("separator", "encoding", "header") if getattr(self, name) is None}
        drawn = {"random_splits", "train", "val", "seed"} if self.edges.endswith(".npz") else set()
        return (unset | set(super().idle())) - drawn

    @field_validator("separator")
    @classmethod
    def _one_character(cls, value: str | None) -> str | None:
        return check_separator(value)

    @field_validator("encoding")
    @classmethod
    def _known_encoding(cls, value: str | None) -> str | None:
        return check_encoding(value)

    def check_fit(self) -> None:
        given = [key for key in NODE_COLUMNS if getattr(self, key)]
        if self.is_whole and self.nodes is not None:
            raise UserError(f"{self.edges} holds the nodes, too; leave nodes out")
        if self.edges.endswith(".npz") and given:
            raise UserError(f"the arrays of {self.edges} have fixed names; leave {given[0]} out")
        if self.nodes is None and given and not self.is_whole:
            raise UserError(f"{given[0]} is a column of the node table; set nodes to its file")
        super().check_fit()


@SOURCES.register
class Own(Source):
    """A graph in the user's files."""

    Settings = OwnSettings
    settings: OwnSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Read the user's tables, see :func:`~figure_kedro.graph.from_tables.graph_from_tables`.

        Raises:
            UserError: For anything in the tables that makes no graph, naming the file, the column and the row or node.
        """
        files = [self.settings.edges, *filter(None, [self.settings.nodes])]
        with unchanged(*files):
            return self._read(name)

    def _read(self, name: str) -> Graph:
        settings = self.settings
        check_readable(settings.edges)
        if settings.edges.endswith(".npz"):
            graph = graph_of_archive(settings, name)
            if graph.directed:
                tell_if_symmetric(graph.adjacency, settings.edges, settings.setting("directed"))
            return graph
        if settings.edges.endswith(GRAPHML):
            edges, nodes, directed = read_graphml(settings.edges)
            back = edges[[SOURCE, TARGET]].rename(columns={SOURCE: TARGET, TARGET: SOURCE}).drop_duplicates()
            one_way = directed and len(edges.merge(back)) < len(edges)
            if one_way and not settings.directed:
                logger.warning(
                    "%s: its edges have a direction, which is dropped; set source.directed=true to keep it",
                    settings.edges,
                )
            places = (f"{settings.edges} (edges)", f"{settings.edges} (nodes)")
            named = settings.model_copy(update={"source_column": SOURCE, "target_column": TARGET, "id_column": ID})
            return graph_from_tables(edges, nodes, named, name, places=places)
        large = large_tables(settings)
        if large is not None:
            return graph_of_large_tables(settings, name, large)
        text: list[str | int] = [0, 1, *filter(None, (settings.source_column, settings.target_column))]
        edges = read_table(settings.edges, text, settings.text_format(settings.no_endpoints))
        nodes = None if settings.nodes is None else read_nodes_table(settings)
        return graph_from_tables(edges, nodes, settings, name, places=(settings.edges, settings.nodes or ""))
