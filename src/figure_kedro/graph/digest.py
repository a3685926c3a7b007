"""Checksums of arrays, the same on every machine."""

import hashlib
from collections.abc import Iterable

import numpy as np


def digest_arrays(arrays: Iterable[np.ndarray | None], *plain: object) -> str:
    """SHA-256 of arrays with their types and shapes, and of plain values by their representation."""
    digest = hashlib.sha256()
    for array in arrays:
        if array is None:
            digest.update(b"none")
            continue
        array = np.ascontiguousarray(array.astype(np.str_) if array.dtype == object else array)
        digest.update(f"{array.dtype.str}{array.shape}".encode())
        digest.update(array.reshape(-1).view(np.uint8).data if array.size else b"")
    digest.update(repr(plain).encode())
    return digest.hexdigest()
