"""Sparse matrices from files, which compiled code must not be given unchecked."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph.row_blocks import csr_blocks, even_blocks


def checked_csr(data: Any, indices: Any, indptr: Any, shape: tuple[int, int], what: str) -> sp.csr_array:
    """A CSR matrix of its three arrays, which are not copied, after one pass over the positions.

    Neither scipy nor torch looks at every position, and a wrong one makes them read memory that is not theirs.

    Args:
        data: Values ``(m,)``.
        indices: The column of each value ``(m,)``.
        indptr: Where each row begins, and where the last one ends ``(rows + 1,)``.
        shape: Rows and columns.
        what: Names the matrix in a message.

    Raises:
        UserError: If they make no such matrix.
    """
    rows, columns = shape
    if any(array.ndim != 1 for array in (data, indices, indptr)) or any(
        a.dtype.kind not in "iu" for a in (indices, indptr)
    ):
        raise UserError(f"{what} is no sparse matrix: its parts are not rows of whole numbers and of values")
    if data.dtype.kind not in "biuf":
        raise UserError(f"{what} holds values of type {data.dtype}; a matrix needs numbers")
    if len(indptr) != rows + 1 or len(indices) != len(data):
        raise UserError(
            f"{what} is no sparse matrix of {rows} rows: it has {len(indptr)} row bounds (one more than rows is "
            f"needed), {len(indices)} positions and {len(data)} values"
        )
    if int(indptr[0]) != 0 or int(indptr[-1]) != len(data) or (indptr[1:] < indptr[:-1]).any():
        raise UserError(f"{what} is no sparse matrix: its row bounds do not rise from 0 to {len(data)}")
    if len(indices) and (int(indices.min()) < 0 or int(indices.max()) >= columns):
        raise UserError(f"{what} is no sparse matrix: it has positions outside of its {columns} columns")
    return sp.csr_array((data, indices, indptr), shape=shape, copy=False)


def row_sums(matrix: sp.csr_array) -> np.ndarray:
    """The sum of every row ``(n,)``, float64, also where single precision does not hold it."""
    sums = np.empty(matrix.shape[0])
    for rows, block in csr_blocks(matrix):
        with np.errstate(over="ignore"):
            sums[rows] = np.asarray(block.sum(axis=1, dtype=np.float64)).ravel()  # added up as the values are
        if not np.isfinite(sums[rows]).all():
            sums[rows] = np.asarray(block.astype(np.float64).sum(axis=1)).ravel()
    return sums


def column_counts(matrix: sp.csr_array) -> np.ndarray:
    """How many entries every column has ``(c,)``, int64."""
    counts = np.zeros(matrix.shape[1], dtype=np.int64)
    for part in even_blocks(matrix.nnz, entries=max(matrix.shape[1], 1 << 21)):
        counts += np.bincount(matrix.indices[part], minlength=len(counts))
    return counts
