"""Tables as CSV: one line per cell, for other programs."""

import csv
import io
from collections.abc import Sequence

from figure_kedro.experiments.pages.words import all_cells
from figure_kedro.experiments.table import Shown, Table

FIELDS = (
    *("table", "row", "column", "state", "value", "deviation", "count", "counted", "unit", "paper", "paper_deviation"),
    *("difference", "standard_error", "beside", "text", "command", "data_checksum", "run_id", "date", "version"),
)


def csv_text(tables: Sequence[Table]) -> str:
    """Render tables as one CSV file with a line per cell, missing ones among them.

    Numbers are not rounded, and one that is not known is empty.
    """
    file = io.StringIO()
    writer = csv.DictWriter(file, FIELDS, lineterminator="\n")
    writer.writeheader()
    for table in tables:
        for row, column, cell in all_cells(table):
            line = {"table": table.name, "row": row, "column": column, **_line(cell)}
            writer.writerow({name: _plain(value) for name, value in line.items()})
    return file.getvalue()


def _line(cell: Shown) -> dict[str, object]:
    same = (
        *("state", "value", "deviation", "unit", "paper", "paper_deviation", "beside"),
        *("command", "data_checksum", "run_id", "date", "version"),
    )
    return {name: getattr(cell, name) for name in same} | {
        "count": cell.count or None,
        "counted": cell.counted if cell.count else "",
        "difference": _derived(cell.difference),
        "standard_error": None if cell.difference is None else _derived(cell.standard_error),
        "text": cell.text or ("picture" if cell.picture else ""),
    }


def _derived(value: float | None) -> str | None:
    return None if value is None else f"{value:.12g}"  # 0.2 and not 0.20000000000000284


def _plain(value: object) -> object:
    """One kind of line break: the csv module leaves a lone carriage return unquoted."""
    return value.replace("\r\n", "\n").replace("\r", "\n") if isinstance(value, str) else value
