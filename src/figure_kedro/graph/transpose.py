"""The transpose of a sparse matrix, and both directions of its edges, in files where they are too large for memory."""

import numpy as np
import scipy.sparse as sp

from figure_kedro.graph.csr import column_counts
from figure_kedro.graph.row_blocks import csr_blocks, csr_rows, row_blocks, stacked
from figure_kedro.memory import memory


def transposed(matrix: sp.csr_array) -> sp.csr_array:
    """The transpose as CSR ``(c, n)``, the same bits however much memory there is.

    A block of rows is sorted by columns, and what it has of each goes behind what the blocks before had of it.

    Args:
        matrix: CSR ``(n, c)``.
    """
    if memory().holds((matrix.data.itemsize + matrix.indices.itemsize) * matrix.nnz):
        return sp.csr_array(matrix.T)
    index = matrix.indices.dtype
    indptr = np.concatenate([np.zeros(1, np.int64), np.cumsum(column_counts(matrix))])
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
    turned = transposed(matrix)
    blocks = row_blocks(matrix.indptr.astype(np.int64) + turned.indptr)
    larger = (sp.csr_array(csr_rows(matrix, rows).maximum(csr_rows(turned, rows))) for rows in blocks)
    return stacked(larger, matrix.shape, 2 * matrix.nnz, matrix.dtype)
