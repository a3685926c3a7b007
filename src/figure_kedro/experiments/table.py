"""A table of results as it is printed: numbers, what stands beside them, and where they come from."""

import math
from dataclasses import dataclass
from typing import Literal

State = Literal["done", "missing", "failed", "stale"]
"""Whether a cell was measured, was not, ended with an error, or was measured by code that behaves otherwise now."""


@dataclass(frozen=True)
class Shown:
    """One cell as it is printed.

    Args:
        state: Only ``done`` and ``stale`` ones have a value.
        value: What was measured; ``None`` for pictures and texts.
        deviation: Standard deviation over ``count`` splits or runs (divided by ``count - 1``).
        count: How many splits or runs.
        unit: ``"%"``, ``"ms"``, ``"s"``, ``"MB"`` or nothing.
        digits: After the point.
        higher_is_better: ``None`` where nothing is better than anything.
        paper: The paper's value, and its deviation (divided by n, as the authors' code has it).
        text: Shown in place of a number: an error's one line, or words.
        beside: Words in square brackets after the number, such as the accuracy without twins.
        picture: A PNG, shown in place of a number.
        command: That makes the cell, with the settings that differ from the plain data set's.
        data_checksum, run_id, date, version: Of the run, or of all runs behind the cell as far as they differ.
        counted: What ``count`` counts.
    """

    state: State
    value: float | None = None
    deviation: float | None = None
    count: int = 0
    unit: str = ""
    digits: int = 2
    higher_is_better: bool | None = None
    paper: float | None = None
    paper_deviation: float | None = None
    text: str = ""
    beside: str = ""
    picture: bytes | None = None
    command: str = ""
    data_checksum: str = ""
    run_id: str = ""
    date: str = ""
    version: str = ""
    counted: Literal["splits", "runs"] = "splits"

    @property
    def difference(self) -> float | None:
        """Ours less the paper's."""
        return None if self.value is None or self.paper is None else self.value - self.paper

    @property
    def standard_error(self) -> float | None:
        """Of the difference, if both deviations are known; both are taken over the same number of splits.

        The paper's deviation is divided by n, so its mean has an error of that over the root of n - 1.
        """
        if self.difference is None or self.deviation is None or self.paper_deviation is None or self.count < 2:
            return None
        return math.hypot(self.deviation / math.sqrt(self.count), self.paper_deviation / math.sqrt(self.count - 1))


@dataclass(frozen=True)
class Table:
    """A table or a figure.

    Args:
        name: Of the experiment: ``table_1``.
        title, caption: For people.
        rows, columns: Titles in order.
        cells: By row and column; one that is not there is empty.
        notes: Sentences below the table, such as what machine times are from.
        paper: Whether the paper has this table.
        best_of: Whether the best value of each column is marked, or of each row.
    """

    name: str
    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: dict[tuple[str, str], Shown]
    caption: str = ""
    notes: tuple[str, ...] = ()
    paper: bool = False
    best_of: Literal["column", "row"] = "column"

    def cell(self, row: str, column: str) -> Shown:
        return self.cells.get((row, column), Shown("missing"))

    def ranks(self) -> dict[tuple[str, str], int]:
        """1 for the best and 2 for the second best value of each line, as far as one is better than another.

        Equal values share a rank. Stale and missing cells have none, and no cell beside one of another unit.
        """
        lines = [[(row, column) for row in self.rows] for column in self.columns]
        if self.best_of == "row":
            lines = [list(line) for line in zip(*lines, strict=True)]
        ranks: dict[tuple[str, str], int] = {}
        for line in lines:
            cells = {where: self.cell(*where) for where in line}
            values = {
                where: (cell.value if cell.higher_is_better else -cell.value)
                for where, cell in cells.items()
                if cell.state == "done" and cell.higher_is_better is not None
                if cell.value is not None and math.isfinite(cell.value)
            }
            best = sorted(set(values.values()), reverse=True)[:2]
            if len(values) > 1 and len({cells[where].unit for where in values}) == 1:
                ranks |= {where: best.index(value) + 1 for where, value in values.items() if value in best}
        return ranks
