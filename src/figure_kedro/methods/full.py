"""FiGURe's training step on the whole graph."""

from collections.abc import Iterator

import torch

from figure_kedro.filters import FilterBank, SparseOperator, Workspace
from figure_kedro.methods.contrast import contrast
from figure_kedro.methods.encoder import Encoder, FigureModel
from figure_kedro.methods.features import FeatureMatrix

DENSE_SPEED = 20.0
"""Multiplications of a dense product in the time of one of a sparse product: about 40 against 2 billion a second."""


class FullObjective:
    """The average loss over all filters that are trained, on all nodes.

    The encoder is linear up to its PReLU, so the filters may be applied after the weights or before them. After: all
    filters share one product ``X Theta`` and the corrupted half is the same rows in another order; best for many or
    sparse features. Before: ``F_i X`` is computed once and for all, only the corrupted features are filtered in a
    step, and nothing is filtered in the backward pass; best for few features. The results are the same; the cheaper
    order is taken.

    Args:
        module: The model to train.
        features: Of all nodes.
        operator: The normalised adjacency.
        bank: The filters.
        filter_first: Force an order; ``None`` chooses the cheaper one.
    """

    def __init__(
        self,
        module: FigureModel,
        features: FeatureMatrix,
        operator: SparseOperator,
        bank: FilterBank,
        filter_first: bool | None = None,
    ) -> None:
        self.module, self._features, self._operator, self._bank = module, features, operator, bank
        self.filter_first = (
            module.linear
            and not features.sparse
            and (
                filter_first
                if filter_first is not None
                else is_filtering_features_cheaper(features.shape, module.encoders[0].theta.shape[1], operator.nnz)
            )
        )
        self._workspace = Workspace()
        operator.workspace = self._workspace
        if self.filter_first:
            ones = features.dense.new_ones(features.shape[0], 1)  # the bias, as the weight of a constant feature
            self._inputs = torch.cat([features.dense, ones], dim=1)
            filtered = bank.apply(operator, self._inputs)
            # true features in the first half, for good; the second half is written anew in every step
            self._both = {i: torch.stack([x, x], dim=1) for i, x in enumerate(filtered) if i in module.trained}
            self._product = features.dense.new_empty(2 * features.shape[0], module.encoders[0].theta.shape[1])

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        device = self.module.encoders[0].theta.device
        order = torch.randperm(self._features.shape[0], generator=generator).to(device)
        self._workspace.rewind()
        blocks = self._filter_features(order) if self.filter_first else self._filter_transformed(order)
        yield average_contrast(self.module, blocks, self._workspace)

    def _filter_transformed(self, order: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
        def both(encoder: Encoder) -> torch.Tensor:
            hidden = encoder.transform(self._features)
            return torch.cat([hidden, hidden.index_select(0, order)], dim=1)  # (n, 2 d)

        return self.module.filtered(both, self._operator, self._bank)

    def _filter_features(self, order: torch.Tensor) -> Iterator[tuple[int, torch.Tensor]]:
        encoder = self.module.encoders[0]
        weights = torch.cat([encoder.theta, encoder.bias[None]])
        corrupted = self._bank.apply(self._operator, self._inputs.index_select(0, order))
        for index, block in enumerate(corrupted):
            if index in self._both:
                both = self._both[index]  # (n, 2, f + 1)
                both[:, 1] = block
                product = _Linear.apply(both.view(-1, len(weights)), weights, self._product)
                yield index, product.view(len(both), -1)  # (n, 2 d)


class _Linear(torch.autograd.Function):
    """Constant rows times weights, written into an array that the next product may overwrite."""

    @staticmethod
    def forward(ctx, rows: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        ctx.rows = rows
        return torch.mm(rows, weights, out=out)

    @staticmethod
    def backward(ctx, gradient: torch.Tensor) -> tuple[None, torch.Tensor, None]:
        return None, ctx.rows.t() @ gradient, None


def average_contrast(
    module: FigureModel, blocks: Iterator[tuple[int, torch.Tensor]], workspace: Workspace | None = None
) -> torch.Tensor:
    """The paper's total loss: the mean over the filters that are trained."""
    weight = 1.0 / len(module.trained)
    return sum(
        contrast(block, module.encoder(index).slope, module.discriminator(index), weight, workspace)
        for index, block in blocks
        if index in module.trained
    )


def is_filtering_features_cheaper(shape: tuple[int, int], dim: int, nnz: int) -> bool:
    """Compare the two orders by their multiplications, a dense one counted as ``1 / DENSE_SPEED``.

    A filter costs one sparse product: of ``2 dim`` columns forward and backward if it comes after the weights, of
    ``features`` columns forward alone if it comes before. Then the weights meet every filter, and not the features.
    """
    n, features = shape
    after = 2 * nnz * 2 * dim
    before = nnz * features + 2 * 2 * n * features * dim / DENSE_SPEED
    return before < after
