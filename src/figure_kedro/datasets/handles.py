"""Catalog entries that hand a node something to write to while it works, instead of a finished result."""

import math
import os
from pathlib import Path
from typing import Any

import numpy as np
from kedro.io import AbstractDataset, DatasetError

from figure_kedro.datasets.files.data_folder import saved
from figure_kedro.datasets.files.scratch import reserve
from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.datasets.files.trial_journal import TrialStorage
from figure_kedro.datasets.files.unfinished import Unfinished
from figure_kedro.datasets.files.writing import writing
from figure_kedro.errors import UserError


class BlockStore:
    """Arrays in files mapped from disk, for blocks that do not fit into memory.

    Args:
        place: The files are in a folder beside it, which no other store uses and which is there while it is needed.
    """

    def __init__(self, place: Path) -> None:
        self._place = place
        self._folder: Unfinished | None = None
        self._arrays: dict[str, np.ndarray] = {}

    def allocate(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        """A float32 array to fill, the same one each time for the same name."""
        if name not in self._arrays:
            try:
                self._arrays[name] = self._make(name, shape)
            except UserError:
                self.clear()
                raise
        return self._arrays[name]

    def _make(self, name: str, shape: tuple[int, ...]) -> np.ndarray:
        with writing(self._place, 4 * math.prod(shape)):
            self._folder = self._folder or Unfinished(self._place, folder=True)
            path = self._folder.path / f"{name}.npy"
            array = np.lib.format.open_memmap(path, mode="w+", dtype=np.float32, shape=shape)
            with path.open("r+b") as file:
                reserve(file.fileno(), path.stat().st_size)
            return array

    def clear(self) -> None:
        """Remove the files."""
        self._arrays.clear()
        if self._folder is not None:
            self._folder.discard()
            self._folder = None


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
    """Hands out a :class:`BlockStore` beside a path.

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

        evaluation_journal:
          type: figure_kedro.datasets.handles.JournalDataset
          filepath: data/07_model_output/cora/evaluation_trials.journal
    """

    def load(self) -> TrialStorage:
        return TrialStorage(self._path)


class TuningFiles:
    """What a search over trainings writes to while it works.

    Args:
        journal: Of the trials that have ended.
        winner: The checkpoint of the best training so far, from which it need not be repeated.
    """

    def __init__(self, journal: Path, winner: Path) -> None:
        self.storage = TrialStorage(journal)
        self._winner, self._running = winner, journal.with_name("trial.safetensors")
        self.running = CheckpointFile(self._running)  # of the trial that is being trained, which is resumed from there

    def ended(self, loss: float) -> None:
        """Keep the checkpoint of the trial that was trained last if its loss is the lowest so far; else remove it."""
        try:
            winner = CheckpointFile(self._winner).load()
        except UserError:  # a file that cannot be read is no winner
            winner = None
        lowest = math.inf if winner is None else winner[1]["record"]["best_loss"]
        if loss < lowest and self._running.exists():
            os.replace(self._running, self._winner)
            saved(self._winner)
        else:
            self._running.unlink(missing_ok=True)


class TuningDataset(_Handle):
    """Hands out :class:`TuningFiles`.

    Example::

        tuning:
          type: figure_kedro.datasets.handles.TuningDataset
          filepath: data/06_models/cora/tuning_trials.journal
          winner: data/06_models/cora/checkpoint.safetensors
    """

    def __init__(self, *, filepath: str, winner: str, metadata: dict[str, Any] | None = None) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._winner = Path(winner)

    def load(self) -> TuningFiles:
        return TuningFiles(self._path, self._winner)
