"""Graphs in npz archives of plain arrays, each checked against what it should be before anything uses it."""

import tokenize
import zipfile
import zlib
from collections.abc import Iterator, Mapping
from pathlib import Path

import numpy as np

from figure_kedro.errors import UserError, nearest
from figure_kedro.graph.csr import checked_csr
from figure_kedro.graph.graph import Features
from figure_kedro.graph.splits import PARTS, splits_from_masks
from figure_kedro.memory import check_memory

OTHER_NAMES = {
    "edges": ("edge_index",),
    "node_features": ("x", "features"),
    "node_labels": ("y", "labels"),
    **{f"{part}_masks": (f"{part}_mask",) for part in PARTS},
}
"""What arrays may be called beside their first name; ``edge_index`` and masks then lie as in PyTorch Geometric."""

WORDS = {"i": "whole numbers", "u": "whole numbers", "b": "true or false", "f": "numbers"}

UNREADABLE = (
    *(OSError, EOFError, ValueError, AttributeError, KeyError, TypeError, SyntaxError, NotImplementedError),
    *(RuntimeError, MemoryError, OverflowError, tokenize.TokenError, zipfile.BadZipFile, zlib.error),
)
"""What numpy raises for archives that are damaged or lie about themselves."""


class Archive(Mapping[str, np.ndarray]):
    """The arrays of an npz file, by their first names.

    Args:
        path: Of the file.

    Raises:
        UserError: If it is no archive of plain arrays: one that lies about its sizes, or holds objects, is none.
    """

    def __init__(self, path: str | Path) -> None:
        self.path = path
        try:
            with zipfile.ZipFile(path) as packed:
                size = sum(entry.file_size for entry in packed.infolist())
            check_memory(2 * size, f"{path}, unpacked,", "use a larger machine, or a smaller archive")
            with np.load(path, allow_pickle=False) as archive:
                self._arrays = {key: value for key, value in archive.items() if isinstance(value, np.ndarray)}
        except UserError:
            raise
        except UNREADABLE as error:
            raise UserError(f"{path} is not an npz archive of plain arrays: {' '.join(str(error).split())}") from error
        for name, others in OTHER_NAMES.items():
            for other in others:
                if name not in self._arrays and other in self._arrays:
                    found = self._arrays.pop(other)
                    self._arrays[name] = found.T if other == "edge_index" or other.endswith("_mask") else found

    def __getitem__(self, name: str) -> np.ndarray:
        if name not in self._arrays:
            raise UserError(f"{self.path} has no array {name!r}; {nearest(name, self._arrays)}")
        return self._arrays[name]

    def __contains__(self, name: object) -> bool:
        return name in self._arrays

    def __iter__(self) -> Iterator[str]:
        return iter(self._arrays)

    def __len__(self) -> int:
        return len(self._arrays)

    def optional(self, name: str) -> np.ndarray | None:
        """An array, or ``None`` if it is not there."""
        return self._arrays.get(name)

    def array(self, key: str, kinds: str, shape: tuple[int | None, ...]) -> np.ndarray:
        """An array of these kinds of numbers (numpy's letters) and this shape; ``None`` stands for any length."""
        found = self[key]
        if found.dtype.kind not in kinds:
            raise UserError(f"{self.path}: {key} holds values of type {found.dtype}; it needs {WORDS[kinds[0]]}")
        fits = len(found.shape) == len(shape)
        if not fits or any(want not in (None, size) for want, size in zip(shape, found.shape, strict=True)):
            wanted = " x ".join("any" if size is None else str(size) for size in shape)
            raise UserError(f"{self.path}: {key} has shape {found.shape}; it needs {wanted or 'a single value'}")
        if found.dtype.kind == "f" and not np.isfinite(found.sum(dtype=np.float64)) and not np.isfinite(found).all():
            raise UserError(f"{self.path}: {key} holds values that are no finite numbers")
        return found

    def flag(self, key: str) -> bool:
        """A single truth."""
        return bool(self.array(key, "biu", ()))

    def endpoints(self) -> tuple[np.ndarray, np.ndarray]:
        """Both ends of every edge, each ``(m,)``: row numbers, or ids of any type."""
        edges = self["edges"]
        if edges.ndim != 2 or edges.shape[1] != 2:
            raise UserError(
                f"{self.path}: there must be edges (m, 2) or edge_index (2, m), not an array of shape {edges.shape}"
            )
        return edges[:, 0], edges[:, 1]

    def features(self, nodes: int | None = None) -> Features | None:
        """A dense array ``(n, d)``, or a CSR matrix of the parts ``_data``, ``_indices``, ``_indptr``, ``_shape``."""
        key = "node_features"
        if f"{key}_data" not in self:
            return self.array(key, "fiub", (nodes, None)) if key in self else None
        rows, columns = (int(size) for size in self.array(f"{key}_shape", "iu", (2,)))
        if rows != (rows if nodes is None else nodes) or columns < 1:
            raise UserError(f"{self.path}: {key} has shape {(rows, columns)}; it needs {nodes} rows and some columns")
        data = self.array(f"{key}_data", "fiub", (None,))
        indices, indptr = (self.array(f"{key}_{part}", "iu", (None,)) for part in ("indices", "indptr"))
        return checked_csr(data, indices, indptr, (rows, columns), f"{self.path}: {key}")

    def splits(self, name: str, nodes: int, prefix: str = "") -> np.ndarray:
        """Split codes from the masks of the three parts, each ``(s, n)``, or ``(n,)`` for a single split."""
        train, val, test = (self._masks(f"{prefix}{part}_masks", nodes) for part in PARTS)
        if not len(train) == len(val) == len(test):
            raise UserError(f"{self.path}: there are {len(train)}, {len(val)} and {len(test)} rows of masks")
        return splits_from_masks(train, val, test, name)

    def _masks(self, key: str, nodes: int) -> np.ndarray:
        single = self[key].ndim == 1
        return np.atleast_2d(self.array(key, "b", (nodes,) if single else (None, nodes)))
