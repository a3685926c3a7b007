"""The folder in which a run leaves its numbers and pictures, for whoever reads many of them."""

import io
from datetime import UTC, datetime
from functools import cache
from pathlib import Path
from typing import Any

import pandas as pd

from figure_kedro.datasets.files.data_folder import fetch
from figure_kedro.datasets.files.sealed_file import is_whole, read_sealed
from figure_kedro.datasets.typed_json import read_json
from figure_kedro.reporting.record import RunRecord


class RunFolder:
    """Reads what the catalog has written, by the names of files: building a catalog takes longer than reading.

    Args:
        path: ``08_reporting/<data set>/<key>`` of a data folder.
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self.load = cache(self._load)

    def has(self, *names: str) -> bool:
        """Whether all of these files are there; a damaged one counts as missing, and is made anew."""
        fetch(self.path, only=lambda file: file.rpartition("/")[2] in names)
        return all(is_whole(self.path / name) for name in names)

    def _load(self, name: str) -> Any:
        """A record, a dictionary, a table or the bytes of a picture, by the ending of its name."""
        path = self.path / name
        if name.endswith(".json"):
            return read_json(path, RunRecord.read if name == "summary.json" else dict)
        content = read_sealed(path)
        return pd.read_csv(io.BytesIO(content)) if name.endswith(".csv") else content

    def date(self, name: str) -> str:
        """When a file was written."""
        return datetime.fromtimestamp((self.path / name).stat().st_mtime, UTC).strftime("%Y-%m-%d")
