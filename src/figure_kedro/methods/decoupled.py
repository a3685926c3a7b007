"""FiGURe's training step on stored propagated rows, for graphs larger than memory."""

from collections.abc import Iterator
from typing import Annotated, Any

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field

from figure_kedro.errors import UserError
from figure_kedro.filters import FilterBank, SparseOperator
from figure_kedro.graph.graph import Features
from figure_kedro.methods.column_blocks import column_blocks
from figure_kedro.methods.encoder import FigureModel
from figure_kedro.methods.full import average_contrast
from figure_kedro.methods.method import Allocate
from figure_kedro.parts import Decides, Settings

RUN = 512
"""Neighbouring rows that are read together, so that a batch from disk is not read row by row."""


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
        self.module, self._bank, self._settings, self._features = module, bank, settings, features
        self._allocate = allocate or (lambda name, shape: np.empty(shape, dtype=np.float32))
        self._operator: SparseOperator | None = SparseOperator(matrix, differentiable=bank.settings.direction == "both")
        self._true = self._propagate(features, None, "true")
        generator = torch.Generator().manual_seed(seed)
        self._corrupted = [
            self._propagate(features, torch.randperm(matrix.shape[0], generator=generator).numpy(), f"corrupted_{k}")
            for k in range(settings.corruptions)
        ]
        if settings.corruptions:
            self._operator = None  # training holds no graph

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        encoder = self.module.encoders[0]
        if self._corrupted:
            corrupted = self._corrupted[epoch % len(self._corrupted)]
        else:
            order = torch.randperm(self._features.shape[0], generator=generator).numpy()
            corrupted = self._propagate(self._features, order, "fresh")
        for runs in self._batches(generator):
            yield average_contrast(self.module, self._blocks(runs, corrupted, encoder.linear_map()))

    def _blocks(
        self, runs: list[slice], corrupted: dict[int, np.ndarray], weights: torch.Tensor
    ) -> Iterator[tuple[int, torch.Tensor]]:
        for index in self.module.trained:
            true, false = (_rows(part[index], runs).to(weights.device) for part in (self._true, corrupted))
            both = torch.stack([true, false], dim=1).view(-1, len(weights))  # (2 rows, f + 1)
            yield index, (both @ weights).view(len(true), -1)  # (rows, 2 d)

    def _batches(self, generator: torch.Generator) -> Iterator[list[slice]]:
        n, rows = self._features.shape[0], self._settings.batch_rows
        if rows >= n:
            yield [slice(0, n)]
            return
        length = min(RUN, rows)
        runs = [slice(start, min(start + length, n)) for start in range(0, n, length)]
        order = torch.randperm(len(runs), generator=generator).tolist()
        per_batch = max(1, rows // length)
        for start in range(0, len(order), per_batch):
            yield [runs[i] for i in order[start : start + per_batch]]

    def _propagate(self, features: Features, order: np.ndarray | None, name: str) -> dict[int, np.ndarray]:
        assert self._operator is not None, "without stored corruptions the graph is kept"
        n, f = features.shape
        stored = {index: self._allocate(f"{name}_{index}", (n, f + 1)) for index in self.module.trained}
        given = sp.csc_array(features) if sp.issparse(features) else features
        for columns in column_blocks(n, f + 1, self._settings.columns):
            block = _with_ones(given, columns, order)
            for index, filtered in enumerate(self._bank.apply(self._operator, block)):
                if index in stored:
                    stored[index][:, columns] = filtered.numpy()
        return stored


def _with_ones(features: Features, columns: slice, order: np.ndarray | None) -> torch.Tensor:
    """These columns of :math:`P [X, 1]`: the last one of all is 1, for the bias."""
    n, f = features.shape
    block = np.ones((n, columns.stop - columns.start), dtype=np.float32)
    part: Any = features[:, columns.start : min(columns.stop, f)]
    block[:, : part.shape[1]] = part.toarray() if sp.issparse(part) else part
    return torch.from_numpy(block if order is None else block[order])


def _rows(array: np.ndarray, runs: list[slice]) -> torch.Tensor:
    return torch.from_numpy(np.concatenate([array[run] for run in runs]))
