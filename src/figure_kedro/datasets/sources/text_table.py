"""Tables in text files: what stands between columns, which encoding they have, whether the first line has names."""

import codecs
import csv
import gzip
import io
import re
import warnings
from collections.abc import Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError, nearest
from figure_kedro.graph.columns import is_among
from figure_kedro.graph.labels import WHOLE_NUMBER

SEPARATORS = {"comma": ",", "tab": "\t", "semicolon": ";", "pipe": "|", "space": " "}
"""What is looked for in a file, in this order, by names that a command line can take."""

SAMPLE = 1 << 16
"""So many bytes tell the separator."""

NUMBER = re.compile(r"-?[0-9.]+")
FRACTION = re.compile(r"-?[0-9]*\.[0-9]+([eE][-+]?[0-9]+)?")


@dataclass(frozen=True)
class TextFormat:
    """What a user says about text files; ``None`` is found out.

    Args:
        separator: What stands between two columns: a character, or a name in :data:`SEPARATORS`.
        encoding: For instance ``latin-1``; UTF-8 by default, or what a byte order mark says.
        header: Whether the first line holds the names of the columns. By default it does, and the user is asked if it
            looks otherwise.
        others: Columns, also by wildcards, that positions of other columns do not count.
    """

    separator: str | None = None
    encoding: str | None = None
    header: bool | None = None
    others: tuple[str | None, ...] = ()


def check_separator(value: str | None) -> str | None:
    """A separator as a user may give it.

    Raises:
        UserError: If it is neither a single character nor a name of one.
    """
    if value is None or value in SEPARATORS or value == "\t":
        return value
    if len(value) != 1 or value.isalnum() or value in "\"'\n\r":
        raise UserError(f"a separator is one character, not {value!r}; {nearest(value, SEPARATORS)}")
    return value


def check_encoding(value: str | None) -> str | None:
    """The name of an encoding that Python knows."""
    try:
        return None if value is None else codecs.lookup(value).name
    except LookupError:
        raise UserError(f"there is no encoding {value!r}; try utf-8, latin-1 or utf-16") from None


@dataclass(frozen=True)
class Layout:
    """How a text file is read: what was said and what was found out.

    Args:
        path: Of the file.
        separator, encoding: As pandas takes them.
        skip: Lines before the first row.
        names: Of the columns.
        as_text: Those of them that hold ids or words.
        ids: Those that stand where ids are looked for.
        asks: Whether nobody has said that the first line holds names, and it was taken for that.
    """

    path: str
    separator: str
    encoding: str
    skip: int
    names: list[str]
    as_text: set[str]
    ids: list[str]
    asks: bool


def read_text_table(path: str, text: Collection[str | int], form: TextFormat) -> pd.DataFrame:
    """Read a text file as a table.

    Args:
        path: Of the file; it is unpacked if its name ends in ``.gz``.
        text: Names or positions of the columns that hold ids or words. There ``007`` and ``NA`` are what they look
            like, and only an empty cell is a missing one.
        form: Its format.
    """
    layout = text_layout(path, text, form)
    with _strictly():
        frame = pd.read_csv(path, **_options(layout))
    frame = _with_numbers(layout, frame)
    _ask_about_header(layout, frame)
    return frame


def text_blocks(path: str, text: Collection[str | int], form: TextFormat, rows: int) -> Iterator[pd.DataFrame]:
    """The same table, so many rows at a time. Whole numbers among ids and words are numbers in the first block, and
    text in the others, where that takes less time."""
    layout = text_layout(path, text, form)
    first = True
    with pd.read_csv(path, chunksize=rows, **_options(layout)) as reader:
        while True:
            with _strictly():
                frame = next(reader, None)
            if frame is None:
                return
            if first:
                frame = _with_numbers(layout, frame)
                _ask_about_header(layout, frame)
            first = False
            yield frame


def text_layout(path: str, text: Collection[str | int], form: TextFormat) -> Layout:
    """Find out how a text file looks, from its first lines."""
    sample, encoding, whole = _sample(path, form.encoding)
    comments = 0
    lines = sample.splitlines()
    while comments < len(lines) and (lines[comments].startswith(("#", "%")) or not lines[comments].strip()):
        comments += 1
    body = "\n".join(lines[comments:] if whole else lines[comments:-1] or lines[comments:])
    rows, separator = _split(body, form.separator, path)
    names = _names(rows, [line for line in lines[:comments] if line.strip()], separator, form, path)
    header = form.header is not False and (not comments or names == _unique(rows[0] if rows else []))
    counted = [name for name in names if not is_among(name, form.others)]
    ids = [counted[key] for key in text if isinstance(key, int) and key < len(counted)]
    as_text = {*ids, *(key for key in text if isinstance(key, str))}.intersection(names)
    asks = form.header is None and header
    return Layout(path, separator, encoding, comments + header, names, as_text, ids, asks)


def read_bytes(path: str, limit: int) -> bytes:
    """The first bytes of a file, unpacked if its name ends in ``.gz``."""
    if path.endswith(".gz"):
        with gzip.open(path, "rb") as stream:
            return stream.read(limit)
    with Path(path).open("rb") as plain:
        return plain.read(limit)


def _sample(path: str, encoding: str | None) -> tuple[str, str, bool]:
    """The beginning of a file, its encoding, and whether that is all of it."""
    head = read_bytes(path, SAMPLE + 1)
    head, whole = head[:SAMPLE], len(head) <= SAMPLE
    if encoding is None:
        marked = head.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE))
        encoding = "utf-16" if marked else "utf-8-sig"
    encoding = "utf-8-sig" if encoding == "utf-8" else encoding
    decoder = codecs.getincrementaldecoder(encoding)()
    return decoder.decode(head, final=whole), encoding, whole


def _split(body: str, given: str | None, path: str) -> tuple[list[list[str]], str]:
    """The first rows, and the separator: the first one that gives every row the same number of columns, two or more."""
    candidates = list(SEPARATORS.values())
    if given is not None:
        candidates = [SEPARATORS.get(given, given)]
    elif path.removesuffix(".gz").endswith(".tsv"):
        candidates = ["\t", *(mark for mark in candidates if mark != "\t")]
    for separator in candidates:
        rows = _rows(body, separator)
        if len({len(row) for row in rows}) == 1 and len(rows[0]) > 1:
            return rows, separator
    return _rows(body, candidates[0]), candidates[0]


def _rows(body: str, separator: str) -> list[list[str]]:
    reader = csv.reader(io.StringIO(body), delimiter=separator, skipinitialspace=separator == " ")
    try:
        return [row for row in reader if row][:200]
    except csv.Error:
        return []


def _names(rows: list[list[str]], comments: Sequence[str], separator: str, form: TextFormat, path: str) -> list[str]:
    """The names of the columns: from the first line, or from the last comment above it if that has as many."""
    if not rows:
        raise UserError(f"{path} cannot be read as a table: No columns to parse from file")
    if comments and form.header is not True:
        told = [name.strip() for row in _rows(comments[-1].lstrip("#% "), separator) for name in row]
        if len(told) == len(rows[0]) > 1:
            return _unique(told)
    if form.header is False:
        return [f"c{number}" for number in range(1, len(rows[0]) + 1)]
    if form.header is None and all(NUMBER.fullmatch(name.strip()) for name in rows[0]):
        raise UserError(
            f"{path} starts with numbers; its first line must hold the names of the columns (or set "
            "source.header=false, and they are called c1, c2 and so on)"
        )
    return _unique(rows[0])


def _unique(names: Sequence[str]) -> list[str]:
    """Names as pandas makes them: empty ones are numbered, repeated ones get a number."""
    found: list[str] = []
    for position, name in enumerate(names):
        name = name or f"Unnamed: {position}"
        number = names[:position].count(name)
        found.append(f"{name}.{number}" if number else name)
    return found


@contextmanager
def _strictly() -> Iterator[None]:
    """Rows that are longer than the header are an error."""
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)
        yield


def _options(layout: Layout) -> dict[str, Any]:
    as_text = layout.as_text
    return {
        "sep": layout.separator,
        "skipinitialspace": layout.separator == " ",
        "header": None,
        "names": layout.names,
        "skiprows": layout.skip,
        "index_col": False,
        "encoding": layout.encoding,
        "dtype": dict.fromkeys(as_text, str),
        "keep_default_na": False,
        "na_values": {name: [""] if name in as_text else ["", "NaN", "nan", "NA", "null"] for name in layout.names},
        "low_memory": False,
    }


def _with_numbers(layout: Layout, frame: pd.DataFrame) -> pd.DataFrame:
    """Ids and words are numbers if all in their column are whole ones."""
    for name in layout.as_text:
        values = frame[name].dropna()
        if all(WHOLE_NUMBER.fullmatch(value) for value in values) and len(values) == len(frame):
            frame[name] = frame[name].astype(np.int64)
    return frame


def _ask_about_header(layout: Layout, frame: pd.DataFrame) -> None:
    """Raise a :class:`UserError` if the first line looks like the rows below it."""
    if not layout.asks:
        return
    names, ids = layout.names, layout.ids
    fraction = next((name for name in names if FRACTION.fullmatch(name)), None)
    again = next((name for name in ids for key in ids if name in set(frame[key].astype(str))), None)
    if fraction is not None or again is not None:
        raise UserError(
            f"{layout.path}: is the first line ({', '.join(names[:3])}) a row of its own? "
            f"{fraction if again is None else again!r} is no name of a column; set source.header=false if it is, "
            "source.header=true if it holds names"
        )
