"""Node ids of any type: whole numbers where all of them are, and text otherwise."""

from collections.abc import Hashable, Sequence
from typing import Any

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError

EXACT = 2**53
"""Below it every whole number is a float of its own."""


def as_ids(values: Any, place: str) -> np.ndarray:
    """Node ids ``(m,)``: int64 if all are whole numbers, else strings (an object array).

    Args:
        values: A column, array, tensor or list.
        place: Where they stand, for the error message.

    Raises:
        UserError: If one is missing.
    """
    values = as_column(values, place)
    check_ids(values, place)
    if pd.api.types.is_integer_dtype(values) and (values.empty or values.max() <= np.iinfo(np.int64).max):
        return values.to_numpy(np.int64)
    if pd.api.types.is_float_dtype(values) and (values == np.floor(values)).all() and values.abs().max() < EXACT:
        return values.to_numpy(np.int64)
    return as_text(values.to_numpy(object))


def check_ids(values: pd.Series, place: str, before: int = 0) -> None:
    """Check that every id is one value, and there.

    Args:
        values: A column of ids.
        place: Where they stand.
        before: Rows of the table that come before them.

    Raises:
        UserError: For the first one that is not.
    """
    if values.dtype == object and not all(isinstance(value, Hashable) for value in values):
        raise UserError(f"{place}: there are ids that are lists; an id must be one value")
    missing = values.isna().to_numpy()
    if missing.any():
        raise UserError(f"{place}, row {before + int(np.argmax(missing)) + 1}: the id is missing")


def as_column(values: Any, place: str) -> pd.Series:
    """Values in a list, an array, a tensor or a column as a column."""
    values = values.detach().cpu().numpy() if hasattr(values, "detach") else values
    if isinstance(values, np.ndarray) and values.ndim != 1:
        raise UserError(f"{place}: there must be one value for each, not an array of shape {values.shape}")
    return pd.Series(list(values) if not hasattr(values, "dtype") else values)


def as_text(ids: np.ndarray | Sequence[Any]) -> np.ndarray:
    """Ids of any type as strings, so that all kinds can be compared; a whole number is the same text in all of them."""
    text = np.empty(len(ids), dtype=object)
    text[:] = [_text(value) for value in ids]
    return text


def _text(value: Any) -> str:
    if isinstance(value, bytes):
        return value.decode()
    if isinstance(value, float) and value.is_integer() and abs(value) < EXACT:
        return str(int(value))
    return str(value)


def sorted_ids(endpoints: Sequence[np.ndarray]) -> np.ndarray:
    """The distinct ids among the endpoints of edges, ascending."""
    if any(ids.dtype == object for ids in endpoints):
        endpoints = [as_text(ids) for ids in endpoints]
    return np.unique(np.concatenate(endpoints))


def rows_of(endpoints: Sequence[np.ndarray], ids: np.ndarray) -> list[np.ndarray]:
    """Row number of each endpoint, -1 where it is no node.

    Whole numbers are compared as numbers if all ids are, and every other mixture as text.
    """
    if any(array.dtype == object for array in (*endpoints, ids)):
        endpoints, ids = [as_text(array) for array in endpoints], as_text(ids)
    index = pd.Index(ids)
    return [index.get_indexer(array) for array in endpoints]
