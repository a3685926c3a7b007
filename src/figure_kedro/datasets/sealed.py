"""Kedro's datasets for tables, JSON and text, with files that appear whole and are checked when they are read.

They are what their names say in every other way, previews included.

Example::

    split_scores:
      type: figure_kedro.datasets.sealed.CSVDataset
      filepath: data/08_reporting/cora/split_scores.csv
      save_args: {index: false}
"""

from pathlib import Path
from typing import Any

from kedro.io import DatasetError
from kedro_datasets import json, pandas, text

from figure_kedro.datasets.files.data_folder import fetch_missing
from figure_kedro.datasets.files.sealed_file import check_sealed, is_whole, seal
from figure_kedro.datasets.files.writing import beside
from figure_kedro.errors import DamagedFileError, UserError


class _Sealed:
    _filepath: Any

    def save(self, data: Any) -> None:
        path = self._filepath
        with beside(Path(path)) as new:
            try:
                self._filepath = type(path)(str(new))
                super().save(data)  # type: ignore[misc]  # of the dataset that this is mixed into
            except DatasetError as error:
                raise error.__cause__ if isinstance(error.__cause__, OSError) else error from None
            finally:
                self._filepath = path
            seal(new, Path(path))

    def load(self) -> Any:
        path = Path(self._filepath)
        fetch_missing(path)
        if not path.exists():
            raise UserError(f"there is no {path}; run the pipeline that makes it with the same --params first")
        check_sealed(path)
        try:
            return super().load()  # type: ignore[misc]  # likewise
        except DatasetError as error:
            raise DamagedFileError(path, f"it cannot be read: {error.__cause__ or error}") from error

    def _exists(self) -> bool:
        return is_whole(Path(self._filepath))


class CSVDataset(_Sealed, pandas.CSVDataset):
    """A table as CSV."""


class ParquetDataset(_Sealed, pandas.ParquetDataset):
    """A table as Parquet."""


class JSONDataset(_Sealed, json.JSONDataset):
    """Plain values as JSON."""


class TextDataset(_Sealed, text.TextDataset):
    """Text, for instance a page."""
