"""From measured rows to a table that can be read and one that can be computed with."""

import os
import platform
from collections.abc import Mapping
from numbers import Integral, Real
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import scipy
import torch
from rich.console import Console

from benchmarks.settings import Settings, available_cores
from figure_kedro.machine import processor

console = Console(highlight=False, soft_wrap=True)


class Rows:
    """Rows of a table, each shown on the console as soon as it is there."""

    def __init__(self) -> None:
        self._rows: list[dict[str, Any]] = []

    def add(self, row: Mapping[str, Any]) -> None:
        """Add a row as column names and cells; columns that it leaves out stay empty."""
        self._rows.append(dict(row))
        console.print("  " + ", ".join(f"{column} {format_cell(value)}" for column, value in row.items()), markup=False)

    def frame(self) -> pd.DataFrame:
        """All rows, the columns in the order in which they first appeared."""
        return pd.DataFrame(self._rows)


def format_cell(value: Any) -> str:
    """Three significant digits and no exponent for what people measure.

    >>> [format_cell(value) for value in (0.01234, 1234.5, 10000, "svd", None)]
    ['0.0123', '1,234', '10,000', 'svd', '-']
    """
    if value is None or (isinstance(value, Real) and value != value):
        return "-"
    if isinstance(value, Integral):
        return f"{value:,}"
    if isinstance(value, Real):
        return f"{value:,.0f}" if abs(value) >= 100 else f"{value:.3g}"
    return str(value)


def markdown_table(frame: pd.DataFrame) -> str:
    """The frame as a Markdown table, numbers to the right."""
    rule = ["---:" if pd.api.types.is_numeric_dtype(frame[column]) else ":---" for column in frame]
    cells = [
        list(frame.columns),
        rule,
        *([format_cell(value) for value in row] for row in frame.itertuples(index=False)),
    ]
    return "\n".join(f"| {' | '.join(row)} |" for row in cells)


def machine() -> str:
    """The processor, its cores and the libraries that decide how fast the numbers are."""
    memory = os.sysconf("SC_PAGE_SIZE") * os.sysconf("SC_PHYS_PAGES") / 2**30
    return (
        f"{processor()}, {available_cores()} cores, {memory:.0f} GiB; {platform.system()}, "
        f"Python {platform.python_version()}, torch {torch.__version__}, numpy {np.__version__}, "
        f"scipy {scipy.__version__}"
    )


def _company(load: float) -> str:
    if load < 0.5:
        return "nothing else ran"
    return f"other work kept {load:.1f} cores busy before it, so the times are noisy"


def write_results(
    folder: Path, name: str, title: str, note: str, frame: pd.DataFrame, settings: Settings, load: float
) -> Path:
    """Write ``<name>.md`` and, with every digit, ``<name>.csv``.

    Args:
        folder: Made if it is not there.
        name: Of the benchmark.
        title: Heading of the table.
        note: How columns and ratios are defined.
        frame: The table.
        settings: Of the run.
        load: Processes that wanted a core in the minute before the run; above 0, others shared the machine.

    Returns:
        The path of the Markdown file.
    """
    size = ", small graphs (a trial, not a result)" if settings.small else ""
    threads = " and ".join(map(str, settings.threads))
    text = f"""# {title}

- Machine: {machine()}
- Run: {threads} threads, medians of {settings.repeat} runs{size}; {_company(load)}
- Renew with: `python -m benchmarks {name}` (all of them: `make benchmark`)

{note.strip()}

{markdown_table(frame)}
"""
    folder.mkdir(parents=True, exist_ok=True)
    frame.to_csv(folder / f"{name}.csv", index=False)
    path = folder / f"{name}.md"
    path.write_text(text, encoding="utf-8")
    return path
