"""Tables as Markdown."""

import math
from numbers import Integral, Real

import pandas as pd


def to_markdown(table: pd.DataFrame) -> str:
    """Render a table as Markdown, the index left out.

    Numbers stand on the right with four significant digits, or all digits before the point; missing values are empty.
    Pipes are escaped and line breaks become ``<br>``, so that any text stays in its cell.

    >>> print(to_markdown(pd.DataFrame({"map": ["a|b", None], "score": [0.123456, 2.0]})))
    | map | score |
    | --- | ---: |
    | a\\|b | 0.1235 |
    |  | 2 |
    """
    rules = ["---:" if pd.api.types.is_numeric_dtype(kind) else "---" for kind in table.dtypes]
    rows = [table.columns, rules, *table.itertuples(index=False, name=None)]
    return "\n".join(f"| {' | '.join(_cell(value) for value in row)} |" for row in rows)


def _cell(value: object) -> str:
    if value is None or value is pd.NA or value is pd.NaT or (isinstance(value, float) and math.isnan(value)):
        return ""
    if isinstance(value, bool) or not isinstance(value, Real) or isinstance(value, Integral):
        return str(value).replace("\\", "\\\\").replace("|", "\\|").replace("\r\n", "\n").replace("\n", "<br>")
    return f"{value:.4g}" if abs(value) < 1e4 else f"{value:.0f}"
