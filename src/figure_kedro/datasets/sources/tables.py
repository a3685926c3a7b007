"""The user's tables: text and Parquet files, and folders of Parquet files."""

import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.dataset as ds

from figure_kedro.datasets.sources.text_table import (
    SAMPLE,
    TextFormat,
    read_bytes,
    read_text_table,
    text_blocks,
    text_layout,
)
from figure_kedro.errors import UserError
from figure_kedro.graph.from_tables import named_by_text

TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
UNREADABLE = (
    *(OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, NotImplementedError),
    *(pa.ArrowException, pd.errors.ParserWarning),
)
"""What pandas and Arrow raise for files that are no tables."""

PACKED = 4
"""By so much a text of ids is longer than what ``gzip`` makes of it."""

PICKLES = (".pt", ".pth", ".pkl", ".pickle", ".gpickle")


def read_table(path: str, text: Collection[str | int], form: TextFormat | None = None) -> pd.DataFrame:
    """Read a text file (``.csv``, ``.tsv``, also ``.gz``) or Parquet (a file or a folder of files) whole.

    Columns are then named by strings.

    Args:
        path: Of the file, relative to the current directory.
        text: Names or positions of the columns in which a text file has ids or words, not numbers. There ``007`` and
            ``NA`` are what they look like, and only an empty cell is a missing one.
        form: Of a text file; with a separator, files of any other name are read as text, too.

    Raises:
        UserError: If the file is missing, not such a table, or empty.
    """
    form = form or TextFormat()
    parquet = is_parquet(path, form)
    with _readable(path):
        frame = named_by_text(pd.read_parquet(path)) if parquet else read_text_table(path, text, form)
    if frame.empty:
        raise UserError(f"{path} has no rows")
    return frame


def column_names(path: str, form: TextFormat | None = None) -> list[str]:
    """The names of the columns that :func:`read_table` gives, without reading the rows."""
    form = form or TextFormat()
    parquet = is_parquet(path, form)
    with _readable(path):
        if not parquet:
            return text_layout(path, (), form).names
        return list(named_by_text(_dataset(path).schema.empty_table().to_pandas()).columns)


def table_blocks(
    path: str, text: Collection[str | int], form: TextFormat | None = None, *, rows: int
) -> Iterator[pd.DataFrame]:
    """The same table, at most so many rows at a time; of text files see
    :func:`~figure_kedro.datasets.sources.text_table.text_blocks`.

    Raises:
        UserError: As :func:`read_table`, when the place in the file is reached.
    """
    form = form or TextFormat()
    parquet = is_parquet(path, form)
    with _readable(path):
        empty = True
        for frame in _parquet_blocks(path, rows) if parquet else text_blocks(path, text, form, rows):
            if len(frame):
                empty = False
                yield frame
    if empty:
        raise UserError(f"{path} has no rows")


def count_rows(path: str, form: TextFormat | None = None) -> int:
    """How many rows a table has: exactly for Parquet, by the length of the first lines for text."""
    form = form or TextFormat()
    with _readable(path):
        if is_parquet(path, form):
            return int(_dataset(path).count_rows())
        head = read_bytes(path, SAMPLE)
        size = Path(path).stat().st_size
        if path.endswith(".gz"):
            size = PACKED * size
        return max(1, size * head.count(b"\n") // max(1, len(head)))


def is_parquet(path: str, form: TextFormat | None = None) -> bool:
    """Whether a table is Parquet, and not text."""
    check_readable(path)
    parquet = path.endswith(".parquet") or Path(path).is_dir()
    if not parquet and not path.endswith(TEXT) and (form is None or form.separator is None):
        raise UserError(
            f"{path}: tables are read from .csv, .tsv, .csv.gz, .tsv.gz or .parquet files; convert it, rename it, or "
            "set source.separator if it is text"
        )
    return parquet


@contextmanager
def _readable(path: str) -> Iterator[None]:
    """Tell whatever keeps a table from being read in one line."""
    try:
        yield
    except UnicodeError as error:
        raise UserError(f"{path} cannot be read as a table: {error}; set source.encoding") from error
    except UNREADABLE as error:
        if isinstance(error, UserError):  # which is a ValueError, as those of pandas are
            raise
        raise UserError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from error


def _dataset(path: str) -> ds.Dataset:
    return ds.dataset(path, format="parquet", partitioning="hive")


def _parquet_blocks(path: str, rows: int) -> Iterator[pd.DataFrame]:
    # one batch ahead and no whole column groups in memory, or a few gigabytes of them lie there
    options = ds.ParquetFragmentScanOptions(use_buffered_stream=True, pre_buffer=False)
    batches = _dataset(path).to_batches(
        batch_size=rows, batch_readahead=1, fragment_readahead=1, fragment_scan_options=options, use_threads=False
    )
    for batch in batches:
        yield named_by_text(pa.Table.from_batches([batch]).to_pandas())


def check_readable(path: str) -> None:
    """Raise a :class:`UserError` if there is no such file or folder, or it is a pickle."""
    if path.endswith(PICKLES):
        raise UserError(
            f"{path} is a pickle, which may run any program when it is read; save edge_index, x, y and masks with "
            "numpy.savez and name the .npz file, use Parquet tables, or Graph.from_pyg in Python"
        )
    if not Path(path).exists():
        raise UserError(f"there is no file {path}; relative paths start at the current directory ({Path.cwd()})")
    if Path(path).is_dir() and not any(Path(path).rglob("*.parquet")):
        raise UserError(f"{path} is a folder without Parquet files; name a file, or a folder of .parquet files")
