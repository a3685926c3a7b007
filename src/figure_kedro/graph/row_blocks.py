"""A matrix in blocks of rows, so that what is computed from it needs memory for one block and not for all entries."""

from collections.abc import Iterable, Iterator

import numpy as np
import numpy.typing as npt
import scipy.sparse as sp

from figure_kedro.memory import memory

ENTRIES = 1 << 21
"""Entries of a block: a few arrays of that length stay near the processor, and their pages are used again and again."""


def row_blocks(indptr: np.ndarray, entries: int | None = None) -> Iterator[slice]:
    """Consecutive rows of a CSR matrix that hold at most ``entries`` entries together, or a single row with more.

    >>> list(row_blocks(np.array([0, 2, 2, 5, 6]), 3))
    [slice(0, 2, None), slice(2, 3, None), slice(3, 4, None)]
    """
    n, start = len(indptr) - 1, 0
    while start < n:
        most = min(int(indptr[start]) + (entries or ENTRIES), int(indptr[-1]))
        after = int(np.searchsorted(indptr, indptr.dtype.type(most), side="right")) - 1
        stop = max(start + 1, min(after, n))
        yield slice(start, stop)
        start = stop


def even_blocks(rows: int, width: int = 1, entries: int | None = None) -> Iterator[slice]:
    """Consecutive rows of a dense array with ``width`` columns, at most ``entries`` entries together.

    >>> list(even_blocks(5, width=4, entries=8))
    [slice(0, 2, None), slice(2, 4, None), slice(4, 5, None)]
    """
    step = max(1, (entries or ENTRIES) // max(1, width))
    for start in range(0, rows, step):
        yield slice(start, min(start + step, rows))


def csr_rows(matrix: sp.csr_array, rows: slice) -> sp.csr_array:
    """These rows of a CSR matrix, whose entries are not copied."""
    bounds = matrix.indptr[rows.start : rows.stop + 1]
    entries = slice(int(bounds[0]), int(bounds[-1]))
    parts = (matrix.data[entries], matrix.indices[entries], bounds - bounds[0])
    return sp.csr_array(parts, shape=(rows.stop - rows.start, matrix.shape[1]), copy=False)


def csr_blocks(matrix: sp.csr_array) -> Iterator[tuple[slice, sp.csr_array]]:
    """All rows of a CSR matrix, block by block."""
    for rows in row_blocks(matrix.indptr):
        yield rows, csr_rows(matrix, rows)


def stacked(
    blocks: Iterable[sp.csr_array], shape: tuple[int, int], entries: int, dtype: npt.DTypeLike = np.float32
) -> sp.csr_array:
    """Blocks of rows, one below the other, as one CSR matrix, in files where it is too large for memory.

    Args:
        blocks: Of all rows, in their order.
        shape: Of the matrix.
        entries: As many as there are, or more.
        dtype: Of its values.
    """
    index = np.int32 if max(*shape, entries) <= np.iinfo(np.int32).max else np.int64
    indices, data = memory().empty(entries, index), memory().empty(entries, dtype)
    indptr, row, filled = np.zeros(shape[0] + 1, dtype=index), 0, 0
    for block in blocks:
        new = slice(filled, filled + block.nnz)
        indices[new], data[new] = block.indices, block.data
        indptr[row + 1 : row + 1 + block.shape[0]] = block.indptr[1:] + index(filled)
        row, filled = row + block.shape[0], new.stop
    return sp.csr_array((data[:filled], indices[:filled], indptr), shape=shape, copy=False)


def fitting_blocks(rows: int, width: int) -> list[slice]:
    """All rows of a dense float32 array at once where the run has memory for another such array, else in blocks."""
    return [slice(0, rows)] if memory().holds(4 * rows * width) else list(even_blocks(rows, width))


def take_rows(array: np.ndarray, rows: np.ndarray) -> np.ndarray:
    """Some rows of an array ``(n, d)``, in a file of their own where they are too large for memory."""
    taken = memory().empty((len(rows), array.shape[1]), array.dtype)
    for part in fitting_blocks(*taken.shape):
        taken[part] = array[rows[part]]
    return taken
