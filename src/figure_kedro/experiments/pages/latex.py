"""Tables as a LaTeX document for pdflatex, with nothing but the packages of its basic collections."""

import re
import textwrap
from collections.abc import Sequence

from figure_kedro.experiments.pages.words import (
    PicturePath,
    difference_text,
    explanation,
    failure,
    failures,
    number,
    paper_text,
    shared_unit,
    spread,
    unit_text,
)
from figure_kedro.experiments.table import Shown, Table

PREAMBLE = r"""\documentclass{article}
\usepackage[T1]{fontenc}
\usepackage[utf8]{inputenc}
\IfFileExists{lmodern.sty}{\usepackage{lmodern}}{}
\usepackage[a4paper, landscape, margin=15mm]{geometry}
\usepackage{array}
\usepackage{booktabs}
\usepackage{color}
\usepackage{graphicx}
\definecolor{muted}{gray}{0.4}
\setlength{\parindent}{0pt}
\setlength{\belowcaptionskip}{6pt}
\newcommand{\muted}[1]{\textcolor{muted}{#1}}
\newcommand{\below}[1]{\scriptsize\muted{#1}}
\newcommand{\lines}[2]{\begin{tabular}[t]{@{}#1@{}}#2\end{tabular}}
\newcommand{\hung}[1]{\raisebox{\dimexpr\ht\strutbox-\height\relax}{#1}}
\newsavebox{\whole}
\newcommand{\fitted}[1]{% made smaller only if it is wider or higher than the page
  \sbox{\whole}{#1}%
  \ifdim\wd\whole>\linewidth\sbox{\whole}{\resizebox{\linewidth}{!}{\usebox{\whole}}}\fi
  \ifdim\dimexpr\ht\whole+\dp\whole\relax>0.75\textheight
    \sbox{\whole}{\resizebox*{!}{0.75\textheight}{\usebox{\whole}}}\fi
  \usebox{\whole}}
"""

ESCAPES = {character: f"\\{character}" for character in "&%$#_{}"} | {
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "`": r"\textasciigrave{}",
    "[": "{[}",  # behind a line's end it would be a length
    "]": "{]}",
    "*": "{*}",  # behind a line's end it would forbid a page break
    "±": r"$\pm$",
    "\N{MULTIPLICATION SIGN}": r"$\times$",
    "\N{MINUS SIGN}": r"$-$",
    "≤": r"$\leq$",
    "≥": r"$\geq$",
    "≈": r"$\approx$",
    "∞": r"$\infty$",
    "→": r"$\rightarrow$",
    "\N{NO-BREAK SPACE}": "~",
}
GREEK_LETTERS = "αβγδεζηθικλμνξπρστυφχψωΓΔΘΛΞΠΣΦΨΩ"
GREEK_NAMES = (
    *("alpha", "beta", "gamma", "delta", "varepsilon", "zeta", "eta", "theta", "iota", "kappa", "lambda", "mu", "nu"),
    *("xi", "pi", "rho", "sigma", "tau", "upsilon", "varphi", "chi", "psi", "omega"),
    *("Gamma", "Delta", "Theta", "Lambda", "Xi", "Pi", "Sigma", "Phi", "Psi", "Omega"),
)
GREEK = {letter: rf"$\{name}$" for letter, name in zip(GREEK_LETTERS, GREEK_NAMES, strict=True)}
NOT_IN_FONTS = set("ĦħĸĿŀŉŦŧſ")
LONGEST_TITLE = 28


def latex_document(tables: Sequence[Table], picture_path: PicturePath | None = None) -> str:
    """Render tables as one document, one ``table`` on a page, none wider or higher than it.

    Args:
        tables: In the order of the document.
        picture_path: Says where a picture was saved; without it pictures are left out.

    Raises:
        ValueError: A picture's path cannot be written in LaTeX.
    """
    bodies = [_table(table, picture_path) for table in tables]
    content = "\n\\clearpage\n".join(bodies) or r"\mbox{}"
    return f"{PREAMBLE}\\begin{{document}}\n{content}\n\\end{{document}}\n"


def _table(table: Table, picture_path: PicturePath | None) -> str:
    caption = " ".join(part for part in (rf"\textbf{{{_text(table.title)}.}}", _text(table.caption)) if part)
    notes = [*table.notes, " ".join(explanation(table))]
    failed = [
        rf"\textsuperscript{{{index}}}~{_text(f'{row}, {column} failed: {failure(table.cell(row, column))}')}"
        for (row, column), index in failures(table).items()
    ]
    small = "\n\n".join([*failed, *(_text(note) for note in notes)])
    return "\n".join(
        [
            r"\begin{table}[!ht]",
            r"\centering",
            rf"\caption{{{caption}}}",
            rf"\fitted{{{_grid(table, picture_path)}}}",
            r"\end{table}",
            rf"{{\footnotesize {small}\par}}",
        ]
    )


def _grid(table: Table, picture_path: PicturePath | None) -> str:
    ranks, failed, unit = table.ranks(), failures(table), shared_unit(table)

    def cell(row: str, column: str) -> str:
        where, shown = (row, column), table.cell(row, column)
        if shown.picture is not None:
            first = _picture(table, row, column, picture_path)
        else:
            first = _measured(shown, ranks.get(where, 0), unit)
        return _lines("r", [_with_state(shown, first, failed.get(where, 0)), *_paper(shown)])

    wrapped = r">{\raggedright\arraybackslash}p{45mm}"
    titles = wrapped if any(len(row) > LONGEST_TITLE for row in table.rows) else "l"
    head = ["", *(_lines("r", [_text(line) for line in textwrap.wrap(column, 18)]) for column in table.columns)]
    lines = [[_text(row), *(cell(row, column) for column in table.columns)] for row in table.rows]
    rows = [f"{' & '.join(line)} \\\\ \\addlinespace" for line in lines]
    return "\n".join(
        [
            rf"\begin{{tabular}}{{{titles}{'r' * len(table.columns)}}}",
            r"\toprule",
            f"{' & '.join(head)} \\\\",
            r"\midrule",
            *rows,
            r"\bottomrule",
            r"\end{tabular}",
        ]
    )


def _lines(side: str, lines: Sequence[str]) -> str:
    """Lines above one another in a cell."""
    above = r" \\ ".join(lines)
    return rf"\lines{{{side}}}{{{above}}}" if len(lines) > 1 else above


def _measured(cell: Shown, rank: int, unit: str | None) -> str:
    if cell.value is None:
        return _text(cell.text)
    value = _number(number(cell.value, cell.digits))
    marked = {1: rf"\textbf{{{value}}}", 2: rf"\underline{{{value}}}"}.get(rank, value)
    return marked + _number(spread("", cell.deviation, cell.digits)) + _text(f" {unit_text(cell, unit)}").rstrip()


def _with_state(cell: Shown, content: str, failed: int) -> str:
    if cell.state == "failed":
        return rf"failed\textsuperscript{{{failed}}}"
    if cell.state == "missing":
        return rf"\muted{{{content or '--'}}}"
    if cell.state == "stale" and cell.picture is not None:
        content = _lines("r", [content, r"\muted{stale}"])
    elif cell.state == "stale":
        content = rf"\muted{{{content} stale}}"
    return f"{content} {_text(f'[{cell.beside}]')}" if cell.beside else content


def _paper(cell: Shown) -> list[str]:
    paper, difference = paper_text(cell), difference_text(cell)
    lines = [f"paper {paper}" if paper else "", difference]
    return [rf"\below{{{_number(line)}}}" for line in lines if line]


def _picture(table: Table, row: str, column: str, picture_path: PicturePath | None) -> str:
    if picture_path is None:
        return r"\muted{(picture)}"
    path = picture_path(table, row, column)
    if re.search(r"[\\{}%#~^\s]", path):
        raise ValueError(f"LaTeX cannot include a picture of the path {path!r}: take plain letters, digits, _ and -")
    width = 240 / max(len(table.columns), 2)
    return rf"\hung{{\includegraphics[width={width:.0f}mm]{{\detokenize{{{path}}}}}}}"


def _number(text: str) -> str:
    return text.replace("-", "$-$").replace("±", r"$\pm$")


def _text(text: str) -> str:
    """Escape what LaTeX would read as a command; the text becomes one line.

    >>> print(_text("roman_empire 50% λ --params"))
    roman\\_empire 50\\% $\\lambda$ -{}-params
    """
    escaped = "".join(_character(character) for character in re.sub(r"\s+", " ", text))
    return re.sub(r"([-<>,'])(?=\1)", r"\1{}", escaped)  # two of them would melt into a dash or a quotation mark


def _character(character: str) -> str:
    """Escape one character; one that the fonts of pdflatex lack becomes its number, for it would end with an error."""
    known = ESCAPES | GREEK
    if character in known:
        return known[character]
    if " " <= character <= "~" or ("\u00a1" <= character <= "\u017e" and character not in NOT_IN_FONTS):
        return character
    if character in "\u2013\u2014\u2018\u2019\u201c\u201d\u201e\u2022\u2026\u20ac\u2122":
        return character
    return f"{{[}}U+{ord(character):04X}{{]}}"
