"""Two ways to minimise the objective of the alpha-combined classifier."""

import itertools
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np
import torch
from scipy.optimize import minimize
from threadpoolctl import threadpool_limits

from figure_kedro.errors import UserError
from figure_kedro.evaluation.combined_loss import CombinedLoss

TOLERANCE = 1e-7
"""L-BFGS stops when the objective falls by less than this in an iteration: what float32 products can resolve."""


@dataclass(frozen=True)
class Solution:
    """Coefficients ``(K,)``, weights ``(C, D)`` and bias ``(C,)`` of the combination without centring."""

    coefficients: torch.Tensor
    weights: torch.Tensor
    bias: torch.Tensor
    iterations: int


Validation = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], float]
"""Scores coefficients, weights and bias on validation; higher is better."""

Watch = Callable[[Solution], None]
"""Sees how far a solver has come; what it raises ends the fit."""


def is_watched(step: int, first: int) -> bool:
    """Whether a step is ``first`` or a power of two times it."""
    ratio, rest = divmod(step, first)
    return rest == 0 and ratio & (ratio - 1) == 0


def activate(alpha: torch.Tensor, activation: str) -> torch.Tensor:
    """Apply the activation of the coefficients: ``none`` or ``exp``."""
    return torch.exp(alpha) if activation == "exp" else alpha


def initial_weights(shape: tuple[int, int], like: torch.Tensor, seed: int) -> torch.Tensor:
    r"""Draw weights uniformly from :math:`\pm D^{-1/2}`, as ``torch.nn.Linear`` does."""
    draw = torch.rand(shape, generator=torch.Generator().manual_seed(seed))
    return ((2 * draw - 1) / shape[1] ** 0.5).to(like)


def solve_lbfgs(
    objective: CombinedLoss,
    alpha_init: float,
    activation: str,
    alpha_scale: float,
    max_iterations: int,
    seed: int,
    watch: Watch | None = None,
) -> Solution:
    r"""Minimise over all variables at once with L-BFGS, the coefficients' norm held at its start.

    Weight decay alone does not make the problem well defined: :math:`(c a, W / c)` predicts the same for every
    :math:`c`, at a lower price the larger :math:`c` is. Therefore

    .. math:: a = r \frac{g(\alpha)}{\lVert g(\alpha) \rVert}, \quad r = \lVert g(\alpha_{init}) \rVert

    with the activation :math:`g`. For a single view this is an ordinary, convex logistic regression.

    The weights are searched as :math:`W = V L^{-1}` with :math:`L L^T = \Sigma / 4 + \lambda I`, :math:`\Sigma` the
    covariance of the combination at the start: an upper estimate of the Hessian of every class. That takes one small
    Cholesky factor and saves most of the iterations, because embeddings and random features are strongly correlated.

    ``alpha_scale`` multiplies the steps in :math:`\alpha` relative to those in :math:`V`: 0 keeps it at its start,
    above 1 counts as 1, because a longer first step would throw views out before the weights are of use.

    ``watch`` sees the iterate after 25, 50, 100, ... iterations.
    """
    if alpha_scale == 0 and len(objective.views) > 1:  # one view, the combination, is all that is needed
        fixed = activate(torch.full((len(objective.views),), alpha_init), activation).to(objective.means)

        def outer(solution: Solution) -> Solution:
            return replace(solution, coefficients=fixed)

        single = objective.combined(fixed)
        inner = None if watch is None else lambda solution: watch(outer(solution))
        return outer(solve_lbfgs(single, 1.0, "none", 0.0, max_iterations, seed, inner))
    like = objective.means
    (k, d), c = like.shape, objective.onehot.shape[1]
    alpha_scale = min(alpha_scale, 1.0)
    start = torch.full((k,), alpha_init, dtype=torch.float64)
    radius = activate(start, activation).norm()
    # The search moves alpha in units of its start, so that alpha_scale means the same for every alpha_init.
    unit = 1.0 if activation == "exp" else abs(alpha_init)
    inverse = _inverse_factor(objective, activate(start, activation).to(like))

    def unpack(x: np.ndarray) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        values = torch.from_numpy(x)
        alpha = start + alpha_scale * unit * values[:k]
        return alpha, (values[k + c :].to(like).view(c, d) @ inverse), values[k : k + c].to(like)

    def coefficients(alpha: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor]:
        if activation == "exp":  # the largest one is taken out first, since only ratios survive the normalisation
            alpha = alpha - alpha.max()
        active = activate(alpha, activation)
        return radius * active / active.norm(), active

    def evaluate(x: np.ndarray) -> tuple[float, np.ndarray]:
        alpha, weights, bias = unpack(x)
        a, active = coefficients(alpha)
        loss, grad_a, grad_weights, grad_bias = objective(a.to(like), weights, bias)
        grad_a = grad_a.double().cpu()
        direction = a / radius
        grad_active = radius / active.norm() * (grad_a - direction * (direction @ grad_a))
        grad_alpha = alpha_scale * unit * grad_active * (active if activation == "exp" else 1.0)
        parts = (grad_alpha, grad_bias, (grad_weights @ inverse.T).flatten())
        return loss, np.concatenate([part.double().cpu().numpy() for part in parts])

    first = torch.cat([torch.zeros(k + c), initial_weights((c, d), torch.zeros(1), seed).flatten()])

    def solution(x: np.ndarray, iterations: int) -> Solution:
        alpha, weights, bias = unpack(x)
        a = coefficients(alpha)[0].to(like)
        return Solution(a, weights, bias - weights @ (a @ objective.means), iterations)

    done = itertools.count(1)

    def after_iteration(x: np.ndarray) -> None:
        iteration = next(done)
        if watch is not None and is_watched(iteration, 25):
            watch(solution(x, iteration))

    options = {"maxiter": max_iterations, "ftol": TOLERANCE, "gtol": TOLERANCE}
    # SciPy's own vectors are short: threads of its BLAS would only spin and keep the cores from the products above.
    with threadpool_limits(limits=1, user_api="blas"):
        found = minimize(
            evaluate, first.double().numpy(), jac=True, method="L-BFGS-B", options=options, callback=after_iteration
        )
    return solution(found.x, found.nit)


def solve_adam(
    objective: CombinedLoss,
    alpha_init: float,
    activation: str,
    learning_rates: tuple[float, float],
    max_epochs: int,
    seed: int,
    validation: Validation | None,
    patience: int | None,
    watch: Watch | None = None,
) -> Solution:
    """Minimise with Adam as the paper does, one full-batch step per epoch, and keep the best epoch.

    The best epoch has the highest validation score, the first of equals; without validation the lowest
    objective. Training ends after ``patience`` epochs without a better one, or when the objective is not finite.

    Args:
        objective: Not centred.
        alpha_init: Start of every coefficient, before the activation.
        activation: ``none`` or ``exp``.
        learning_rates: Of the weights and the bias, and of the coefficients.
        max_epochs: Upper limit.
        seed: Of the initial weights.
        validation: Scores an epoch, or ``None``.
        patience: Epochs, or ``None`` to run all.
        watch: Sees the best solution so far after 100, 200, 400, ... epochs.
    """
    like = objective.means
    (k, d), c = like.shape, objective.onehot.shape[1]
    alpha = torch.full((k,), alpha_init).to(like)
    weights, bias = initial_weights((c, d), like, seed), torch.zeros(c).to(like)
    optimiser = torch.optim.Adam(
        [{"params": [weights, bias], "lr": learning_rates[0]}, {"params": [alpha], "lr": learning_rates[1]}]
    )
    best: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
    best_score, best_epoch, epoch = -np.inf, 0, 0
    for epoch in range(1, max_epochs + 1):
        a = activate(alpha, activation)
        loss, grad_a, weights.grad, bias.grad = objective(a, weights, bias)
        if not np.isfinite(loss):
            break
        score = -loss if validation is None else validation(a, weights, bias)
        if score > best_score:
            best, best_score, best_epoch = (a.clone(), weights.clone(), bias.clone()), score, epoch
        elif patience is not None and epoch - best_epoch >= patience:
            break
        if watch is not None and best is not None and is_watched(epoch, 100):
            watch(Solution(*best, epoch))
        alpha.grad = grad_a * a if activation == "exp" else grad_a
        optimiser.step()
    if best is None:
        raise UserError("the classifier's loss is not finite at its start; scale the embeddings")
    return Solution(*best, epoch)


def combined_logits(
    views: list[torch.Tensor], a: torch.Tensor, weights: torch.Tensor, bias: torch.Tensor
) -> torch.Tensor:
    """Logits ``(n, C)`` of the combined views, without forming the combination."""
    logits = bias.repeat(len(views[0]), 1)
    for coefficient, view in zip(a.tolist(), views, strict=True):
        logits.addmm_(view, weights.T, alpha=coefficient)
    return logits


def _inverse_factor(objective: CombinedLoss, a: torch.Tensor) -> torch.Tensor:
    """Inverse of the Cholesky factor of the estimated Hessian, with as much added as makes it one.

    Deviations that are tiny against the mean are rounding, so the mean sets a floor; views that are all zero without
    weight decay have no curvature and are searched as they are.
    """
    hessian = objective.covariance(a).double() / 4
    spread, level = hessian.diagonal().mean().item(), (a @ objective.means).square().mean().item()
    ridge = objective.weight_decay + 1e-6 * spread + 1e-8 * level or 1.0
    identity = torch.eye(len(hessian), dtype=hessian.dtype, device=hessian.device)
    while True:
        factor, failed = torch.linalg.cholesky_ex(hessian + ridge * identity)
        if not failed:
            return torch.linalg.solve_triangular(factor, identity, upper=False).to(a.dtype)
        ridge *= 10
