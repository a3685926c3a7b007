"""Objects for other processes, whose arrays go by the path of a file and are mapped there, not copied."""

import io
import pickle
from itertools import count
from pathlib import Path
from typing import Any

import numpy as np

from figure_kedro.datasets.files.writing import writing

SMALL_BYTES = 64 * 1024
"""Arrays up to so many bytes are part of the message."""


def pack(value: Any, folder: Path) -> bytes:
    """An object as a short message.

    An array that is mapped from a file goes by that file, any other is written to the folder. What is unpacked may be
    changed by whoever unpacked it: nobody else sees that.

    Args:
        value: Made of plain values, classes of importable modules, and arrays.
        folder: Where arrays are written; it has to be there as long as the message is used.

    Raises:
        UserError: If the disk has no room.
    """
    stream = io.BytesIO()
    _Packer(stream, folder).dump(value)
    return stream.getvalue()


def unpack(message: bytes) -> Any:
    """The object of a message that :func:`pack` made in a process of this run; never one from a file."""
    return pickle.loads(message)


class _Packer(pickle.Pickler):
    def __init__(self, stream: io.BytesIO, folder: Path) -> None:
        super().__init__(stream, protocol=pickle.HIGHEST_PROTOCOL)
        self._folder, self._numbers = folder, count()

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.nbytes <= SMALL_BYTES or value.dtype.hasobject:
            return NotImplemented
        place = _place_in_file(value)
        if place is None:
            path = self._folder / f"array_{next(self._numbers)}.npy"
            with writing(path, value.nbytes):
                np.save(path, np.ascontiguousarray(value))
            written = np.load(path, mmap_mode="r")
            place = str(path.absolute()), written.offset
        return _mapped, (*place, value.dtype, value.shape)


def _place_in_file(array: np.ndarray) -> tuple[str, int] | None:
    """The file that an array is mapped from, and where it begins there; nothing if there is no such file."""
    root: Any = array
    while isinstance(getattr(root, "base", None), np.ndarray):
        root = root.base
    if not isinstance(root, np.memmap) or not root.filename or not array.flags.c_contiguous:
        return None  # a file without a name cannot be opened by others
    if root.mode in ("r+", "w+"):
        root.flush()  # for other machines
    return str(Path(root.filename).absolute()), root.offset + array.ctypes.data - root.ctypes.data


def _mapped(path: str, offset: int, dtype: np.dtype, shape: tuple[int, ...]) -> np.ndarray:
    return np.memmap(path, dtype=dtype, mode="c", offset=offset, shape=shape)
