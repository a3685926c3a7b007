"""Filters on blocks of columns, which are independent of each other: so a graph may be larger than memory, and several
processes or machines may share the work."""

from collections.abc import Callable, Iterator, Mapping
from itertools import pairwise
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.errors import UserError
from figure_kedro.execution import Task, executor
from figure_kedro.execution.shared_folder import Output, Place, seen_anew
from figure_kedro.filters import FilterBank, Propagate
from figure_kedro.graph.graph import Features
from figure_kedro.memory import memory

UNEVEN = 1.1
"""Blocks are made narrower until workers that have equal numbers of them wait no longer than this, as a factor."""

Activation = Callable[[torch.Tensor], torch.Tensor]
"""Of every entry by itself; other processes can import it."""

Empty = Callable[[str, tuple[int, ...]], np.ndarray]
"""Makes an array of a shape for an ending of a name."""


def column_blocks(rows: int, columns: int, most: int | None = None, times: int = 1) -> list[slice]:
    """Consecutive columns in as few blocks as memory and workers allow, all of about the same width.

    Args:
        rows: Of the array ``(rows, columns)``, float32.
        columns: Of all blocks together.
        most: Columns of a block, however much memory there is.
        times: How many such arrays there are to divide among the workers.
    """
    workers = executor().workers
    allowed = min(memory().entries(4 * max(1, rows) * workers), most or columns)
    blocks = -(-columns // max(1, allowed))
    while blocks < columns and -(-blocks * times // workers) * workers > UNEVEN * blocks * times:
        blocks += 1
    bounds = [columns * number // blocks for number in range(blocks + 1)]
    return [slice(*pair) for pair in pairwise(bounds)]


def side_by_side(rows: int, blocks: list[slice], empty: Empty) -> tuple[list[np.ndarray], list[Output]]:
    """Room for an array ``(rows, columns)`` that is filled block by block of its columns.

    Returns:
        Arrays that make it up side by side: one if this process fills it, else one for each block, in a file of its
        own; and what is filled with each block.
    """
    shared = executor().shared
    if shared is None:
        whole = empty("", (rows, blocks[-1].stop))
        return [whole], [Output(whole[:, columns]) for columns in blocks]
    parts = []
    for columns in blocks:
        part = empty(f"_{columns.start}", (rows, columns.stop - columns.start))
        parts.append(part if Place.of(part) else shared.empty(part.shape))
    return parts, [Output(part) for part in parts]


@torch.no_grad()
def filter_block(
    bank: FilterBank,
    propagate: Propagate,
    start: Features,
    columns: slice,
    order: np.ndarray | None,
    outputs: Mapping[int, Output],
    activation: Activation,
) -> UserError | None:
    r"""A task: write :math:`g(F_i P [B, 1])` for some columns and some filters of a bank.

    Args:
        bank: The filters :math:`F_i`.
        propagate: Multiplies by the normalised adjacency.
        start: :math:`B` ``(n, d)``, dense or CSC.
        columns: Of :math:`[B, 1]`.
        order: The rows of :math:`P B`; as they are by default.
        outputs: Where results go, by the number of the filter.
        activation: :math:`g`.

    Returns:
        What went wrong, if a user can do something about it.
    """
    try:
        for index, block in enumerate(bank.apply(propagate, _with_ones(start, columns, order))):
            if index in outputs:
                outputs[index].fill(activation(block).numpy())
    except UserError as error:
        return error
    return None


def as_it_is(block: torch.Tensor) -> torch.Tensor:
    """No activation."""
    return block


def filtered_views(
    bank: FilterBank, propagate: Propagate, start: np.ndarray, activation: Activation = as_it_is
) -> Iterator[np.ndarray]:
    r"""Yield :math:`g(F_i B)` for every filter of a bank, one at a time.

    Where ``B`` is small against the memory that the run may take, and this process works alone, all of it goes through
    the filters at once. Otherwise its columns do in blocks, and the results lie in files. Both give the same bits.

    Args:
        bank: The filters :math:`F_i`.
        propagate: Multiplies by the normalised adjacency.
        start: :math:`B` ``(n, d)``, float32; not changed, but an identity filter may hand it out itself.
        activation: :math:`g`, entry by entry.
    """
    shared, blocks = executor().shared, column_blocks(*start.shape)
    if len(blocks) == 1 and shared is None:
        for block in bank.apply(propagate, torch.from_numpy(start)):
            yield activation(block).numpy()
        return

    def empty(_: str, shape: tuple[int, ...]) -> np.ndarray:
        return memory().empty(shape) if shared is None else shared.empty(shape)

    rooms = [side_by_side(len(start), blocks, empty) for _ in bank.names]
    tasks = [
        Task(
            filter_block,
            (bank, propagate, start, columns, None, {i: room[1][number] for i, room in enumerate(rooms)}, activation),
        )
        for number, columns in enumerate(blocks)
    ]
    executor().results(tasks, "the filters")
    del tasks
    while rooms:
        yield _joined(rooms.pop(0)[0])


def _joined(parts: list[np.ndarray]) -> np.ndarray:
    if len(parts) == 1:
        return seen_anew(parts[0])
    whole, filled = memory().empty((len(parts[0]), sum(part.shape[1] for part in parts))), 0
    while parts:
        part = seen_anew(parts.pop(0))
        whole[:, filled : filled + part.shape[1]] = part
        filled += part.shape[1]
    return whole


def _with_ones(start: Features, columns: slice, order: np.ndarray | None) -> torch.Tensor:
    """These columns of :math:`P [B, 1]`: the last one of all is 1, for the bias."""
    n, f = start.shape
    block = np.ones((n, columns.stop - columns.start), dtype=np.float32)
    part: Any = start[:, columns.start : min(columns.stop, f)]
    block[:, : part.shape[1]] = part.toarray() if sp.issparse(part) else part
    return torch.from_numpy(block if order is None else block[order])
