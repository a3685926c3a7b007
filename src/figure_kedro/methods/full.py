"""FiGURe's training step on the whole graph."""

from collections.abc import Iterator

import torch

from figure_kedro.filters import FilterBank, SparseOperator, Workspace
from figure_kedro.methods.contrast import contrast
from figure_kedro.methods.encoder import Encoder, FigureModel
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.filter_order import FilteredPairs, is_pair_filter_first, transformed_pair


class FullObjective:
    """The average loss over all filters that are trained, on all nodes.

    The encoder is linear up to its PReLU, so the filters may be applied after the weights or before them. After: all
    filters share one product ``X Theta`` and the corrupted half is the same rows in another order; best for many or
    sparse features. Before: see :class:`~figure_kedro.methods.filter_order.FilteredPairs`; best for few features. The
    results are the same; the cheaper order is taken.

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
        dim = module.encoders[0].theta.shape[1]
        if filter_first is None:
            filter_first = is_pair_filter_first(features.shape, dim, operator.nnz)
        self.filter_first = filter_first and module.linear and not features.sparse
        self._workspace = operator.workspace = Workspace()
        if self.filter_first:
            self._pairs = FilteredPairs(
                features, lambda block: bank.apply(operator, block), module.trained, dim, reuse=True
            )

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        first = self.module.encoders[0]
        order = torch.randperm(self._features.shape[0], generator=generator).to(first.theta.device)
        self._workspace.rewind()
        if self.filter_first:
            weights = first.linear_map()
            blocks = self._pairs.blocks(order, lambda index: weights)
        else:

            def both(encoder: Encoder) -> torch.Tensor:
                return transformed_pair(encoder.transform(self._features), order)

            blocks = self.module.filtered(both, self._operator, self._bank)
        yield average_contrast(self.module, blocks, self._workspace)


def average_contrast(
    module: FigureModel, blocks: Iterator[tuple[int, torch.Tensor]], workspace: Workspace | None = None
) -> torch.Tensor:
    """The paper's total loss, the mean over the filters that are trained.

    Args:
        module: The model.
        blocks: Number and pre-activations ``(n, 2 d)`` of every filter.
        workspace: Where gradients are written; fresh arrays by default.
    """
    weight = 1.0 / len(module.trained)
    losses = [
        contrast(block, module.encoder(index).slope, module.discriminator(index), weight, workspace)
        for index, block in blocks
        if index in module.trained
    ]
    return torch.stack(losses).sum()
