"""Checksums of arrays, the same on every machine."""

import hashlib
from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from figure_kedro.graph.row_blocks import even_blocks


@dataclass(frozen=True)
class Widened:
    """Integers that count as 64-bit ones, however they are held; no copy of that type is made of all of them."""

    array: np.ndarray


def digest_arrays(arrays: Iterable[np.ndarray | Widened | None], *plain: object) -> str:
    """SHA-256 of arrays with their types and shapes, and of plain values by their representation."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
            continue
        if isinstance(array, Widened):
            digest.update(f"{np.dtype(np.int64).str}{array.array.shape}".encode())
            for part in even_blocks(len(array.array)):
                digest.update(array.array[part].astype(np.int64).view(np.uint8).data)
            continue
        array = np.ascontiguousarray(array.astype(np.str_) if array.dtype == object else array)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    digest.update(repr(plain).encode())
    return digest.hexdigest()
