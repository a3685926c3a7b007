"""The user's own graph: an edge table and, where there is one, a node table."""

import logging
from collections.abc import Collection
from typing import Annotated, Literal, Self

import numpy as np
import pandas as pd
from pydantic import Field, field_validator, model_validator

from figure_kedro.datasets.sources.own_nodes import Nodes, read_nodes
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.datasets.sources.tables import as_text, column, default_column, read_ids, read_table
from figure_kedro.errors import UserError
from figure_kedro.graph import Graph, graph_from_edges
from figure_kedro.parts import Decides

logger = logging.getLogger(__name__)


class OwnSettings(SourceSettings):
    """Where the tables are and what their columns mean. Paths are relative to the current directory."""

    kind: Literal["own"] = "own"
    edges: Annotated[str, Decides.CONTENT] = Field(
        description="edge table, .csv, .csv.gz or .parquet: one edge per row"
    )
    source_column: str | None = Field(None, description="where an edge starts; default: the first column")
    target_column: str | None = Field(None, description="where it ends; default: the first column but the source")
    weight_column: str | None = Field(None, description="positive edge weights; default: every edge weighs 1")
    directed: bool = Field(False, description="whether edges go from source to target only")
    nodes: Annotated[str | None, Decides.CONTENT] = Field(
        None, description="node table, one node per row; default: the nodes are the endpoints"
    )
    id_column: str | None = Field(None, description="ids in the node table; default: its first column")
    label_column: str | None = Field(None, description="classes; an empty cell is a node without a label")
    feature_columns: tuple[str, ...] | None = Field(
        None, description="numbers only; default: all numeric columns that have no other meaning"
    )
    split_columns: tuple[str, ...] = Field((), description="one column per split: train, val, test or empty")
    random_splits: Annotated[int, Decides.TARGETS] = Field(
        10, ge=0, description="stratified splits, drawn if there are labels and no split column"
    )
    train: Annotated[float, Decides.TARGETS] = Field(
        0.5, gt=0, lt=1, description="share of the labelled nodes for training in random splits"
    )
    val: Annotated[float, Decides.TARGETS] = Field(
        0.25, gt=0, lt=1, description="share for validation; the rest is for the test"
    )
    seed: Annotated[int, Decides.TARGETS] = Field(0, ge=0, description="of the random splits")

    def idle(self) -> Collection[str]:
        drawn = self.label_column is not None and not self.split_columns
        if drawn and self.random_splits:
            return ()
        return {"train", "val", "seed"} if drawn else {"random_splits", "train", "val", "seed"}

    @field_validator("feature_columns", "split_columns", mode="before")
    @classmethod
    def _one_name_is_a_list(cls, names: object) -> object:
        return (names,) if isinstance(names, str) else names  # a command line has no lists

    @model_validator(mode="after")
    def _fit_together(self) -> Self:
        if self.nodes is None:
            given = [
                key for key in ("id_column", "label_column", "feature_columns", "split_columns") if getattr(self, key)
            ]
            if given:
                raise UserError(f"{given[0]} is a column of the node table; set nodes to its file")
        if self.split_columns and self.label_column is None:
            raise UserError("split_columns need labels; set label_column")
        if self.label_column is not None and self.label_column in (self.feature_columns or ()):
            raise UserError(f"the label column {self.label_column!r} must not be a feature column")
        if self.train + self.val >= 1:
            raise UserError(f"train and val together are {self.train + self.val:g}; leave a share below 1 for the test")
        return self


@SOURCES.register
class Own(Source):
    """A graph in the user's tables."""

    Settings = OwnSettings
    settings: OwnSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Read the user's tables.

        Ids may be of any type, unsorted and with gaps. With a node table its rows give the order of the nodes and
        every endpoint must be in it; without one the nodes are the endpoints, sorted. Whole numbers are compared as
        numbers if all ids are, and every other mixture as text.

        Raises:
            UserError: For anything in the tables that makes no graph, naming the file, the column and the row or node.
        """
        settings = self.settings
        frame = read_table(settings.edges, [0, 1, *filter(None, (settings.source_column, settings.target_column))])
        source, target = _endpoint_columns(settings, frame)
        endpoints = [read_ids(values, settings.edges) for values in (source, target)]
        named = settings.weight_column
        weights = None if named is None else _weights(settings, column(frame, settings.edges, named))
        nodes = Nodes(ids=_sorted_ids(endpoints)) if settings.nodes is None else read_nodes(settings)
        rows = _rows(endpoints, nodes.ids)
        for values, ids, found in zip((source, target), endpoints, rows, strict=True):
            if (found < 0).any():
                edge = int(np.argmax(found < 0))
                raise UserError(
                    f"{settings.edges}, column {values.name!r}, row {edge + 1}: there is no node {str(ids[edge])!r} in "
                    f"{settings.nodes}, column {nodes.id_column!r}"
                )
        graph = graph_from_edges(
            *rows,
            name=name,
            ids=nodes.ids,
            weights=weights,
            directed=settings.directed,
            features=nodes.features,
            labels=nodes.labels,
            classes=nodes.classes,
            splits=nodes.splits,
        )
        if settings.directed and not (graph.adjacency != graph.adjacency.T).nnz:
            logger.warning(
                "%s: every edge has its reverse, so the graph is symmetric; leave source.directed out", settings.edges
            )
        return graph


def _endpoint_columns(settings: OwnSettings, frame: pd.DataFrame) -> tuple[pd.Series, pd.Series]:
    if len(frame.columns) < 2:
        raise UserError(
            f"{settings.edges} has one column, {frame.columns[0]!r}; an edge table needs two, separated by commas"
        )
    path, source, target = settings.edges, settings.source_column, settings.target_column
    source = source or default_column(frame, path, "source_column and target_column", target)
    target = target or default_column(frame, path, "target_column", source)
    if source == target:
        raise UserError(f"{path}: source and target are both column {source!r}; name two columns")
    return column(frame, path, source), column(frame, path, target)


def _weights(settings: OwnSettings, values: pd.Series) -> np.ndarray:
    weights = pd.to_numeric(values, errors="coerce").to_numpy(np.float32, na_value=np.nan)
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        edge = int(np.argmax(bad))
        raise UserError(
            f"{settings.edges}, column {values.name!r}, row {edge + 1}: the weight is {str(values.iloc[edge])!r}; "
            "weights must be positive and finite"
        )
    return weights


def _sorted_ids(endpoints: list[np.ndarray]) -> np.ndarray:
    if any(ids.dtype == object for ids in endpoints):
        endpoints = [as_text(ids) for ids in endpoints]
    return np.unique(np.concatenate(endpoints))


def _rows(endpoints: list[np.ndarray], ids: np.ndarray) -> list[np.ndarray]:
    """Row number of each endpoint, -1 where it is no node."""
    if any(array.dtype == object for array in (*endpoints, ids)):
        endpoints, ids = [as_text(array) for array in endpoints], as_text(ids)
    index = pd.Index(ids)
    return [index.get_indexer(array) for array in endpoints]
