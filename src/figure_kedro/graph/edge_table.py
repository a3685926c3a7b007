"""The table of edges: which columns they are taken from."""

import logging
from collections.abc import Callable

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError
from figure_kedro.graph.columns import Columns, column, default_column, ignored, is_unnamed
from figure_kedro.graph.doubts import ask_about_endpoints, ask_about_weights

logger = logging.getLogger(__name__)

FEW = 10
"""Fewer edges than this often have as many nodes."""


def endpoint_names(columns: Columns, frame: pd.DataFrame, place: str) -> tuple[str, str]:
    """The names of the columns where edges start and end."""
    if len(frame.columns) < 2:
        hint = f"; {columns.setting('separator')} says what stands between columns" if columns.prefix else ""
        raise UserError(f"{place} has one column, {frame.columns[0]!r}; an edge table needs two{hint}")
    source, target = columns.source_column, columns.target_column
    source = source or default_column(frame, place, "source_column and target_column", (target, *columns.no_endpoints))
    target = target or default_column(frame, place, "target_column", (source, *columns.no_endpoints))
    if source == target:
        raise UserError(f"{place}: source and target are both column {source!r}; name two columns")
    return source, target


def endpoint_columns(columns: Columns, frame: pd.DataFrame, place: str) -> tuple[pd.Series, pd.Series]:
    """The columns where edges start and end."""
    source, target = endpoint_names(columns, frame, place)
    left = ignored(columns, frame)
    ends = column(frame, place, source), column(frame, place, target)
    if columns.source_column is None or columns.target_column is None:
        ask_about_endpoints(columns, frame, place, [source, target])
    rest = [key for key in frame.columns if key not in (source, target, columns.weight_column, *left)]
    ask_about_weights(columns, frame, place, rest)
    unused = [key for key in rest if not is_unnamed(key)]
    weights = "every edge weighs 1" if columns.weight_column is None else f"weights {columns.weight_column!r}"
    logger.info(
        "%s: edges from column %r to %r, %s%s",
        place,
        source,
        target,
        weights,
        f"; not used: {', '.join(unused)}" if unused else "",
    )
    return ends


def edge_weights(values: pd.Series, place: str, before: int = 0) -> np.ndarray:
    """Positive weights ``(m,)``, of rows that stand after so many others."""
    weights = pd.to_numeric(values, errors="coerce").to_numpy(np.float32, na_value=np.nan)
    bad = ~(np.isfinite(weights) & (weights > 0))
    if bad.any():
        edge = int(np.argmax(bad))
        raise UserError(
            f"{place}, column {values.name!r}, row {before + edge + 1}: the weight is {str(values.iloc[edge])!r}; "
            "weights must be positive and finite"
        )
    return weights


def warn_of_single_use(rows: int, ids: int, place: str, once: Callable[[], list[str]]) -> None:
    """Warn if there are as many nodes as edges: then one of the columns may number the rows.

    Args:
        rows: Of the table.
        ids: How many different ones there are.
        place: The name of the table.
        once: Finds the columns in which every id stands once.
    """
    if ids < rows or rows < FEW:
        return
    names = once()
    logger.warning(
        "%s: %d ids in %d rows%s; see whether the right columns were taken",
        place,
        ids,
        rows,
        f", and every value of column {names[0]!r} occurs once" if names else "",
    )
