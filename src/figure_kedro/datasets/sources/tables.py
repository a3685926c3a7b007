"""The user's tables: CSV and Parquet files, their columns, and ids of any type."""

import re
import warnings
import zlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError, nearest

WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def read_table(path: str, text: Iterable[str | int]) -> pd.DataFrame:
    """Read a CSV (``.csv``, ``.csv.gz``) or Parquet (``.parquet``) file whole; its columns are then named by strings.

    Args:
        path: Of the file, relative to the current directory.
        text: Names or positions of the columns in which a CSV file has ids or words, not numbers. There ``007`` and
            ``NA`` are what they look like, and only an empty cell is a missing one.

    Raises:
        UserError: If the file is missing, not such a table, or empty.
    """
    if not Path(path).is_file():
        raise UserError(f"there is no file {path}; relative paths start at the current directory ({Path.cwd()})")
    if not path.endswith((".csv", ".csv.gz", ".parquet")):
        raise UserError(f"{path}: tables are read from .csv, .csv.gz or .parquet files; convert it or rename it")
    try:
        frame = _read_parquet(path) if path.endswith(".parquet") else _read_csv(path, text)
    except (
        OSError,
        EOFError,
        zlib.error,
        ValueError,
        pd.errors.ParserWarning,
    ) as error:  # pandas' and Arrow's are ValueErrors
        if isinstance(error, UserError):
            raise
        raise UserError(f"{path} cannot be read as a table: {' '.join(str(error).split())}") from error
    if frame.empty:
        raise UserError(f"{path} has no rows")
    return frame


def column(frame: pd.DataFrame, path: str, name: str) -> pd.Series:
    """The column of that name, or an error with the nearest one."""
    if name not in frame.columns:
        raise UserError(f"{path} has no column {name!r}; {nearest(name, frame.columns)}")
    return frame[name]


def default_column(frame: pd.DataFrame, path: str, setting: str, taken: str | None = None) -> str:
    """The first column that is not taken; it must have a name, or it may be an index that was saved unasked."""
    name = next(key for key in frame.columns if key != taken)
    if is_unnamed(name):
        raise UserError(f"{path}: the first column has no name; set {setting} to the column that is meant")
    return name


def is_unnamed(name: str) -> bool:
    """Whether a column has the name that pandas gives where a CSV file has none."""
    return name.startswith("Unnamed: ")


def read_ids(values: pd.Series, path: str) -> np.ndarray:
    """Node ids ``(m,)``: int64 if all are whole numbers, else strings (an object array). None may be missing."""
    missing = values.isna().to_numpy()
    if missing.any():
        raise UserError(f"{path}, column {values.name!r}, row {int(np.argmax(missing)) + 1}: the id is missing")
    if pd.api.types.is_integer_dtype(values) and values.max() <= np.iinfo(np.int64).max:
        return values.to_numpy(np.int64)
    if pd.api.types.is_float_dtype(values) and (values == np.floor(values)).all() and values.abs().max() < 2**53:
        return values.to_numpy(np.int64)
    return as_text(values.to_numpy(object))


def as_text(ids: np.ndarray) -> np.ndarray:
    """Ids of any type as strings, so that all kinds can be compared."""
    return np.array([str(value) for value in ids], dtype=object)


def words(values: pd.Series) -> np.ndarray:
    """What each cell says as a string, whole numbers without a decimal point; ``None`` where it is empty or NaN."""
    if pd.api.types.is_float_dtype(values):
        return np.array([None if pd.isna(v) else str(int(v)) if v == np.floor(v) else str(v) for v in values], object)
    return np.array([None if pd.isna(v) or v in ("", "nan", "NaN") else str(v) for v in values], dtype=object)


def _read_parquet(path: str) -> pd.DataFrame:
    frame = pd.read_parquet(path)
    if any(name is not None for name in frame.index.names):
        frame = frame.reset_index()
    frame.columns = [str(name) for name in frame.columns]
    return frame


def _read_csv(path: str, text: Iterable[str | int]) -> pd.DataFrame:
    header = list(pd.read_csv(path, nrows=0, index_col=False, encoding="utf-8-sig").columns)
    if all(re.fullmatch(r"-?[0-9.]+", name) for name in header):
        raise UserError(f"{path} starts with numbers; its first line must hold the names of the columns")
    as_text = {
        header[key] if isinstance(key, int) else key for key in text if isinstance(key, str) or key < len(header)
    }
    missing = {name: [""] if name in as_text else ["", "NaN", "nan", "NA", "null"] for name in header}
    with warnings.catch_warnings():
        warnings.simplefilter("error", pd.errors.ParserWarning)  # rows that are longer than the header
        frame = pd.read_csv(
            path,
            index_col=False,
            encoding="utf-8-sig",
            dtype={name: str for name in header if name in as_text},
            keep_default_na=False,
            na_values=missing,
            low_memory=False,
        )
    for name in as_text & set(header):
        values = frame[name].dropna()
        if all(WHOLE_NUMBER.fullmatch(value) for value in values) and len(values) == len(frame):
            frame[name] = frame[name].astype(np.int64)
    return frame
