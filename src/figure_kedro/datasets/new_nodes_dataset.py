"""The user's tables of new nodes, and of ids that are asked for."""

from typing import Any, Generic, TypeVar

import numpy as np
import pandas as pd
from kedro.io import AbstractDataset, DatasetError

from figure_kedro.datasets.sources import SOURCES, SourceSettings
from figure_kedro.datasets.sources.kinds.own import OwnSettings
from figure_kedro.datasets.sources.tables import column_names, read_table
from figure_kedro.errors import UserError
from figure_kedro.graph.columns import ALL, column, default_column, ignored, is_among, is_unnamed
from figure_kedro.graph.edge_table import edge_weights, endpoint_columns, endpoint_names
from figure_kedro.graph.ids import as_ids
from figure_kedro.inference.new_nodes import NewNodes
from figure_kedro.inference.settings import InferenceSettings

T = TypeVar("T")


class _UsersTable(AbstractDataset[None, T], Generic[T]):
    """What is read and never written."""

    def save(self, data: None) -> None:
        raise DatasetError("the user's tables are only ever read")

    def _exists(self) -> bool:
        return True  # loading says what is missing


class NewNodesDataset(_UsersTable[NewNodes]):
    """Loads the tables of new nodes that the parameters name.

    Example::

        new_nodes:
          type: figure_kedro.datasets.new_nodes_dataset.NewNodesDataset
          inference: {edges: new_edges.csv, nodes: new_nodes.csv}
          source: {kind: own, edges: edges.csv}
    """

    def __init__(
        self, *, inference: dict[str, Any], source: dict[str, Any], metadata: dict[str, Any] | None = None
    ) -> None:
        self._settings = InferenceSettings.model_validate(inference)
        self._source = SOURCES.parse(source)
        self.metadata = metadata

    def load(self) -> NewNodes:
        return read_new_nodes(self._settings, self._source)

    def _describe(self) -> dict[str, Any]:
        return self._settings.model_dump()


class IdsDataset(_UsersTable[np.ndarray]):
    """Loads the first column of a table as ids; none if there is no table.

    Example::

        neighbour_ids:
          type: figure_kedro.datasets.new_nodes_dataset.IdsDataset
          ids: ids.csv
    """

    def __init__(self, *, ids: str | None, metadata: dict[str, Any] | None = None) -> None:
        self._path = ids
        self.metadata = metadata

    def load(self) -> np.ndarray:
        if self._path is None:
            return np.arange(0)
        frame = read_table(self._path, [0])
        return as_ids(frame[frame.columns[0]], self._path)

    def _describe(self) -> dict[str, Any]:
        return {"ids": self._path}


def read_new_nodes(settings: InferenceSettings, source: SourceSettings) -> NewNodes:
    """Read the tables; columns have the names that they have in the tables of ``source``, if it is the user's own.

    Labels and splits may be there and are not read. Without a table of nodes there are no features, and the new nodes
    are not known: an edge alone does not say which of its ends is meant to be new.

    Raises:
        UserError: If there is no table of nodes, or one that cannot be read.
    """
    if settings.nodes is None:
        raise UserError("inference.nodes is needed: the table of new nodes, with their ids and features")
    named = OwnSettings.model_construct(edges="")
    if isinstance(source, OwnSettings):
        named = _named_as_in_training(source, settings)
    text: list[str | int] = [
        named.id_column or 0,
        *filter(None, (named.label_column, *named.split_columns, *named.one_hot)),
    ]
    table = read_table(settings.nodes, text, named.text_format(named.no_ids))
    id_column = named.id_column or default_column(table, settings.nodes, "source.id_column", named.no_ids)
    ids = as_ids(column(table, settings.nodes, id_column), f"{settings.nodes}, column {id_column!r}")
    no_features = {id_column, named.label_column, *ignored(named, table)}
    names = [name for name in table if name not in no_features and not is_among(name, named.split_columns)]
    if named.feature_columns is not None and ALL not in named.feature_columns:
        names = [name for name in names if is_among(name, (*named.feature_columns, *named.one_hot))]
    features = table[[name for name in names if not is_unnamed(name)]]
    nobody = np.empty(0, dtype=ids.dtype)
    first, second, weights = nobody, nobody, None
    if settings.edges is not None:
        ends: list[str | int] = [0, 1, *filter(None, (named.source_column, named.target_column))]
        frame = read_table(settings.edges, ends, named.text_format(named.no_endpoints))
        first, second = (
            as_ids(values, f"{settings.edges}, column {values.name!r}")
            for values in endpoint_columns(named, frame, settings.edges)
        )
        if named.weight_column is not None:
            weights = edge_weights(column(frame, settings.edges, named.weight_column), settings.edges)
    return NewNodes(
        ids,
        first,
        second,
        weights,
        features if len(features.columns) else None,
        edges_name=str(settings.edges),
        nodes_name=settings.nodes,
    )


def _named_as_in_training(source: OwnSettings, new: InferenceSettings) -> OwnSettings:
    """The settings with ids and ends of edges by name, where they were the first columns in training.

    So the columns of new tables may have any order. A new table without these names has them in its first columns, too.
    """
    if source.is_whole:
        return source
    names: dict[str, str] = {}
    if source.nodes is not None and new.nodes is not None:
        form = source.text_format(source.no_ids)
        found = pd.DataFrame(columns=column_names(source.nodes, form))
        id_column = source.id_column or default_column(found, source.nodes, "source.id_column", source.no_ids)
        names |= {"id_column": id_column} if id_column in column_names(new.nodes, form) else {}
    if new.edges is not None:
        form = source.text_format(source.no_endpoints)
        found = pd.DataFrame(columns=column_names(source.edges, form))
        first, second = endpoint_names(source, found, source.edges)
        there = {first, second} <= set(column_names(new.edges, form))
        names |= {"source_column": first, "target_column": second} if there else {}
    return source.model_copy(update=names)
