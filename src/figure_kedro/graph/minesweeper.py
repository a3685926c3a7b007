"""The minesweeper graph, drawn from a seed at any size."""

import numpy as np

from figure_kedro.errors import UserError
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.graph.graph import Graph
from figure_kedro.graph.splits import random_splits
from figure_kedro.memory import check_memory

LARGEST_COUNT = 5  # the last column of the published features means "five or more"
CLASSES = ("safe", "mine")


def generate_minesweeper(
    rows: int, columns: int, mines: float, hidden: float, splits: int, seed: int, name: str
) -> Graph:
    r"""Draw a minesweeper board by the recipe of "A critical look at the evaluation of GNNs under heterophily: Are we
    really making progress?" (Platonov et al., 2023).

    The nodes are the cells of a grid, row by row; a cell is joined to its (at most eight) neighbours. Exactly
    ``round(mines * n)`` cells hold a mine, and that is the label. With :math:`c_u` the number of mines among the
    neighbours of :math:`u`, the seven features of a cell are

    .. math:: x_u = e_0 \text{ if } u \text{ is hidden, else } e_{1 + \min(c_u, 5)}

    as in the published arrays: the first column flags the ``round(hidden * n)`` cells whose count is not shown, the
    next five stand for 0 to 4 mines, and the last one for 5 or more, so the 6 to 8 mines that a crowded board can
    have share it. There are seven columns at every size and mine density.

    The splits are random, 50 % training, 25 % validation and 25 % test of each class, as in the published ones.

    Args:
        rows: Height of the grid, at least 2; the published board has 100.
        columns: Width of the grid, at least 2; 100 as well.
        mines: Share of the cells that hold a mine, between 0 and 1; 0.2 as published.
        hidden: Share of the cells with hidden features, from 0 to 1; 0.5 as published.
        splits: How many splits to draw; 10 as published.
        seed: Of the random generator; the same seed gives the same graph.
        name: Of the graph.
    """
    if rows < 2 or columns < 2:
        raise UserError(f"{name}: a board of {rows} x {columns} cells is too small; rows and columns must be 2 or more")
    n = rows * columns
    num_mines = round(mines * n)
    if not 0 < num_mines < n:
        raise UserError(f"{name}: mines = {mines} puts {num_mines} mines on {n} cells; both classes need cells")
    if not 0 <= hidden <= 1:
        raise UserError(f"{name}: hidden = {hidden} is not a share; choose one from 0 to 1")

    need = n * (60 + splits + 4 * 32)  # labels, features and splits, and each of four edges a cell four times over
    check_memory(need, f"{name}: a board of {n} cells", "ask for fewer rows or columns")

    board_rng, hidden_rng, split_rng = np.random.default_rng(seed).spawn(3)
    labels = np.zeros(n, dtype=np.int64)
    labels[board_rng.choice(n, size=num_mines, replace=False)] = 1
    is_hidden = np.zeros(n, dtype=bool)
    is_hidden[hidden_rng.choice(n, size=round(hidden * n), replace=False)] = True

    source, target = _grid_edges(rows, columns)
    counts = np.bincount(source, labels[target], minlength=n) + np.bincount(target, labels[source], minlength=n)
    column = np.where(is_hidden, 0, 1 + np.minimum(counts.astype(np.int64), LARGEST_COUNT))
    settings = {"rows": rows, "columns": columns, "mines": mines, "hidden": hidden, "seed": seed}
    return graph_from_edges(
        source,
        target,
        name=name,
        num_nodes=n,
        features=np.eye(LARGEST_COUNT + 2, dtype=np.float32)[column],
        labels=labels,
        classes=CLASSES,
        splits=random_splits(labels, splits, 0.5, 0.25, int(split_rng.integers(2**32))) if splits else None,
        generated={"generator": "minesweeper", **settings},
    )


def _grid_edges(rows: int, columns: int) -> tuple[np.ndarray, np.ndarray]:
    """Every pair of neighbouring cells once: to the right, below, and on the two diagonals."""
    cells = np.arange(rows * columns).reshape(rows, columns)
    pairs = [
        (cells[:, :-1], cells[:, 1:]),
        (cells[:-1], cells[1:]),
        (cells[:-1, :-1], cells[1:, 1:]),
        (cells[:-1, 1:], cells[1:, :-1]),
    ]
    source, target = (np.concatenate([pair[end].ravel() for pair in pairs]) for end in (0, 1))
    return source, target
