"""Tables as one HTML page that needs nothing beside itself."""

import re
from collections.abc import Sequence
from xml.etree.ElementTree import Element

from figure_kedro.experiments.pages.words import (
    all_cells,
    difference_text,
    explanation,
    facts,
    failure,
    failures,
    number,
    one_line,
    paper_text,
    shared_unit,
    spread,
    tally,
    unit_text,
)
from figure_kedro.experiments.table import Shown, Table
from figure_kedro.reporting.document import Content, box, page, picture, tag

HOW_TO = "Press a cell to see what made it: the command with its settings, data, run, date and version."


def html_page(tables: Sequence[Table], title: str) -> str:
    """Render tables as one page, with an index where there are several.

    Args:
        tables: In the order of the page.
        title: Of the page.
    """
    anchors = [f"{index}-{re.sub('[^A-Za-z0-9_-]', '-', table.name)}" for index, table in enumerate(tables, 1)]
    index = [_index(tables, anchors)] if len(tables) > 1 else []
    known = any(facts(cell) for table in tables for _, _, cell in all_cells(table))
    how_to = [tag("p", HOW_TO, class_="how")] if known else []
    headed = [table.title for table in tables] != [title]  # a page of one table has its title
    sections = [_section(table, anchor, headed) for table, anchor in zip(tables, anchors, strict=True)]
    return page(title, tag("h1", title), *index, *how_to, *sections)


def _index(tables: Sequence[Table], anchors: Sequence[str]) -> Element:
    lines = [
        tag("li", tag("a", table.title, href=f"#{anchor}"), " ", tag("small", tally(table)))
        for table, anchor in zip(tables, anchors, strict=True)
    ]
    return tag("nav", tag("ol", *lines, class_="index"), aria_label="Tables")


def _section(table: Table, anchor: str, headed: bool) -> Element:
    parts = [tag("h2", table.title)] if headed else []
    if table.caption:
        parts.append(tag("p", table.caption, class_="caption"))
    parts.append(box(_grid(table, anchor), table.title))
    if failures(table):
        parts.append(_failures(table, anchor))
    notes = [*table.notes, " ".join(explanation(table))]
    return tag("section", *parts, *(tag("p", note, class_="notes") for note in notes), id=anchor)


def _failures(table: Table, anchor: str) -> Element:
    lines = []
    for (row, column), index in failures(table).items():
        cell = table.cell(row, column)
        command: list[Content] = [" ", tag("code", cell.command)] if cell.command else []
        lines.append(
            tag(
                "li",
                f"{row}, {column} failed: {failure(cell)}",
                *command,
                id=f"{anchor}-failed-{index}",
                value=str(index),
            )
        )
    return tag("ol", *lines, class_="failures")


def _grid(table: Table, anchor: str) -> Element:
    ranks, failed, unit = table.ranks(), failures(table), shared_unit(table)

    def cell(row: str, column: str) -> Element:
        where, shown = (row, column), table.cell(row, column)
        name = f"{anchor}-{table.rows.index(row)}-{table.columns.index(column)}"
        parts = _pressed(_content(shown, ranks.get(where, 0), unit), shown, name)
        if shown.picture is not None and shown.state != "failed":
            parts.insert(0, picture(shown.picture, f"{table.title}: {row}, {column}. {shown.text}".rstrip(". ")))
        if where in failed:
            parts.append(tag("sup", tag("a", str(failed[where]), href=f"#{anchor}-failed-{failed[where]}")))
        parts += _paper(shown)
        if facts(shown):
            parts.append(_about(shown, f"{row}, {column}", name))
        hint = "\n".join(f"{name}: {one_line(value)}" for name, value in facts(shown))
        alone = " alone" if len(table.columns) == 1 else ""
        return tag("td", *parts, {"title": hint} if hint else {}, class_=_kind(shown) + alone)

    head = tag("tr", tag("td"), *(tag("th", column, scope="col") for column in table.columns))
    lines = [
        tag(
            "tr",
            tag("th", tag("div", row, class_="title"), scope="row"),
            *(cell(row, column) for column in table.columns),
        )
        for row in table.rows
    ]
    for line in lines:
        line.tail = "\n"
    return tag("table", tag("thead", head), "\n", tag("tbody", *lines))


def _kind(cell: Shown) -> str:
    if cell.state in ("failed", "missing"):
        return cell.state
    what = "picture" if cell.picture is not None else "number" if cell.value is not None else "words"
    return f"{cell.state} {what}"


def _content(cell: Shown, rank: int, unit: str | None) -> list[Content]:
    """What stands in the first line of a cell."""
    if cell.state == "failed":
        return [tag("span", "failed", class_="flag")]
    if cell.state == "missing":
        return [tag("span", cell.text or "\N{EN DASH}", class_="none")]
    content = _number(cell, rank, unit) if cell.value is not None else [_words(cell)]
    if cell.state == "stale":
        content = [*(content if cell.picture else [tag("s", *content)]), " ", tag("span", "stale", class_="flag")]
    beside: list[Content] = [" ", tag("span", f"[{cell.beside}]", class_="small beside")] if cell.beside else []
    return [*content, *beside]


def _words(cell: Shown) -> str:
    return "how it was made" if cell.picture and facts(cell) else "" if cell.picture else cell.text


def _number(cell: Shown, rank: int, unit: str | None) -> list[Content]:
    assert cell.value is not None
    value = number(cell.value, cell.digits)
    marked = {1: tag("strong", value), 2: tag("span", value, class_="second")}.get(rank, value)
    behind = unit_text(cell, unit)
    units: list[Content] = [" ", tag("span", behind, class_="unit")] if behind else []
    return [marked, spread("", cell.deviation, cell.digits), *units]


def _paper(cell: Shown) -> list[Element]:
    """The small lines below: the paper's number, and the difference."""
    paper, difference = paper_text(cell), difference_text(cell)
    lines = [f"paper {paper}" if paper else "", difference]
    return [tag("span", line, class_="small") for line in lines if line]


def _pressed(content: list[Content], cell: Shown, name: str) -> list[Content]:
    """The content as a button that opens what is known of the cell, if anything is."""
    return [tag("button", *content, type="button", popovertarget=name)] if facts(cell) else content


def _about(cell: Shown, title: str, name: str) -> Element:
    lines = []
    for fact, value in facts(cell):
        lines += [tag("dt", fact), tag("dd", tag("code", value) if fact == "command" else value)]
    return tag("div", tag("strong", title), tag("dl", *lines), class_="about", id=name, popover="auto")
