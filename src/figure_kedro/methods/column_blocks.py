"""Filters on blocks of columns, which are independent of each other, so that a graph may be larger than memory."""

from collections.abc import Callable, Iterator
from itertools import pairwise

import numpy as np
import torch

from figure_kedro.filters import FilterBank, Propagate
from figure_kedro.memory import memory


def column_blocks(rows: int, columns: int, most: int | None = None) -> list[slice]:
    """Consecutive columns in as few blocks as memory allows, all of about the same width.

    Args:
        rows: Of the array ``(rows, columns)``, float32.
        columns: Of all blocks together.
        most: Columns of a block, however much memory there is.
    """
    allowed = min(memory().entries(4 * max(1, rows)), most or columns)
    blocks = -(-columns // max(1, allowed))
    bounds = [columns * number // blocks for number in range(blocks + 1)]
    return [slice(*pair) for pair in pairwise(bounds)]


def filtered_views(
    bank: FilterBank,
    propagate: Propagate,
    start: np.ndarray,
    activation: Callable[[torch.Tensor], torch.Tensor] = lambda block: block,
) -> Iterator[np.ndarray]:
    r"""Yield :math:`g(F_i B)` for every filter of a bank, one at a time.

    Where ``B`` is small against the memory that the run may take, all of it goes through the filters at once. Otherwise
    its columns do in blocks, and the results lie in files mapped from disk. Both give the same bits.

    Args:
        bank: The filters :math:`F_i`.
        propagate: Multiplies by the normalised adjacency.
        start: :math:`B` ``(n, d)``, float32; not changed, but an identity filter may hand it out itself.
        activation: :math:`g`, entry by entry.
    """
    blocks = column_blocks(*start.shape)
    if len(blocks) == 1:
        for block in bank.apply(propagate, torch.from_numpy(start)):
            yield activation(block).numpy()
        return
    views = [memory().empty(start.shape) for _ in bank.names]
    for columns in blocks:
        for view, block in zip(views, bank.apply(propagate, _taken(start, columns)), strict=True):
            view[:, columns] = activation(block).numpy()
    while views:
        yield views.pop(0)


def _taken(array: np.ndarray, columns: slice) -> torch.Tensor:
    return torch.from_numpy(np.ascontiguousarray(array[:, columns]))
