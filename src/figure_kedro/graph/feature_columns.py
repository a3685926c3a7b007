"""Features out of the columns of a table: numbers, lists of numbers, and categories on request."""

import logging
import re
from collections.abc import Callable, Collection, Iterable, Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
import pandas as pd
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph.columns import Columns, is_unnamed, matching
from figure_kedro.graph.compact import SPARSE_BELOW, compact
from figure_kedro.graph.doubts import ask_about_features, says_the_same
from figure_kedro.graph.graph import Features
from figure_kedro.graph.labels import words

logger = logging.getLogger(__name__)

ColumnKind = Literal["number", "list", "text"]


@dataclass(frozen=True)
class ChosenColumns:
    """Which columns of a node table become features.

    Args:
        numbers, lists, categories: The names of those with a number, a list of numbers or a category in each row.
        undecided: Those of them that nobody has named.
        left_out: Columns that were not named and cannot be features.
    """

    numbers: list[str]
    lists: list[str]
    categories: list[str]
    undecided: list[str]
    left_out: list[str]

    def ask(self, columns: Columns, frame: pd.DataFrame, place: str, copies: Collection[str]) -> None:
        """Ask the user about those that look like something else, see
        :func:`~figure_kedro.graph.doubts.ask_about_features`, and tell which ones are left out."""
        ask_about_features(columns, frame, place, self.undecided, copies)
        if self.left_out:
            named = ", ".join(sorted(self.left_out))
            logger.warning("%s: columns without numbers or without a name are no features: %s", place, named)


def choose_features(
    frame: pd.DataFrame,
    columns: Columns,
    place: str,
    others: Collection[str | None],
    kind: Callable[[str], ColumnKind],
) -> ChosenColumns:
    """Which columns of a node table become features.

    Args:
        frame: The table, or some rows of it.
        columns: Which columns are features.
        place: The name of the table.
        others: Columns that mean something else.
        kind: Says what the column of a name holds.
    """
    categories = [name for name in matching(columns.one_hot, frame, place) if name not in others]
    named = columns.feature_columns
    wanted = dict.fromkeys(frame.columns, False) if named is None else matching(named, frame, place)
    chosen, left_out, undecided = [], [], []
    for name, exactly in wanted.items():
        if exactly:
            chosen.append(name)
        elif name in others or name in categories:
            continue
        elif is_unnamed(name) or kind(name) == "text":
            left_out.append(name)
        else:
            chosen.append(name)
            undecided.append(name)
    lists = [name for name in chosen if kind(name) == "list"]
    return ChosenColumns([name for name in chosen if name not in lists], lists, categories, undecided, left_out)


def kind_of(values: pd.Series) -> ColumnKind:
    """What a column holds: numbers, lists, or something else that is here called text."""
    if pd.api.types.is_numeric_dtype(values):
        return "number"
    return "list" if is_list(values) else "text"


def features_of(
    frame: pd.DataFrame,
    columns: Columns,
    place: str,
    ids: np.ndarray,
    labels: np.ndarray | None,
    others: Collection[str | None],
) -> tuple[Features | None, tuple[str, ...]]:
    """The features of all nodes and their names.

    Args:
        frame: The node table.
        columns: Which columns are features.
        place: The name of the table.
        ids: Of the nodes, for error messages.
        labels: The class of each node, if there are labels.
        others: Columns that mean something else.
    """
    chosen = choose_features(frame, columns, place, others, lambda name: kind_of(frame[name]))
    chosen.ask(columns, frame, place, [name for name in chosen.undecided if says_the_same(frame[name], labels)])
    blocks = [_numbers(frame, chosen.numbers, ids, place)] if chosen.numbers else []
    names = list(chosen.numbers)
    for name in chosen.lists:
        block = _list(frame[name], ids, place)
        blocks.append(block)
        names += [f"{name}[{position}]" for position in range(block.shape[1])]
    for name in chosen.categories:
        matrix, values = one_hot(frame[name])
        blocks.append(matrix)
        names += [f"{name}={value}" for value in values]
    if not blocks:
        return None, ()
    return _side_by_side(blocks), tuple(names)


def origins(frame: pd.DataFrame, names: Iterable[str]) -> dict[str, str]:
    """The column that each feature is made of, by the names that :func:`features_of` gives; those without one are left
    out.

    >>> origins(pd.DataFrame({"age": [3], "words": [[1.0, 2.0]], "kind": ["a"]}), ["age", "words[1]", "kind=b", "size"])
    {'age': 'age', 'words[1]': 'words', 'kind=b': 'kind'}
    """
    found = {}
    for name in names:
        entry = re.fullmatch(r"(.*)\[\d+\]", name, flags=re.DOTALL)
        starts = [name[:at] for at, letter in enumerate(name) if letter == "="]
        possible = [name, *([entry[1]] if entry else []), *reversed(starts)]
        if column := next((key for key in possible if key in frame.columns), None):
            found[name] = column
    return found


def named_features(frame: pd.DataFrame, names: Sequence[str], ids: np.ndarray, place: str) -> np.ndarray:
    """The features of these names ``(n, f)``, float32, out of a table that has their columns, see :func:`origins`.

    A category that has no feature of its own is a row of zeros.
    """
    made_of = origins(frame, names)
    plain = [name for name in names if made_of[name] == name]
    features = np.empty((len(frame), len(names)), dtype=np.float32)
    features[:, [names.index(name) for name in plain]] = _numbers(frame, plain, ids, place)
    lists = {key: _list(frame[key], ids, place) for key in dict.fromkeys(made_of.values()) if is_list(frame[key])}
    categories = {
        key: np.array(words(frame[key]), dtype=object)
        for key in dict.fromkeys(made_of.values())
        if key not in lists and key not in plain
    }
    for position, name in enumerate(names):
        if (key := made_of[name]) in lists:
            entry, block = int(name[len(key) + 1 : -1]), lists[key]
            if entry >= block.shape[1]:
                raise UserError(
                    f"{place}, column {key!r} has lists of {block.shape[1]} numbers, and {name} is asked for"
                )
            features[:, position] = block[:, entry]
        elif key in categories:
            features[:, position] = categories[key] == name[len(key) + 1 :]
    return features


def is_list(values: pd.Series) -> bool:
    """Whether the cells of a column hold lists or arrays."""
    first = values.dropna().head(1)
    return len(first) > 0 and isinstance(first.iloc[0], list | tuple | np.ndarray)


def one_hot(values: pd.Series) -> tuple[sp.csr_array, tuple[str, ...]]:
    """One column of 0 and 1 for each category, in alphabetical order; a missing one is a row of zeros."""
    names = words(values)
    codes, categories = pd.factorize(pd.Series(names, dtype=object), sort=True)
    rows = np.flatnonzero(codes >= 0)
    ones = np.ones(len(rows), dtype=np.float32)
    matrix = sp.csr_array((ones, (rows, codes[rows])), shape=(len(values), len(categories)))
    return matrix, tuple(categories)


def _numbers(frame: pd.DataFrame, names: list[str], ids: np.ndarray, place: str) -> np.ndarray:
    features = np.empty((len(frame), len(names)), dtype=np.float32)
    for position, name in enumerate(names):
        features[:, position] = numbers_of(frame[name], ids, place)
    return features


def numbers_of(values: pd.Series, ids: np.ndarray, place: str) -> np.ndarray:
    """A column of numbers, float32.

    Raises:
        UserError: If one of them is missing or not finite, with the id of its node.
    """
    with np.errstate(over="ignore"):  # becomes infinite, which is reported
        numbers = pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan).astype(np.float32)
    bad = ~np.isfinite(numbers)
    if bad.any():
        node = int(np.argmax(bad))
        raise UserError(
            f"{place}, column {values.name!r}: node {str(ids[node])!r} has {str(values.iloc[node])!r}, "
            "which is no finite number; fill it in or choose other feature_columns"
        )
    return numbers


def list_width(values: pd.Series) -> int:
    """The length of the first list of a column."""
    return len(values.dropna().iloc[0])


def _list(values: pd.Series, ids: np.ndarray, place: str) -> np.ndarray:
    return lists_of(values, list_width(values), ids, place)


def lists_of(values: pd.Series, width: int, ids: np.ndarray, place: str) -> np.ndarray:
    """A column of lists of one length as a matrix, float32.

    Raises:
        UserError: If one of them is something else, with the id of its node.
    """
    features = np.empty((len(values), width), dtype=np.float32)
    for node, cell in enumerate(values):
        try:
            row = np.asarray(cell, dtype=np.float64)
            with np.errstate(over="ignore"):
                features[node] = row if row.shape == (width,) else np.nan
        except (TypeError, ValueError):
            features[node] = np.nan
        if not np.isfinite(features[node]).all():
            raise UserError(
                f"{place}, column {values.name!r}: node {str(ids[node])!r} has no {width} finite numbers as the first "
                f"one has; fill them in or leave the column out"
            )
    return features


def _side_by_side(blocks: list[np.ndarray | sp.csr_array]) -> Features:
    if not any(sp.issparse(block) for block in blocks):
        return compact(blocks[0] if len(blocks) == 1 else np.hstack(blocks))
    matrix = sp.csr_array(sp.hstack([sp.csr_array(block) for block in blocks], format="csr", dtype=np.float32))
    return matrix if matrix.nnz < SPARSE_BELOW * np.prod(matrix.shape) else matrix.toarray()
