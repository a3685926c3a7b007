"""What the rows of a large node table have to be looked through for, before anything is made of them."""

from collections.abc import Iterable

import numpy as np
import pandas as pd

from figure_kedro.graph.columns import Columns, column, ignored, matching
from figure_kedro.graph.feature_columns import ChosenColumns, ColumnKind, choose_features, kind_of, list_width
from figure_kedro.graph.labels import class_order, words
from figure_kedro.graph.node_table import ask_about_ids, check_classes, find_id_column
from figure_kedro.graph.split_columns import is_mask

MOST_VALUES = 10_000
"""A column with more different values is no label in other words, or of classes that nobody counts."""

GLANCE = 1000
"""Rows that tell of most columns that they are no label in other words."""


class NotInBlocks(Exception):
    """Why the features of a table cannot be made block by block."""


class NodeSurvey:
    """Sees a node table block by block, and knows then what each column is.

    Args:
        columns: What the user says.
        first: The first rows.
        place: The name of the table.

    Attributes:
        rows: That were seen.
        id_column: The name of the column of ids.
        first: The first rows.
        splits: The columns of splits, each with whether it may be a mask.
        left: Columns that are left out.

    Raises:
        NotInBlocks: Here or later, if the table can only be read whole.
    """

    def __init__(self, columns: Columns, first: pd.DataFrame, place: str) -> None:
        if columns.one_hot:
            raise NotInBlocks("it has categories (one_hot)")
        self.rows, self.id_column = 0, find_id_column(columns, first, place)
        column(first, place, self.id_column)
        ask_about_ids(columns, first, place, self.id_column)
        if columns.label_column is not None:
            column(first, place, columns.label_column)
        self.splits = dict.fromkeys(matching(columns.split_columns, first, place), True)
        self.left = ignored(columns, first)
        self._columns, self.first, self._place = columns, first, place
        self._others = {self.id_column, columns.label_column, *self.splits, *self.left}
        self._kinds: dict[str, set[str]] = {name: set() for name in first.columns if name not in self.left}
        self._widths: dict[str, int] = {}
        self._classes: set[str] = set()
        free = [name for name in first.columns if name not in self._others]
        self._copies = _LabelCopies(free if columns.label_column is not None else [])

    def see(self, frame: pd.DataFrame) -> None:
        """Look at the next rows."""
        for name, kinds in self._kinds.items():
            kinds.add(_kind_of_some(frame[name]))
            if "list" in kinds and name not in self._widths and len(frame[name].dropna()):
                self._widths[name] = list_width(frame[name])
        for name in self.splits:
            self.splits[name] = self.splits[name] and is_mask(frame[name])
        if self._columns.label_column is not None:
            names = words(frame[self._columns.label_column])
            self._classes.update(name for name in names if name is not None)
            self._copies.see(frame, names)
        self.rows += len(frame)

    def classes(self) -> tuple[str, ...] | None:
        """The names of the classes in their order, if there are labels."""
        if self._columns.label_column is None:
            return None
        classes = class_order(self._classes)
        check_classes(classes, self._place, self._columns.label_column)
        return classes

    def features(self) -> tuple[ChosenColumns, dict[str, int]]:
        """The columns that become features, after the user was asked about doubtful ones; how long lists are."""
        chosen = choose_features(self.first, self._columns, self._place, self._others, self._kind)
        chosen.ask(self._columns, self.first, self._place, self._copies.found(len(self._classes)))
        return chosen, {name: self._widths[name] for name in chosen.lists}

    def _kind(self, name: str) -> ColumnKind:
        """What pandas would have taken the whole column for."""
        kinds = self._kinds.get(name) or {kind_of(self.first[name])}
        if kinds in ({"number"}, {"bool"}):
            return "number"
        if kinds - {"none"} == {"list"}:
            return "list"
        if "list" in kinds:
            raise NotInBlocks(f"column {name!r} holds lists and other things")
        return "text"


def _kind_of_some(values: pd.Series) -> str:
    if pd.api.types.is_bool_dtype(values):
        return "bool"
    kind = kind_of(values)
    return "none" if kind == "text" and bool(values.isna().all()) else kind


class _LabelCopies:
    """Finds columns that are the label in other words, as :func:`~figure_kedro.graph.doubts.says_the_same` does."""

    def __init__(self, names: Iterable[str]) -> None:
        self._values: dict[str, set[float]] = {name: set() for name in names}
        self._pairs: dict[str, set[tuple[float, str]]] = {name: set() for name in self._values}

    def see(self, frame: pd.DataFrame, labels: np.ndarray) -> None:
        for rows in (slice(GLANCE), slice(None)):
            for name in list(self._values):
                if not self._may_be(name, frame[name].iloc[rows], labels[rows]):
                    del self._values[name], self._pairs[name]

    def _may_be(self, name: str, values: pd.Series, labels: np.ndarray) -> bool:
        if not pd.api.types.is_numeric_dtype(values) or values.isna().any():
            return False
        pairs = pd.DataFrame({"value": values.to_numpy(), "label": labels}).drop_duplicates()
        self._values[name].update(pairs["value"].tolist())
        told = pairs[pairs["label"].notna()]
        found = self._pairs[name]
        found.update(zip(told["value"].tolist(), told["label"].tolist(), strict=True))
        return len(self._values[name]) <= MOST_VALUES and len(found) == len({value for value, _ in found})

    def found(self, classes: int) -> list[str]:
        return [
            name
            for name, pairs in self._pairs.items()
            if len(self._values[name]) == classes and len(pairs) == len({label for _, label in pairs})
        ]
