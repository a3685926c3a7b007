"""Filters before or after the weights: the one fast step that the methods with a linear encoder share."""

from collections.abc import Callable, Collection, Iterable, Iterator
from typing import Any

import torch

from figure_kedro.methods.features import FeatureMatrix

DENSE_SPEED = 20.0
"""Multiplications of a dense product in the time of one of a sparse product: about 40 against 2 billion a second."""


def is_filter_first(
    features: tuple[int, int], columns: int, nnz: int, *, sparse: bool = False, further: float = 0.0
) -> bool:
    r"""Whether :math:`(F X) \Theta` is cheaper than :math:`F (X \Theta)` in a training step.

    After the weights a filter meets ``columns`` columns, forward and backward. Before them it meets those of the
    features, and forward alone, because they are constant. Sparse features would be dense once they are filtered.

    Args:
        features: Shape of :math:`X`.
        columns: That the filter meets if it comes after the weights.
        nnz: Entries of the filter.
        sparse: Whether the features are.
        further: Dense multiplications that there are only if the filter comes first.
    """
    return not sparse and nnz * features[1] + further / DENSE_SPEED < 2 * nnz * columns


def is_pair_filter_first(features: tuple[int, int], dim: int, nnz: int, *, sparse: bool = False) -> bool:
    """The same for a pair of true and corrupted features, whose weights then meet every filter and not the features."""
    n, f = features
    return is_filter_first(features, 2 * dim, nnz, sparse=sparse, further=2 * 2 * n * f * dim)


def transformed_pair(hidden: torch.Tensor, order: torch.Tensor) -> torch.Tensor:
    """Weights first: ``X Theta`` ``(n, d)`` beside the same rows in another order, ``(n, 2 d)``, ready for a filter."""
    return torch.cat([hidden, hidden.index_select(0, order)], dim=1)


class FilteredPairs:
    r"""Filters first: :math:`F_i [X, 1]` of the true features, computed once and for all, beside those of corrupted
    features, computed anew in every step. Nothing is filtered in the backward pass.

    Args:
        features: :math:`X`, dense ``(n, f)``.
        apply: Filters a block ``(n, f + 1)`` by every filter in turn.
        trained: Numbers of the filters that are wanted.
        dim: Columns of the weights.
        reuse: Whether a product may overwrite the one before it, which spares memory where blocks are used in turn.
    """

    def __init__(
        self,
        features: FeatureMatrix,
        apply: Callable[[torch.Tensor], Iterable[torch.Tensor]],
        trained: Collection[int],
        dim: int,
        *,
        reuse: bool,
    ) -> None:
        self._apply = apply
        ones = features.dense.new_ones(features.shape[0], 1)  # the bias, as the weight of a constant feature
        self._inputs = torch.cat([features.dense, ones], dim=1)
        # true features in the first half, for good; the second half is written anew in every step
        self._both = {i: torch.stack([x, x], dim=1) for i, x in enumerate(apply(self._inputs)) if i in trained}
        self._product = features.dense.new_empty(2 * features.shape[0], dim) if reuse else None

    def blocks(self, order: torch.Tensor, weights: Callable[[int], torch.Tensor]) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield the number of each filter and its pre-activations ``(n, 2 d)``, true and corrupted side by side.

        Args:
            order: The row permutation ``(n,)`` that corrupts the features.
            weights: Of a filter by its number, with the bias as last row ``(f + 1, d)``.
        """
        for index, block in enumerate(self._apply(self._inputs.index_select(0, order))):
            if index in self._both:
                both = self._both[index]  # (n, 2, f + 1)
                both[:, 1] = block
                theta = weights(index)
                rows = both.view(-1, len(theta))
                product = rows @ theta if self._product is None else _Linear.apply(rows, theta, self._product)
                yield index, product.view(len(both), -1)  # (n, 2 d)


class _Linear(torch.autograd.Function):
    """Constant rows times weights, written into an array that the next product may overwrite."""

    @staticmethod
    def forward(ctx: Any, rows: torch.Tensor, weights: torch.Tensor, out: torch.Tensor) -> torch.Tensor:
        ctx.rows = rows
        return torch.mm(rows, weights, out=out)

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[None, torch.Tensor, None]:
        return None, ctx.rows.t() @ gradient, None
