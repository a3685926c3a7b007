"""Arrays that other processes, perhaps on other machines, find by the names of their files."""

import io
import os
import pickle
import uuid
import weakref
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from math import prod
from mmap import mmap
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from figure_kedro.datasets.files.scratch import reserve
from figure_kedro.datasets.files.unfinished import Unfinished, remove_abandoned
from figure_kedro.datasets.files.writing import writing

BY_NAME = 2**16
"""Arrays of so many bytes are handed over by the names of their files, smaller ones as they are."""


@dataclass(frozen=True)
class Place:
    """Where in a file an array lies."""

    path: str
    dtype: str
    shape: tuple[int, ...]
    offset: int

    @classmethod
    def of(cls, array: np.ndarray) -> "Place | None":
        """The place of an array that is mapped from a file with a name and has no gaps; else none."""
        root: Any = array
        while root is not None and not (isinstance(root, np.memmap) and isinstance(root.base, mmap)):
            root = getattr(root, "base", None)
        if root is None or root.filename is None or not array.flags.c_contiguous or not Path(root.filename).exists():
            return None
        offset = root.offset + array.ctypes.data - root.ctypes.data
        return cls(str(root.filename), array.dtype.str, array.shape, offset)

    def array(self) -> np.ndarray:
        """The array, mapped; changes to it stay in this process."""
        return np.memmap(self.path, self.dtype, "c", self.offset, self.shape)

    def fill(self, values: np.ndarray) -> None:
        """Write the array to its file: by plain writes, which other machines see when the file is closed."""
        with writing(Path(self.path), values.nbytes), open(self.path, "r+b") as file:
            file.seek(self.offset)
            np.ascontiguousarray(values, dtype=self.dtype).tofile(file)


class Output:
    """An array for a task to fill, wherever it runs.

    Args:
        array: In this process, or, for other ones, mapped from a file with a name.
    """

    def __init__(self, array: np.ndarray) -> None:
        self._array = array

    def fill(self, values: np.ndarray) -> None:
        self._array[...] = values

    def __reduce__(self) -> tuple[Any, ...]:
        place = _place(self._array)
        return Place, (place.path, place.dtype, place.shape, place.offset)


class SharedFolder:
    """Files below a folder that all processes see; all of them are gone when it is closed, or its maker is.

    Args:
        folder: On a file system that all machines share under the same path.
    """

    def __init__(self, folder: Path) -> None:
        self._place = folder.absolute() / "shared" / "arrays"
        self._folder: Unfinished | None = None
        self._copies: dict[int, tuple[weakref.ref[np.ndarray], np.ndarray]] = {}

    @property
    def path(self) -> Path:
        if self._folder is None:
            remove_abandoned(self._place.parent)  # of processes that were killed
            self._folder = Unfinished(self._place, folder=True)
        return self._folder.path

    def empty(self, shape: tuple[int, ...], dtype: npt.DTypeLike = np.float32) -> np.ndarray:
        """An array to fill in a file with a name, which is removed with the array.

        Raises:
            UserError: If the disk has no room for it.
        """
        path, size = self.path / f"{uuid.uuid4().hex[:12]}.array", prod(shape) * np.dtype(dtype).itemsize
        with writing(self._place, size), open(path, "w+b") as file:
            reserve(file.fileno(), max(1, size))
        array = np.memmap(path, dtype, "r+", shape=shape)
        weakref.finalize(array, _remove, path)
        return array

    def pack(self, value: Any) -> bytes:
        """Pickle something with all its large arrays by the names of their files, for ``pickle.loads`` elsewhere.

        An array that lies in no file is copied to one, which is there as long as the array is.
        """
        packed = io.BytesIO()
        _Packer(packed, self._place_of).dump(value)
        return packed.getvalue()

    def _place_of(self, array: np.ndarray) -> Place:
        key, place = id(array), Place.of(array)
        if place is not None:
            return place
        if key not in self._copies or self._copies[key][0]() is not array:
            copy = self.empty(array.shape, array.dtype)
            self._copies[key] = weakref.ref(array, lambda _: self._copies.pop(key, None)), copy
            _place(copy).fill(array)
        return _place(self._copies[key][1])

    def close(self) -> None:
        self._copies.clear()
        if self._folder is not None:
            self._folder.discard()
            self._folder = None


class _Packer(pickle.Pickler):
    def __init__(self, file: io.BytesIO, place_of: Callable[[np.ndarray], Place]) -> None:
        super().__init__(file, protocol=5)
        self._place_of = place_of

    def reducer_override(self, value: Any) -> Any:
        if not isinstance(value, np.ndarray) or value.nbytes < BY_NAME or value.dtype.hasobject:
            return NotImplemented
        return _array, (self._place_of(value),)


def _place(array: np.ndarray) -> Place:
    place = Place.of(array)
    assert place is not None, "another process can only fill what lies in a file with a name"
    return place


def _array(place: Place) -> np.ndarray:
    return place.array()


def seen_anew(array: np.ndarray) -> np.ndarray:
    """The same array, of which a network file system no longer shows what it had before others wrote to its file."""
    place = Place.of(array)
    if place is not None:
        open(place.path, "rb").close()  # opening compares with the server
    return array


def _remove(path: Path) -> None:
    with suppress(OSError):  # with its folder, or by hand
        os.unlink(path)


def sendable(error: Exception) -> Exception:
    """An error that another process can be told of: itself, or its words where it cannot be pickled."""
    try:
        pickle.loads(pickle.dumps(error))  # our own bytes, just made; an error may be dumped and still not be loaded
    except Exception:  # whatever its own methods raise
        return RuntimeError(f"{type(error).__name__}: {error}")
    return error
