"""The transpose of a sparse matrix, and both directions of its edges, in files where they are too large for memory."""

import numpy as np
import scipy.sparse as sp

from figure_kedro.graph.row_blocks import csr_blocks, csr_rows, even_blocks, row_blocks
from figure_kedro.memory import memory


def transposed(matrix: sp.csr_array) -> sp.csr_array:
    """The transpose as CSR ``(c, n)``, the same bits however much memory there is.

    A block of rows is sorted by columns, and what it has of each goes behind what the blocks before had of it.

    Args:
        matrix: CSR ``(n, c)``.
    """
    if memory().holds((matrix.data.itemsize + matrix.indices.itemsize) * matrix.nnz):
        return sp.csr_array(matrix.T)
    columns = matrix.shape[1]
    counts = np.zeros(columns, dtype=np.int64)
    for part in even_blocks(matrix.nnz, entries=max(columns, 1 << 21)):
        counts += np.bincount(matrix.indices[part], minlength=columns)
    index = matrix.indices.dtype
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(counts)])
    indices, data = memory().empty(matrix.nnz, index), memory().empty(matrix.nnz, matrix.dtype)
    filled = indptr[:-1].copy()  # where in each row of the result the next block goes on
    for rows, block in csr_blocks(matrix):
        turned = block.tocsc()  # from top to bottom, column by column
        new = np.diff(turned.indptr)
        places = np.repeat(filled - turned.indptr[:-1], new) + np.arange(turned.nnz)
        indices[places] = turned.indices + index.type(rows.start)
        data[places] = turned.data
        filled += new
    return sp.csr_array((data, indices, indptr.astype(index)), shape=matrix.shape[::-1], copy=False)


def with_both_directions(matrix: sp.csr_array) -> sp.csr_array:
    """The larger of every entry and the one across the diagonal, CSR ``(n, n)``, the same bits in any memory."""
    if memory().holds((matrix.data.itemsize + matrix.indices.itemsize) * 2 * matrix.nnz):
        return sp.csr_array(matrix.maximum(matrix.T))
    turned, n, index = transposed(matrix), matrix.shape[0], matrix.indices.dtype
    bounds = matrix.indptr.astype(np.int64) + turned.indptr
    indices, data = memory().empty(int(bounds[-1]), index), memory().empty(int(bounds[-1]), matrix.dtype)
    indptr, filled = np.zeros(n + 1, dtype=index), 0
    for rows in row_blocks(bounds):
        block = sp.csr_array(csr_rows(matrix, rows).maximum(csr_rows(turned, rows)))
        new = slice(filled, filled + block.nnz)
        indices[new], data[new] = block.indices, block.data
        indptr[rows.start + 1 : rows.stop + 1] = block.indptr[1:] + index.type(filled)
        filled = new.stop
    return sp.csr_array((data[:filled], indices[:filled], indptr), shape=(n, n), copy=False)
