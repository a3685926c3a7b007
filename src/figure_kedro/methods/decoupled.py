"""FiGURe's training step on stored propagated rows, for graphs larger than memory."""

from collections.abc import Iterator, Mapping
from functools import partial
from typing import Annotated

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field

from figure_kedro.errors import UserError
from figure_kedro.execution import Task, executor
from figure_kedro.execution.shared_folder import seen_anew
from figure_kedro.filters import FilterBank, SparseOperator
from figure_kedro.graph.graph import Features
from figure_kedro.memory import memory
from figure_kedro.methods.column_blocks import as_it_is, column_blocks, filter_block, side_by_side
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.full import average_contrast
from figure_kedro.methods.method import Allocate
from figure_kedro.parts import Decides, Settings
from figure_kedro.training.team import ALONE, Team, count_rows

RUN = 512
"""Neighbouring rows that are read together, so that a batch from disk is not read row by row."""

Stored = dict[int, list[np.ndarray]]
"""Propagated rows by the number of the filter: arrays whose columns are those of the whole, side by side."""


class DecoupledSettings(Settings):
    """Training on stored propagated rows, for graphs larger than memory."""

    batch_rows: int = Field(65_536, ge=2, description="rows per step")
    corruptions: int = Field(4, ge=0, description="stored corruptions, used in turn; 0 draws a fresh one every epoch")
    columns: Annotated[int, Decides.NOTHING] = Field(32, ge=1, description="most feature columns propagated at a time")


class DecoupledObjective:
    r"""The average loss over all filters on mini-batches of rows of :math:`F_i [X, 1]` and :math:`F_i P [X, 1]`.

    The encoder is linear up to its PReLU, so the filters can be applied to the features once, before training; then a
    step needs rows, and no graph. Rows are propagated by column blocks into arrays that ``allocate`` provides, files
    mapped from disk for a graph larger than memory. The readout is that of the batch. With all rows in one batch and
    fresh corruptions the steps are those of the whole graph.

    Args:
        module: A one-layer model to train, shared by all filters.
        features: Of all nodes.
        matrix: The normalised adjacency.
        bank: The filters.
        settings: Rows per step, number of stored corruptions.
        seed: Draws the stored corruptions.
        allocate: Makes an array ``(n, f + 1)`` for a name; in memory by default.
    """

    def __init__(
        self,
        module: FigureModel,
        features: Features,
        matrix: sp.csr_array,
        bank: FilterBank,
        settings: DecoupledSettings,
        seed: int,
        allocate: Allocate | None = None,
    ) -> None:
        if not module.linear:
            raise UserError("the decoupled strategy needs one shared encoder of one layer; choose full or sampled")
        self.module, self._settings, self._rows, self._team = module, settings, matrix.shape[0], ALONE
        propagation = Propagation(module.trained, features, matrix, bank, settings.columns, allocate)
        generator = torch.Generator().manual_seed(seed)
        orders: dict[str, np.ndarray | None] = {"true": None}
        for number in range(settings.corruptions):
            order = orders[f"corrupted_{number}"] = memory().empty(self._rows, np.int64)
            order[:] = torch.randperm(self._rows, generator=generator).numpy()
        self._true, *self._corrupted = propagation.run(orders)
        self._propagation = None if settings.corruptions else propagation  # training holds no graph

    @property
    def divisible(self) -> bool:
        """Whether several workers can share the rows: each of them holds no graph."""
        return self._propagation is None

    def for_team(self, team: Team) -> "DecoupledObjective":
        """The same for one of several workers, which contrasts the rows of its share of every batch with their own
        summary; the losses of all workers, weighted by their rows, add up to that of the batch."""
        self._team = team
        return self

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        encoder = self.module.encoders[0]
        if self._propagation is None:
            corrupted = self._corrupted[epoch % len(self._corrupted)]
        else:
            order = torch.randperm(self._rows, generator=generator).numpy()
            (corrupted,) = self._propagation.run({"fresh": order})
        for runs in self._batches(generator):
            mine = self._team.share(runs)
            blocks = self._blocks(mine, corrupted, encoder.linear_map())
            yield count_rows(mine) / count_rows(runs) * average_contrast(self.module, blocks)

    def _blocks(
        self, runs: list[slice], corrupted: Stored, weights: torch.Tensor
    ) -> Iterator[tuple[int, torch.Tensor]]:
        for index in self.module.trained:
            true, false = (_rows(part[index], runs).to(weights.device) for part in (self._true, corrupted))
            both = torch.stack([true, false], dim=1).view(-1, len(weights))  # (2 rows, f + 1)
            yield index, (both @ weights).view(len(true), 2 * weights.shape[1])  # (rows, 2 d)

    def _batches(self, generator: torch.Generator) -> Iterator[list[slice]]:
        n, rows = self._rows, self._settings.batch_rows
        if rows >= n:
            yield [slice(0, n)]
            return
        length = min(RUN, rows)
        runs = [slice(start, min(start + length, n)) for start in range(0, n, length)]
        order = torch.randperm(len(runs), generator=generator).tolist()
        per_batch = max(1, rows // length)
        for start in range(0, len(order), per_batch):
            yield [runs[i] for i in order[start : start + per_batch]]


class Propagation:
    r"""Filters :math:`P [X, 1]` for several orders :math:`P` of the rows, by column blocks, wherever tasks are done.

    Args:
        trained: The numbers of the filters whose results are wanted.
        features: :math:`X`, of all nodes.
        matrix: The normalised adjacency.
        bank: The filters.
        most: Columns of a block at most.
        allocate: Makes an array for a name; in memory, or where other processes find it, by default.
    """

    def __init__(
        self,
        trained: tuple[int, ...],
        features: Features,
        matrix: sp.csr_array,
        bank: FilterBank,
        most: int,
        allocate: Allocate | None,
    ) -> None:
        self._trained, self._bank, self._most, self._allocate = trained, bank, most, allocate
        self._features = sp.csc_array(features) if sp.issparse(features) else features
        self.operator = SparseOperator(matrix, differentiable=bank.settings.direction == "both")

    def run(self, orders: Mapping[str, np.ndarray | None]) -> list[Stored]:
        """The results of every order, which are kept under its name."""
        n, f = self._features.shape
        blocks = column_blocks(n, f + 1, self._most, len(orders))
        results, tasks = [], []
        for name, order in orders.items():
            rooms = {i: side_by_side(n, blocks, partial(self._empty, f"{name}_{i}")) for i in self._trained}
            results.append({index: parts for index, (parts, _) in rooms.items()})
            for number, columns in enumerate(blocks):
                outputs = {index: fills[number] for index, (_, fills) in rooms.items()}
                start = (self._bank, self.operator, self._features, columns, order)
                tasks.append(Task(filter_block, (*start, outputs, as_it_is)))
        executor().results(tasks, "propagation")
        return [{index: [seen_anew(part) for part in parts] for index, parts in stored.items()} for stored in results]

    def _empty(self, name: str, ending: str, shape: tuple[int, ...]) -> np.ndarray:
        if self._allocate is not None:
            return self._allocate(name + ending, shape)
        shared = executor().shared
        return np.empty(shape, dtype=np.float32) if shared is None else shared.empty(shape)


def _rows(parts: list[np.ndarray], runs: list[slice]) -> torch.Tensor:
    """Rows of arrays side by side."""
    taken = [np.concatenate([part[run] for run in runs]) for part in parts]
    return torch.from_numpy(taken[0] if len(taken) == 1 else np.concatenate(taken, axis=1))
