"""Columns whose name or content says that they mean something else than they would be taken for.

A label among the features makes every score worthless, and a time taken as an id makes another graph. Nobody is told by
the result, so the user is asked: one line that names the column and the settings that decide.
"""

import re
from collections.abc import Collection

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError
from figure_kedro.graph.columns import ALL, Columns

# names in lower case, without anything but letters and digits
LABEL = re.compile(r"(node|true|gold)?(label|class|target|category|categories)(s|es|id|ids|idx)?|y(true)?|groundtruth")
SPLIT = re.compile(
    r"(is|in)?(train|training|val|valid|validation|dev|test|testing)(mask|set|idx|index|split)?s?\d*"
    r"|(data)?(split|fold|mask|partition)s?\d*"
)
TIME = re.compile(r"(time|timestamp|datetime|date|unixtime|epochtime)(s|ms|utc)?|created(at|on|utc)?|ts")
WEIGHT = re.compile(r"(edge)?weights?")
ENDPOINT = re.compile(
    r"(source|src|from|start|head|target|dst|dest|destination|to|end|tail|citing|cited)(id|node|nodeid)?|u|v"
)
ID = re.compile(r"(node)?(id|ids)|node|nodes|name")


def says(pattern: re.Pattern[str], name: str) -> bool:
    """Whether the name of a column is one of these, however it is spelt.

    >>> says(SPLIT, "Train Mask"), says(SPLIT, "training_hours")
    (True, False)
    """
    return pattern.fullmatch(re.sub(r"[^a-z0-9]", "", name.lower())) is not None


def ask_about_endpoints(columns: Columns, frame: pd.DataFrame, place: str, taken: list[str]) -> None:
    """Raise a :class:`UserError` if the columns that edges are taken from, because none are named, look otherwise."""
    named = [name for name in frame.columns if says(ENDPOINT, name)]
    if len(named) == 2 and set(named) != set(taken):
        both = f"{columns.setting('source_column', named[0])},{columns.setting('target_column', named[1])}"
        others = f"{columns.setting('source_column', taken[0])},{columns.setting('target_column', taken[1])}"
        raise UserError(
            f"{place}: the first columns are {taken[0]!r} and {taken[1]!r}, but edges seem to go from {named[0]!r} to "
            f"{named[1]!r}; set {both}, or {others} if the first ones are meant"
        )
    for setting, name in zip(("source_column", "target_column"), taken, strict=True):
        other = next(key for key in taken if key != name)
        what = None if says(ENDPOINT, name) else _unlike_an_id(frame[name], frame[other])
        if what is not None and getattr(columns, setting) is None:
            raise UserError(
                f"{place}: column {name!r} is taken for ids of nodes but looks like {what}; set "
                f"{columns.setting('source_column')} and {columns.setting('target_column')}, or "
                f"{columns.setting(setting, name)} if it holds ids"
            )


def _unlike_an_id(values: pd.Series, other: pd.Series) -> str | None:
    name = str(values.name)
    if says(TIME, name) or _are_times(values, other):
        return "a time"
    if says(WEIGHT, name):
        return "weights"
    numbers = pd.to_numeric(values, errors="coerce")
    if numbers.notna().all() and (numbers != np.floor(numbers)).any():
        return "numbers with a fraction"
    return None


def _are_times(values: pd.Series, other: pd.Series) -> bool:
    if pd.api.types.is_datetime64_any_dtype(values):
        return True
    if pd.api.types.is_integer_dtype(values):  # seconds or milliseconds of this century; ids of both ends are alike
        for factor in (1, 1000):
            low, high = 946_684_800 * factor, 4_102_444_800 * factor
            alike = pd.api.types.is_integer_dtype(other) and other.between(low, high).mean() > 0.5
            if values.between(low, high).all() and not alike:
                return True
        return False
    first = values.dropna().astype(str).head(100)
    return bool(len(first)) and bool(first.str.fullmatch(r"\d{4}-\d\d-\d\d([T ]\d\d:\d\d.*)?").all())


def ask_about_weights(columns: Columns, frame: pd.DataFrame, place: str, rest: list[str]) -> None:
    """Raise a :class:`UserError` if a column that is not used holds weights by its name."""
    for name in rest:
        if columns.weight_column is None and says(WEIGHT, name):
            raise UserError(
                f"{place}: column {name!r} looks like weights of the edges; set "
                f"{columns.setting('weight_column', name)} to use it, {columns.setting('ignore', name)} to leave it out"
            )


def ask_about_features(
    columns: Columns, frame: pd.DataFrame, place: str, taken: list[str], copies: Collection[str]
) -> None:
    """Raise a :class:`UserError` if a column that nobody named would become a feature and looks like something else.

    Args:
        columns: What is decided.
        frame: The node table, or its first rows.
        place: Its name.
        taken: The columns that would become features.
        copies: Those of them that are the label in other words.
    """
    found = {
        "a label": [name for name in taken if says(LABEL, name) and not _is_coordinate(frame, name)],
        "a split": [name for name in taken if says(SPLIT, name)],
        "a time": [name for name in taken if says(TIME, name)],
    }
    told = [name for names in found.values() for name in names]
    found["a copy of the label"] = [name for name in taken if name not in told and name in copies]
    doubts = [f"{', '.join(map(repr, names))} (like {what})" for what, names in found.items() if names]
    if not doubts:
        return
    names = [name for several in found.values() for name in several]
    uses = []
    if found["a label"] and columns.label_column is None:
        uses.append(columns.setting("label_column", found["a label"][0]))
    if found["a split"] and not columns.split_columns:
        uses.append(columns.setting("split_columns", *found["a split"]))
    uses += [f"{columns.setting('ignore', *names)} to leave out"]
    raise UserError(
        f"{place}: are these columns features? {'; '.join(doubts)}; set {', '.join(uses)}, "
        f"or {columns.setting('feature_columns', ALL, *names)} if they are"
    )


def _is_coordinate(frame: pd.DataFrame, name: str) -> bool:
    """Whether a column y belongs to a column x beside it: both are numbers, and y has no few values as classes have."""
    x = next((key for key in frame.columns if key.lower() == "x"), None)
    if name.lower() != "y" or x is None or not pd.api.types.is_numeric_dtype(frame[x]):
        return False
    return 2 * frame[name].nunique() > len(frame)


def says_the_same(values: pd.Series, labels: np.ndarray | None) -> bool:
    """Whether a column is the label in other words: as many values as classes, and each belongs to one class."""
    if labels is None or not (pd.api.types.is_numeric_dtype(values) and values.nunique() == len(set(labels) - {-1})):
        return False
    pairs = pd.DataFrame({"value": values.to_numpy(), "label": labels})[labels >= 0].drop_duplicates()
    return len(pairs) == pairs["value"].nunique() == pairs["label"].nunique()
