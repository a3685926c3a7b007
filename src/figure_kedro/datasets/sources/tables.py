"""The user's tables: text and Parquet files, and folders of Parquet files."""

import zlib
from collections.abc import Collection, Iterator
from contextlib import contextmanager
from pathlib import Path

import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq

from figure_kedro.datasets.sources.text_table import TextFormat, read_text_table, text_names
from figure_kedro.errors import UserError
from figure_kedro.graph.from_tables import named_by_text

TEXT = (".csv", ".tsv", ".csv.gz", ".tsv.gz")
UNREADABLE = (
    *(OSError, EOFError, zlib.error, ValueError, LookupError, TypeError, NotImplementedError),
    *(pa.ArrowException, pd.errors.ParserWarning),
)
"""What pandas and Arrow raise for files that are no tables."""

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
    with _readable(path, form) as is_parquet:
        frame = named_by_text(pd.read_parquet(path)) if is_parquet else read_text_table(path, text, form)
    if frame.empty:
        raise UserError(f"{path} has no rows")
    return frame


def column_names(path: str, form: TextFormat | None = None) -> list[str]:
    """The names of the columns that :func:`read_table` gives, without reading the rows."""
    form = form or TextFormat()
    with _readable(path, form) as is_parquet:
        if not is_parquet:
            return text_names(path, form)
        schema = pq.read_schema(min(Path(path).rglob("*.parquet")) if Path(path).is_dir() else path)
        return list(named_by_text(schema.empty_table().to_pandas()).columns)


@contextmanager
def _readable(path: str, form: TextFormat) -> Iterator[bool]:
    """Turn what is wrong with a file into a :class:`UserError`; gives whether it is Parquet."""
    check_readable(path)
    is_parquet = path.endswith(".parquet") or Path(path).is_dir()
    if not is_parquet and not path.endswith(TEXT) and form.separator is None:
        raise UserError(
            f"{path}: tables are read from .csv, .tsv, .csv.gz, .tsv.gz or .parquet files; convert it, rename it, or "
            "set source.separator if it is text"
        )
    try:
        yield is_parquet
    except UnicodeError as error:
        raise UserError(f"{path} cannot be read as a table: {error}; set source.encoding") from error
    except UNREADABLE as error:
        if isinstance(error, UserError):  # which is a ValueError, as those of pandas are
            raise
        raise UserError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from error


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
