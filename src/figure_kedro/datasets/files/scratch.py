"""Arrays in files that have no name: they are gone when nobody uses them any more, also if the process is killed."""

import os
import tempfile
from math import prod
from pathlib import Path

import numpy as np
import numpy.typing as npt

from figure_kedro.datasets.files.writing import writing
from figure_kedro.memory import FREE_SHARE, GIB, Memory, free_memory


def memory_of_run(gib: float | None, folder: Path) -> Memory:
    """What a run may take.

    Args:
        gib: As the settings say; ``None`` is a share of what is free now.
        folder: Where arrays lie that are too large.
    """
    return Memory(int(FREE_SHARE * free_memory() if gib is None else gib * GIB), ScratchFolder(folder))


class ScratchFolder:
    """Makes arrays on the disk of a folder, for :class:`~figure_kedro.memory.Memory`.

    Args:
        folder: Made when the first array is.
    """

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def __call__(self, shape: tuple[int, ...], dtype: npt.DTypeLike) -> np.ndarray:
        """An array of any content.

        Raises:
            UserError: If the disk has no room for it.
        """
        size = prod(shape) * np.dtype(dtype).itemsize
        with writing(self.folder, size):
            self.folder.mkdir(parents=True, exist_ok=True)
            file = tempfile.TemporaryFile(dir=self.folder)  # noqa: SIM115  (closed below)
            reserve(file.fileno(), size)
        with file:
            return np.asarray(np.memmap(file, dtype=dtype, mode="r+", shape=shape))


def reserve(file: int, size: int) -> None:
    """Take room on the disk for an open file, since a write to a mapped file that finds none ends the process.

    Raises:
        OSError: If there is not so much.
    """
    if hasattr(os, "posix_fallocate"):
        os.posix_fallocate(file, 0, size)
    else:
        os.ftruncate(file, size)
