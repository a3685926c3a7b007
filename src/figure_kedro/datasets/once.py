"""A dataset that is read once in a run, however many nodes ask for it."""

import time
from abc import abstractmethod
from pathlib import Path
from typing import Any, Generic, TypeVar

from kedro.io import AbstractDataset

from figure_kedro.datasets.files.data_folder import fetch_missing
from figure_kedro.datasets.files.sealed_file import is_whole

T = TypeVar("T")

SWAP_SECONDS = 0.5
"""For much less than that a folder is away while another run puts a new one in its place."""


class OnceDataset(AbstractDataset[T, T], Generic[T]):
    """Reads its file when it is first loaded, and hands out the same object until the run releases it.

    Args:
        filepath: Of the file or folder.
        metadata: For Kedro-Viz.
    """

    keeps_saved = False
    """Whether a saved object is handed out itself; otherwise it is read back, for instance mapped from disk."""

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._filepath = Path(filepath)
        self.metadata = metadata
        self._loaded: T | None = None

    @abstractmethod
    def read(self) -> T:
        """Read the file."""

    @abstractmethod
    def write(self, data: T) -> None:
        """Write the file, whole or not at all."""

    def load(self) -> T:
        if self._loaded is None:
            fetch_missing(self._filepath)
            try:
                self._loaded = self.read()
            except FileNotFoundError:
                time.sleep(SWAP_SECONDS)
                self._loaded = self.read()
        return self._loaded

    def save(self, data: T) -> None:
        self.write(data)
        self._loaded = data if self.keeps_saved else None

    def _release(self) -> None:
        self._loaded = None

    def _exists(self) -> bool:
        return is_whole(self._filepath)

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._filepath)}
