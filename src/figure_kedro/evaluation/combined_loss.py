"""The loss of a linear classifier on combined views, with its gradient in closed form."""

import copy
from collections.abc import Sequence
from typing import NamedTuple

import torch

from figure_kedro.graph.row_blocks import fitting_blocks
from figure_kedro.memory import memory

WORKING_COPIES = 4
"""Arrays of ``(B, C, n)`` that an evaluation holds at a time."""

FULL_ROWS = 8
"""Fewer rows than this take the BLAS longer: on 9,463 nodes a product of 3 rows took twice the time of one of 8."""


class Evaluation(NamedTuple):
    """The loss of ``B`` problems ``(B,)``, float64, and its gradients."""

    loss: torch.Tensor
    grad_a: torch.Tensor
    """``(B, K)``"""
    grad_weights: torch.Tensor
    """``(B, C, D)``"""
    grad_bias: torch.Tensor
    """``(B, C)``"""
    uncertainty: torch.Tensor
    """Mean of ``p (1 - p)`` over the rows ``(B, C)``, for the predicted probability ``p`` of each class."""


class CombinedLoss:
    r"""Regularised mean cross-entropy of a logistic regression on a combination of views:

    .. math:: J(a, W, b) = \frac{1}{n} \sum_u -\log \mathrm{softmax}(z_u W^T + b)_{y_u}
              + \frac{\lambda}{2} \lVert W \rVert^2, \quad Z = \sum_i a_i (E_i - 1 \mu_i^T)

    :math:`E_i` are the views ``(n, D)``, :math:`W` the weights ``(C, D)``, :math:`b` the bias ``(C,)``. :math:`Z` is
    never formed: with the residuals :math:`G = (P - Y) / n` of the predicted probabilities and
    :math:`M_i = G^T (E_i - 1 \mu_i^T)`,

    .. math:: \partial_{a_i} J = \langle M_i, W \rangle, \quad
              \partial_W J = \sum_i a_i M_i + \lambda W, \quad \partial_b J = G^T 1

    so one evaluation reads every view twice. ``B`` problems, each with its own :math:`a, W, b` and :math:`\lambda`, are
    evaluated at once: products of ``B C`` rows take much less than ``B`` times as long as those of ``C``. Beside the
    views there are ``(B, C, n)`` numbers, or as many of them as memory allows: then sums go over blocks of rows.

    Args:
        views: :math:`E_i`, float32 tensors ``(n, D)``; neither copied nor changed.
        targets: The class of each row ``(n,)``, 0 to ``C - 1``.
        num_classes: :math:`C`.
        centre: Whether :math:`\mu_i` is the mean of :math:`E_i`, or zero. The bias is not penalised, so both have the
            same minimum; centred, the bias no longer depends on the weights and a quasi-Newton method is quicker.
    """

    def __init__(self, views: Sequence[torch.Tensor], targets: torch.Tensor, num_classes: int, *, centre: bool) -> None:
        self.views = views
        self.targets, self.num_classes = targets, num_classes
        means = torch.stack([view.mean(dim=0) for view in views])  # (K, D)
        self.means = means if centre else torch.zeros_like(means)

    def __call__(
        self, a: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor, weight_decay: torch.Tensor
    ) -> Evaluation:
        """Evaluate ``B`` problems.

        Args:
            a: ``(B, K)``.
            weights: ``(B, C, D)``.
            bias: ``(B, C)``.
            weight_decay: ``(B,)``, float64.
        """
        (b, c, d), n = weights.shape, len(self.targets)
        centred = bias - (weights @ (a @ self.means)[:, :, None]).squeeze(2)
        scaled = [(a[:, i, None, None] * weights).view(b * c, d) for i in range(len(self.views))]
        loss = weight_decay / 2 * weights.square().sum(dim=(1, 2), dtype=torch.float64)
        proba, squares, grad_bias = (torch.zeros_like(bias) for _ in range(3))
        moments = [weights.new_zeros(b * c, d) for _ in self.views]
        for rows in self._row_blocks(b * c):
            residuals, losses = self._residuals(rows, scaled, centred)  # (B, C, r)
            share = residuals.shape[2] / n
            loss = losses / n + loss
            proba += share * residuals.mean(dim=2)
            squares += share * residuals.square().mean(dim=2)
            index = self.targets[rows].expand(b, 1, -1)
            residuals.scatter_add_(1, index, residuals.new_full(index.shape, -1.0))
            residuals /= n
            grad_bias += residuals.sum(dim=2)
            flat = residuals.view(b * c, -1)
            if b * c < FULL_ROWS:
                flat = torch.nn.functional.pad(flat, (0, 0, 0, FULL_ROWS - b * c))
            for moment, view in zip(moments, self.views, strict=True):
                moment += (flat @ view[rows])[: b * c]
        grad_a, grad_weights = torch.empty_like(a), weight_decay.to(weights)[:, None, None] * weights
        for i, moment in enumerate(moments):
            centred_moment = moment.view(b, c, d) - grad_bias[:, :, None] * self.means[i]
            grad_a[:, i] = (centred_moment * weights).sum(dim=(1, 2))
            grad_weights += a[:, i, None, None] * centred_moment
        return Evaluation(loss, grad_a, grad_weights, grad_bias, proba - squares)

    def _residuals(
        self, rows: slice, scaled: list[torch.Tensor], centred: torch.Tensor
    ) -> tuple[torch.Tensor, torch.Tensor]:
        """The probabilities ``(B, C, r)`` of some rows, and the sum of their losses ``(B,)``, float64."""
        (b, c), r = centred.shape, rows.stop - rows.start
        logits = centred.reshape(b * c, 1).repeat(1, r)
        for matrix, view in zip(scaled, self.views, strict=True):
            logits.addmm_(matrix, view[rows].T)
        log_proba = torch.log_softmax(logits.view(b, c, r), dim=1)
        # A sum of n float32 losses would be too coarse for a line search near the minimum.
        losses = -log_proba.gather(1, self.targets[rows].expand(b, 1, r)).sum(dim=(1, 2), dtype=torch.float64)
        return log_proba.exp_(), losses

    def _row_blocks(self, columns: int) -> list[slice]:
        """All rows at once where that leaves enough memory."""
        n = len(self.targets)
        step = min(n, memory().entries(4 * WORKING_COPIES * max(columns, FULL_ROWS)))
        return [slice(start, min(start + step, n)) for start in range(0, n, step)]

    def combined_and_turned(self, a: torch.Tensor, basis: torch.Tensor) -> "CombinedLoss":
        """The same for fixed coefficients ``(K,)`` in other coordinates: one view, which is the combination times
        ``basis`` ``(D, r)``, with the coefficient 1."""
        single = copy.copy(self)
        turned = _empty((len(self.targets), basis.shape[1]), like=basis)
        for rows in fitting_blocks(len(self.targets), len(basis)):
            turned[rows] = combine([view[rows] for view in self.views], a) @ basis
        single.views, single.means = [turned], (a @ self.means)[None] @ basis
        return single

    def covariance(self, a: torch.Tensor) -> torch.Tensor:
        """Of the combination with these coefficients ``(K,)``, ``(D, D)``."""
        n, d = len(self.targets), self.means.shape[1]
        blocks = fitting_blocks(n, d)
        if len(blocks) == 1:
            combined = combine(self.views, a)
            combined -= combined.mean(dim=0)
            return combined.T @ combined / n
        mean, total = a @ torch.stack([view.mean(dim=0) for view in self.views]), self.means.new_zeros(d, d)
        for rows in blocks:
            combined = combine([view[rows] for view in self.views], a) - mean
            total += combined.T @ combined
        return total / n


def combine(views: Sequence[torch.Tensor], a: torch.Tensor) -> torch.Tensor:
    """The combination ``(n, D)`` of views ``(n, D)`` with coefficients ``(K,)``."""
    combined = torch.zeros_like(views[0])
    for coefficient, view in zip(a.tolist(), views, strict=True):
        combined.add_(view, alpha=coefficient)
    return combined


def _empty(shape: tuple[int, int], like: torch.Tensor) -> torch.Tensor:
    """A tensor to fill, which may lie in a file if it is in main memory."""
    return torch.from_numpy(memory().empty(shape)) if like.device.type == "cpu" else like.new_empty(shape)
