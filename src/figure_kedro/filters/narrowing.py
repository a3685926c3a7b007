"""Products with the operator where only the first rows of the last one are wanted."""

from collections.abc import Sequence

import numpy as np
import scipy.sparse as sp
import torch


class Narrowing:
    """Multiplies a block by the operator of a neighbourhood, each time with fewer rows.

    The rows are ordered by their distance from the wanted ones. A node that is ``d`` steps away counts in the first
    ``K - d`` of ``K`` products that are applied one after another, so that the others leave its row out; these rows are
    zero, and nothing that is wanted depends on them.

    Args:
        matrix: Of the neighbourhood ``(n, n)``.
        levels: How many rows are at most 0, 1, ..., ``K`` steps away.
    """

    def __init__(self, matrix: sp.csr_array, levels: Sequence[int]) -> None:
        self._matrix, self._levels = matrix, list(levels[:-1])

    def __call__(self, block: torch.Tensor) -> torch.Tensor:
        """The next product ``(n, d)``."""
        rows, matrix = self._levels.pop(), self._matrix
        end = matrix.indptr[rows]
        first = torch.sparse_csr_tensor(
            torch.from_numpy(matrix.indptr[: rows + 1]),
            torch.from_numpy(matrix.indices[:end]),
            torch.from_numpy(matrix.data[:end]),
            size=(rows, len(block)),
            check_invariants=False,
        )
        result = torch.from_numpy(np.zeros(block.shape, dtype=np.float32))  # of which no page is made before it is used
        result[:rows].addmm_(first, block, beta=0)
        return result
