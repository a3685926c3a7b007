"""Catalog entries that hand a node something to write to while it works, instead of a finished result."""

import shutil
from pathlib import Path
from typing import Any

import numpy as np
from kedro.io import AbstractDataset, DatasetError
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from figure_kedro.datasets.files.tensor_file import CheckpointFile


class BlockStore:
    """Arrays in files mapped from disk, for blocks that do not fit into memory."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._arrays: dict[str, np.ndarray] = {}

    def allocate(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """A float32 array to fill, the same one each time for the same name."""
        if name not in self._arrays:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{name}.npy"
            self._arrays[name] = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
        return self._arrays[name]

    def clear(self) -> None:
        """Remove the files."""
        self._arrays.clear()
        shutil.rmtree(self._folder, ignore_errors=True)


class _Handle(AbstractDataset):
    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def save(self, data: None) -> None:
        raise DatasetError("this entry is written by the node that is given it")

    def _exists(self) -> bool:
        return True  # it can always be handed out

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._path)}


class CheckpointDataset(_Handle):
    """Hands out a :class:`~figure_kedro.datasets.files.tensor_file.CheckpointFile`.

    Example::

        checkpoint:
          type: figure_kedro.datasets.handles.CheckpointDataset
          filepath: data/06_models/cora/checkpoint.safetensors
    """

    def load(self) -> CheckpointFile:
        return CheckpointFile(self._path)


class BlockStoreDataset(_Handle):
    """Hands out a :class:`BlockStore` in a folder.

    Example::

        propagated_blocks:
          type: figure_kedro.datasets.handles.BlockStoreDataset
          filepath: data/05_model_input/cora/propagated
    """

    def load(self) -> BlockStore:
        return BlockStore(self._path)


class JournalDataset(_Handle):
    """Hands out an Optuna storage in a journal file, which several studies can share.

    Example::

        tuning_journal:
          type: figure_kedro.datasets.handles.JournalDataset
          filepath: data/06_models/cora/tuning.journal
    """

    def load(self) -> JournalStorage:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        return JournalStorage(JournalFileBackend(str(self._path)))
