"""The loss of a linear classifier on combined views, with its gradient in closed form."""

import copy
from collections.abc import Sequence

import torch

FULL_ROWS = 8
"""Fewer rows than this take the BLAS longer: on 9,463 nodes a product of 3 rows took twice the time of one of 8."""


class CombinedLoss:
    r"""Regularised mean cross-entropy of a logistic regression on a combination of views:

    .. math:: J(a, W, b) = \frac{1}{n} \sum_u -\log \mathrm{softmax}(z_u W^T + b)_{y_u}
              + \frac{\lambda}{2} \lVert W \rVert^2, \quad Z = \sum_i a_i (E_i - 1 \mu_i^T)

    :math:`E_i` are the views ``(n, D)``, :math:`W` the weights ``(C, D)``, :math:`b` the bias ``(C,)``. :math:`Z` is
    never formed: with the residuals :math:`G = (P - Y) / n` of the predicted probabilities,

    .. math:: \partial_{a_i} J = \langle (E_i - 1 \mu_i^T) W^T, G \rangle, \quad
              \partial_W J = \sum_i a_i G^T (E_i - 1 \mu_i^T) + \lambda W, \quad \partial_b J = G^T 1

    so one evaluation reads every view twice and holds ``(K, n, C)`` beside it.

    Args:
        views: :math:`E_i`, float32 tensors ``(n, D)``; neither copied nor changed.
        targets: The class of each row ``(n,)``, 0 to ``C - 1``.
        num_classes: :math:`C`.
        weight_decay: :math:`\lambda`.
        centre: Whether :math:`\mu_i` is the mean of :math:`E_i`, or zero. The bias is not penalised, so both have the
            same minimum; centred, the bias no longer depends on the weights and a quasi-Newton method is quicker.
    """

    def __init__(
        self,
        views: Sequence[torch.Tensor],
        targets: torch.Tensor,
        num_classes: int,
        weight_decay: float,
        *,
        centre: bool,
    ) -> None:
        self.views = views
        self.weight_decay = weight_decay
        self.onehot = torch.nn.functional.one_hot(targets, num_classes).to(views[0].dtype)  # (n, C)
        means = torch.stack([view.mean(dim=0) for view in views])  # (K, D)
        self.means = means if centre else torch.zeros_like(means)

    def __call__(
        self, a: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor
    ) -> tuple[float, torch.Tensor, torch.Tensor, torch.Tensor]:
        """Evaluate :math:`J` and its gradients with respect to ``a`` ``(K,)``, ``weights`` and ``bias``."""
        n = len(self.onehot)
        parts = torch.stack([view @ weights.T for view in self.views])  # (K, n, C)
        parts -= (self.means @ weights.T)[:, None]
        logits = torch.tensordot(a, parts, dims=1) + bias  # (n, C)
        log_sum = torch.logsumexp(logits, dim=1, keepdim=True)
        # A sum of n float32 losses would be too coarse for a line search near the minimum.
        loss = (log_sum.squeeze(1) - (logits * self.onehot).sum(dim=1)).sum(dtype=torch.float64) / n
        loss = loss + self.weight_decay / 2 * weights.square().sum(dtype=torch.float64)
        residuals = (torch.exp(logits - log_sum) - self.onehot) / n  # (n, C)
        grad_bias = residuals.sum(dim=0)
        grad_a = torch.tensordot(parts, residuals, dims=2)
        rows = residuals.T.contiguous()  # (C, n): the product with a row-major view is twice as quick this way
        classes = len(rows)
        if classes < FULL_ROWS:
            rows = torch.nn.functional.pad(rows, (0, 0, 0, FULL_ROWS - classes))
        products = rows.new_zeros(len(rows), weights.shape[1])
        for coefficient, view in zip(a.tolist(), self.views, strict=True):
            products.addmm_(rows, view, alpha=coefficient)
        grad_weights = products[:classes] + self.weight_decay * weights - torch.outer(grad_bias, a @ self.means)
        return loss.item(), grad_a, grad_weights, grad_bias

    def combined(self, a: torch.Tensor) -> "CombinedLoss":
        """The same for fixed coefficients: one view, which is the combination, with the coefficient 1."""
        single = copy.copy(self)
        single.views, single.means = [combine(self.views, a)], (a @ self.means)[None]
        return single

    def covariance(self, a: torch.Tensor) -> torch.Tensor:
        """Covariance ``(D, D)`` of the rows of the combination ``Z`` for these coefficients."""
        combined = combine(self.views, a)
        combined -= combined.mean(dim=0)
        return combined.T @ combined / len(combined)


def combine(views: Sequence[torch.Tensor], a: torch.Tensor) -> torch.Tensor:
    """The combination ``(n, D)`` of views ``(n, D)`` with coefficients ``(K,)``."""
    combined = torch.zeros_like(views[0])
    for coefficient, view in zip(a.tolist(), views, strict=True):
        combined.add_(view, alpha=coefficient)
    return combined
