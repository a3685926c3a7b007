"""Whether a sparse matrix equals its transpose, without the transpose in memory."""

import logging

import numpy as np
import scipy.sparse as sp

from figure_kedro.graph.row_blocks import csr_blocks

logger = logging.getLogger(__name__)


def tell_if_symmetric(adjacency: sp.csr_array, place: str, setting: str) -> None:
    """A hint for whoever has asked for the direction of edges that all come in pairs.

    Args:
        adjacency: Of the directed graph.
        place: Where it is from.
        setting: The setting that asked for it.
    """
    if first_asymmetry(adjacency) is None:
        logger.warning("%s: every edge has its reverse, so the graph is symmetric; leave %s out", place, setting)


def first_asymmetry(matrix: sp.csr_array) -> tuple[int, int] | None:
    """Row and column of an entry that differs from the one across the diagonal, or ``None`` if the matrix is symmetric.

    Rows are taken in blocks. What a block holds in column ``v``, from top to bottom, must be what row ``v`` holds from
    left to right, after what the blocks before have shown of it. So one pass compares all entries, and there is memory
    for one block and a number for each row.

    Args:
        matrix: CSR ``(n, n)``.
    """
    n = matrix.shape[0]
    if not matrix.has_canonical_format:
        matrix = matrix.copy()
        matrix.sum_duplicates()
    seen = matrix.indptr[:-1].astype(np.int64)  # where in each row the next block goes on
    ends = matrix.indptr[1:]
    for rows, block in csr_blocks(matrix):
        columns = block.tocsc()  # entries from top to bottom, column by column
        counts = np.diff(columns.indptr)
        expected = np.repeat(seen - columns.indptr[:-1], counts) + np.arange(columns.nnz)  # positions in the matrix
        across = np.repeat(np.arange(n), counts)
        inside = expected < ends[across]
        same = inside.copy()
        same[inside] = (matrix.indices[expected[inside]] == columns.indices[inside] + rows.start) & (
            matrix.data[expected[inside]] == columns.data[inside]
        )
        if not same.all():
            return _first_difference(matrix, int(across[np.argmin(same)]))
        seen += counts
    short = np.flatnonzero(seen < ends)
    return _first_difference(matrix, int(short[0])) if len(short) else None


def _first_difference(matrix: sp.csr_array, row: int) -> tuple[int, int]:
    """Where a row that is not equal to the column of its number differs from it first."""
    along, down = matrix[[row], :].toarray()[0], matrix[:, [row]].toarray()[:, 0]
    return row, int(np.argmax(along != down))
