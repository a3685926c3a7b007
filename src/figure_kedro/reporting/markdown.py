"""Tables as Markdown."""

import numpy as np
import pandas as pd


def to_markdown(table: pd.DataFrame, decimals: int | None = None) -> str:
    """Render a table as Markdown by pandas, the index left out, with cells that pandas alone would spoil.

    Numbers stand on the right with four significant digits, or all digits before the point; in a column of numbers that
    are rounded to ``decimals`` all of them are written. Missing values are empty.
    Pipes are escaped and line breaks become ``<br>``, so that any text stays in its cell; text that looks like a number
    stays as it is.

    >>> print(to_markdown(pd.DataFrame({"map": ["a|b", None], "score": [0.123456, 2.0]})))
    | map   |   score |
    |:------|--------:|
    | a\\|b  |  0.1235 |
    |       |       2 |
    """
    sides = ["right" if pd.api.types.is_numeric_dtype(kind) else "left" for kind in table.dtypes]
    cells = table.astype(object).map(_cell).rename(columns=_cell)
    for place, name in enumerate(table):
        if decimals is not None and _rounded(table[name], decimals):
            written = ["" if pd.isna(value) else f"{value:.{decimals}f}" for value in table[name]]
            cells.isetitem(place, written)
    return cells.to_markdown(index=False, disable_numparse=True, colalign=sides if len(table) else None)


def _rounded(column: pd.Series, decimals: int) -> bool:
    """Whether these are numbers with so many decimals, and not all of them whole."""
    if not pd.api.types.is_float_dtype(column):
        return False
    known = column.dropna()
    return bool((known == known.round(decimals)).all() and (known != known.round()).any())


def _cell(value: object) -> str:
    if pd.api.types.is_scalar(value) and pd.isna(value):
        return ""
    if isinstance(value, float | np.floating):
        return f"{value:.4g}" if abs(float(value)) < 1e4 else f"{value:.0f}"
    return "<br>".join(str(value).replace("\\", "\\\\").replace("|", "\\|").splitlines())
