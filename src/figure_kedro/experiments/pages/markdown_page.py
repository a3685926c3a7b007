"""Tables as Markdown, as GitHub shows it."""

import re
from collections.abc import Mapping, Sequence
from urllib.parse import quote

from figure_kedro.experiments.pages.words import (
    PicturePath,
    all_cells,
    difference_text,
    explanation,
    facts,
    number,
    one_line,
    shared_unit,
    unit_text,
)
from figure_kedro.experiments.table import Shown, Table

Where = tuple[str, str]


def markdown_page(tables: Sequence[Table], title: str, picture_path: PicturePath | None = None) -> str:
    """Render tables as one Markdown page; below each stands a list of what made its cells.

    Args:
        tables: In the order of the page.
        title: Of the page.
        picture_path: Says where a picture was saved; without it pictures are left out.
    """
    headed = [table.title for table in tables] != [title]  # a page of one table has its title
    return "\n\n".join([f"# {_text(title)}", *(_section(table, headed, picture_path) for table in tables)]) + "\n"


def _section(table: Table, headed: bool, picture_path: PicturePath | None) -> str:
    notes = _numbered_notes(table)
    listed = [f"{index}. {_note(table, cells)}" for index, cells in enumerate(_grouped(notes), 1)]
    parts = [
        f"## {_text(table.title)}" if headed else "",
        _text(table.caption),
        _grid(table, notes, picture_path),
        "\n".join(f"- {_text(note)}" for note in (*table.notes, " ".join(explanation(table)))),
        "\n".join(listed),
    ]
    return "\n\n".join(part for part in parts if part)


def _grid(table: Table, notes: Mapping[Where, int], picture_path: PicturePath | None) -> str:
    ranks, unit = table.ranks(), shared_unit(table)

    def cell(row: str, column: str) -> str:
        shown, where = table.cell(row, column), (row, column)
        picture = "" if shown.picture is None else _picture(table, row, column, picture_path)
        content = _with_state(shown, picture or _measured(shown, ranks.get(where, 0), unit))
        mark = f"<sup>{notes[where]}</sup>" if where in notes else ""
        return "<br>".join(line for line in (content + mark, _paper(shown)) if line)

    lines = [
        ["", *(_text(column) for column in table.columns)],
        [":---", *("---:" for _ in table.columns)],
        *([_text(row), *(cell(row, column) for column in table.columns)] for row in table.rows),
    ]
    return "\n".join(f"| {' | '.join(line)} |" for line in lines)


def _measured(cell: Shown, rank: int, unit: str | None) -> str:
    if cell.value is None:
        return _text(cell.text)
    value = number(cell.value, cell.digits)
    marked = {1: f"**{value}**", 2: f"<ins>{value}</ins>"}.get(rank, value)
    deviation = "" if cell.deviation is None else f"({number(cell.deviation, cell.digits)})"
    return " ".join(part for part in (marked, deviation, _text(unit_text(cell, unit))) if part)


def _with_state(cell: Shown, content: str) -> str:
    if cell.state == "failed":
        return "failed"
    if cell.state == "stale":
        content = f"{content if cell.picture else f'~~{content}~~'} stale"
    return f"{content} \\[{_text(cell.beside)}\\]" if cell.beside else content


def _paper(cell: Shown) -> str:
    if cell.paper is None:
        return ""
    deviation = "" if cell.paper_deviation is None else f" ({number(cell.paper_deviation, cell.digits)})"
    difference = difference_text(cell)
    return f"paper {number(cell.paper, cell.digits)}{deviation}" + (f", {difference}" if difference else "")


def _picture(table: Table, row: str, column: str, picture_path: PicturePath | None) -> str:
    if picture_path is None:
        return "(picture)"
    return f"![{_text(f'{table.title}: {row}, {column}')}]({quote(picture_path(table, row, column), safe='/')})"


def _numbered_notes(table: Table) -> dict[Where, int]:
    """The number of each cell's note; cells of one and the same run share it."""
    numbers: dict[tuple[tuple[str, str], ...], int] = {}
    notes = {}
    for row, column, cell in all_cells(table):
        note = tuple(facts(cell))
        if note and cell.state != "missing":
            notes[row, column] = numbers.setdefault(note, len(numbers) + 1)
    return notes


def _grouped(notes: Mapping[Where, int]) -> list[list[Where]]:
    return [[where for where, number in notes.items() if number == each] for each in sorted(set(notes.values()))]


def _note(table: Table, cells: Sequence[Where]) -> str:
    titles = "; ".join(_text(f"{row}, {column}") for row, column in cells)
    return f"{titles}: " + "; ".join(_fact(name, value) for name, value in facts(table.cell(*cells[0])))


def _fact(name: str, value: str) -> str:
    if name == "command":
        return _code(value)
    return f"{name}{':' if name in ('failed', 'stale') else ''} {_text(value)}"


def _code(text: str) -> str:
    """A code span, fenced by more backticks than it holds."""
    text = one_line(text)
    fence = "`" * (max((len(ticks) for ticks in re.findall("`+", text)), default=0) + 1)
    space = " " if "`" in text else ""
    return f"{fence}{space}{text}{space}{fence}"


def _text(text: str) -> str:
    """Escape what Markdown would read as markup; the text becomes one line.

    >>> print(_text("roman_empire | <b>"))
    roman\\_empire \\| \\<b\\>
    """
    text = re.sub(r"([\\`*_\[\]<>|~&$#!])", r"\\\1", one_line(text))
    return re.sub(r"^([-+=]|\d+(?=[.)]\s))", _escaped_start, text)


def _escaped_start(start: re.Match[str]) -> str:
    """A dash or a number at the start would begin a list."""
    return f"{start[0]}\\" if start[0].isdigit() else f"\\{start[0]}"
