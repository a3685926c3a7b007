"""What all pages say: numbers as text, where a cell comes from, and what a reader must know of a table."""

from collections import Counter
from collections.abc import Callable, Iterator

from figure_kedro.experiments.table import Shown, Table

PicturePath = Callable[[Table, str, str], str]
"""Where the picture of a table's row and column was saved."""

STALE = "measured by code that behaves otherwise now"

FAR_BELOW = 2.0
"""Points by which a score below the paper's is named in a sentence of its own."""


def number(value: float, digits: int, sign: bool = False) -> str:
    """Round a value; nothing is ever minus zero.

    >>> number(-0.001, 2), number(0.2, 2, sign=True)
    ('0.00', '+0.20')
    """
    rounded = round(value, digits) + 0.0
    return f"{rounded:{'+' if sign else ''}.{digits}f}"


def spread(text: str, deviation: float | None, digits: int) -> str:
    """Put a deviation behind a number.

    >>> spread("87.20", 1.24, 2)
    '87.20 ± 1.24'
    """
    return text if deviation is None else f"{text} ± {number(deviation, digits)}"


def paper_text(cell: Shown) -> str:
    """The paper's number, or nothing."""
    return "" if cell.paper is None else spread(number(cell.paper, cell.digits), cell.paper_deviation, cell.digits)


def difference_text(cell: Shown) -> str:
    """Ours less the paper's with its standard error, or nothing."""
    if cell.difference is None:
        return ""
    return spread(number(cell.difference, cell.digits, sign=True), cell.standard_error, cell.digits)


def one_line(text: str) -> str:
    return " ".join(text.split())


def failure(cell: Shown) -> str:
    """Why a cell failed."""
    return one_line(cell.text) or "no reason was recorded"


def all_cells(table: Table) -> Iterator[tuple[str, str, Shown]]:
    """Every row, column and cell, those that are not there among them."""
    return ((row, column, table.cell(row, column)) for row in table.rows for column in table.columns)


def failures(table: Table) -> dict[tuple[str, str], int]:
    """Number the failed cells."""
    failed = [(row, column) for row, column, cell in all_cells(table) if cell.state == "failed"]
    return {where: index for index, where in enumerate(failed, 1)}


def facts(cell: Shown) -> list[tuple[str, str]]:
    """Where a cell comes from: names and values, those that are known."""
    named = {
        "failed": failure(cell) if cell.state == "failed" else "",
        "stale": STALE if cell.state == "stale" else "",
        "over": counted(cell),
        "command": cell.command,
        "data": cell.data_checksum,
        "run": cell.run_id,
        "date": cell.date,
        "version": cell.version,
    }
    return [(name, value) for name, value in named.items() if value]


def counted(cell: Shown) -> str:
    """Over how many splits or runs a cell is, in words.

    >>> counted(Shown("done", 1.0, count=10)), counted(Shown("done", 1.0, count=1, counted="runs"))
    ('10 splits', '1 run')
    """
    return "" if not cell.count else f"{cell.count} {cell.counted if cell.count > 1 else cell.counted[:-1]}"


def measured(table: Table) -> list[Shown]:
    """The cells that have a number."""
    return [cell for _, _, cell in all_cells(table) if cell.value is not None]


def shared_unit(table: Table) -> str | None:
    """The unit of all numbers of a table; ``None`` if they differ, and each must have its own."""
    units = {cell.unit for cell in measured(table)}
    return units.pop() if len(units) == 1 else None


def unit_text(cell: Shown, shared: str | None) -> str:
    """What stands behind a number: nothing where all numbers have one unit."""
    return cell.unit if shared is None else ""


def tally(table: Table) -> str:
    """How much of a table is there.

    >>> tally(Table("t", "T", ("a",), ("b", "c"), {("a", "b"): Shown("done", 1.0)}))
    '1 of 2 cells measured, 1 missing'
    """
    states = Counter(cell.state for _, _, cell in all_cells(table))
    total = states.total()
    others = [f"{states[state]} {state}" for state in ("failed", "stale", "missing") if states[state]]
    return ", ".join([f"{states['done']} of {total} cell{'s' * (total != 1)} measured", *others])


def explanation(table: Table) -> list[str]:
    """Sentences on how a table is to be read; only those that apply to it."""
    numbers = measured(table)
    sentences = []
    unit = shared_unit(table)
    if unit:
        sentences.append(f"All values are in {unit}.")
    spreads = [cell for cell in numbers if cell.deviation is not None]
    if spreads:
        counts = sorted({counted(cell) for cell in spreads})
        over = counts[0] if len(counts) == 1 else " or ".join(sorted({cell.counted for cell in spreads}))
        sentences.append(f"Ours are means and sample standard deviations over {over} (divided by n - 1).")
    papers = [cell for _, _, cell in all_cells(table) if cell.paper is not None]
    if papers:
        divided = (
            " (its deviations are divided by n)" if any(cell.paper_deviation is not None for cell in papers) else ""
        )
        error = " ± its standard error" if any(cell.standard_error is not None for cell in numbers) else ""
        sentences.append(f"Below stand the paper's value{divided} and ours less the paper's{error}.")
    if any(cell.beside.endswith("without twins") for cell in numbers):
        sentences.append(
            "Without twins: the accuracy on test nodes that have not exactly the links of a training node, in the "
            "published direction."
        )
    if table.ranks():
        sentences.append(f"The best of a {table.best_of} is bold, the second best underlined.")
    if below := _far_below(table):
        sentences.append(f"{FAR_BELOW:g} points or more below the paper's: {'; '.join(below)}.")
    if any(cell.state == "stale" for _, _, cell in all_cells(table)):
        sentences.append(f"Stale cells were {STALE}.")
    return [*sentences, f"{tally(table)}."]


def _far_below(table: Table) -> list[str]:
    """Scores that are far below the paper's, each with the difference."""
    scores = [
        (row, column, cell) for row, column, cell in all_cells(table) if cell.unit == "%" and cell.higher_is_better
    ]
    return [
        f"{row}, {column} ({difference_text(cell)})"
        for row, column, cell in scores
        if cell.state == "done" and cell.difference is not None and cell.difference <= -FAR_BELOW
    ]
