"""Two ways to minimise the objective of the alpha-combined classifier."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
import torch

from figure_kedro.errors import UserError
from figure_kedro.evaluation.combined_loss import CombinedLoss, combine
from figure_kedro.evaluation.lbfgs import minimise_together

TOLERANCE = 1e-6
"""L-BFGS stops when the objective falls by less than this in an iteration: what float32 products can resolve."""

LEAST_UNCERTAINTY = 1e-6
"""Of a class: mean p (1 - p); below it the Hessian of a separable problem is rounding."""

START = 0.1
"""Size of the first logits, small against where they end; not zero, from where coefficients could not move."""


@dataclass(frozen=True)
class Solution:
    """Coefficients ``(K,)``, weights ``(C, D)`` and bias ``(C,)`` of the combination without centring."""

    coefficients: torch.Tensor
    weights: torch.Tensor
    bias: torch.Tensor
    iterations: int


Validation = Callable[[torch.Tensor, torch.Tensor, torch.Tensor], float]
"""Scores coefficients, weights and bias on validation; higher is better."""

Watch = Callable[[list[Solution]], Sequence[bool] | None]
"""Sees how far a solver has come with each of its problems and may say which of them go on; what it raises ends all."""


def is_watched(step: int, first: int) -> bool:
    """Whether a step is ``first`` or a power of two times it."""
    ratio, rest = divmod(step, first)
    return rest == 0 and ratio & (ratio - 1) == 0


def activate(alpha: torch.Tensor, activation: str) -> torch.Tensor:
    """Apply the activation of the coefficients: ``none`` or ``exp``."""
    return torch.exp(alpha) if activation == "exp" else alpha


def initial_weights(shape: tuple[int, int], like: torch.Tensor, seed: int, *, glorot: bool = False) -> torch.Tensor:
    r"""Draw weights ``(C, D)`` uniformly from :math:`\pm D^{-1/2}`, as ``torch.nn.Linear`` does, or with Glorot's
    variance, :math:`\pm \sqrt{6 / (C + D)}`."""
    draw = torch.rand(shape, generator=torch.Generator().manual_seed(seed))
    limit = (6 / sum(shape)) ** 0.5 if glorot else shape[1] ** -0.5
    return ((2 * draw - 1) * limit).to(like)


def solve_lbfgs(
    objective: CombinedLoss,
    alpha_init: float,
    activation: str,
    alpha_scale: float,
    weight_decays: Sequence[float],
    max_iterations: int,
    seed: int,
    watch: Watch | None = None,
) -> list[Solution]:
    r"""Minimise over all variables with L-BFGS, the coefficients' norm held at its start, for each weight decay.

    Weight decay alone does not make the problem well defined: :math:`(c a, W / c)` predicts the same for every
    :math:`c`, at a lower price the larger :math:`c` is. Therefore

    .. math:: a = r \frac{g(\alpha)}{\lVert g(\alpha) \rVert}, \quad r = \lVert g(\alpha_{init}) \rVert

    with the activation :math:`g`. For a single view this is an ordinary, convex logistic regression.

    The search begins with an estimate of the inverse Hessian. That of class :math:`c` is
    :math:`H_c \approx q_c \Sigma + \lambda I` with :math:`q_c = \frac{1}{n} \sum_u p_{uc} (1 - p_{uc})` of the
    probabilities where the search is, and :math:`\Sigma` the covariance of the combination where it started. The
    weights are searched in the coordinates of the eigenvectors of :math:`\Sigma`, where this is diagonal for every
    class, decay and point. It saves most of the iterations, because embeddings and random features are strongly
    correlated. Coefficients that do not move make one view of the combination, which is turned once; of fewer rows
    than columns as many columns as rows are left then, which changes no minimum.

    ``alpha_scale`` multiplies the steps in :math:`\alpha` relative to those in :math:`V`: 0 keeps it at its start,
    above 1 counts as 1, because a longer first step would throw views out before the weights are of use.

    The problems of all decays are solved side by side (:func:`~figure_kedro.evaluation.lbfgs.minimise_together`).
    ``watch`` sees where all of them are after 25, 50, 100, ... rounds and may end some.
    """
    start = activate(torch.full((len(objective.views),), alpha_init, dtype=torch.float64), activation)
    fixed = start.to(objective.means)
    decays = torch.tensor(weight_decays, dtype=torch.float64)
    moving = alpha_scale > 0 and len(objective.views) > 1
    alphas = Alphas(len(start), alpha_init, activation, min(alpha_scale, 1.0)) if moving else None
    curvature = Curvature.of(objective, fixed, complete=moving)
    basis = curvature.basis  # (D, r)
    searched = objective if moving else objective.combined_and_turned(fixed, basis)
    ridges = curvature.ridges(decays)
    k, c, d = len(start) if moving else 0, objective.num_classes, basis.shape[1]

    def unpack(x: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        a = x.new_ones(len(x), 1) if alphas is None else alphas.coefficients(x[:, :k])
        weights = x[:, k + c :].to(fixed).view(-1, c, d)
        return a.to(fixed), weights @ basis.T if moving else weights, x[:, k : k + c].to(fixed)

    def evaluate(x: torch.Tensor, live: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
        found = searched(*unpack(x), decays[live].to(fixed.device))
        grad_weights = found.grad_weights @ basis if moving else found.grad_weights
        parts = [] if alphas is None else [alphas.gradient(x[:, :k], found.grad_a.to(x))]
        parts += [found.grad_bias.to(x), grad_weights.flatten(1).to(x)]
        uncertainty = found.uncertainty.to(x).clamp(min=LEAST_UNCERTAINTY)
        hessian = uncertainty[:, :, None] * curvature.values + ridges[live, None, None]
        return (
            found.loss.to(x),
            torch.cat(parts, dim=1),
            torch.cat([x.new_ones(len(x), k), uncertainty, hessian.flatten(1)], dim=1),
        )

    def solutions(x: torch.Tensor, iterations: Sequence[int]) -> list[Solution]:
        a, weights, bias = unpack(x)
        bias = bias - (weights @ (a @ searched.means)[:, :, None]).squeeze(2)
        if not moving:
            a, weights = fixed.expand(len(x), -1), weights @ basis.T
        return [Solution(*parts) for parts in zip(a, weights, bias, iterations, strict=True)]

    def after(rounds: int, x: torch.Tensor) -> torch.Tensor | None:
        wanted = watch(solutions(x, [rounds] * len(x))) if watch is not None and is_watched(rounds, 25) else None
        return None if wanted is None else torch.tensor(wanted)

    first = torch.cat([torch.zeros(k + c), START * initial_weights((c, d), torch.zeros(1), seed).flatten()])
    begin = first.double() / (curvature.values.sum() / len(basis) + ridges[:, None]).sqrt()
    found, iterations = minimise_together(evaluate, begin, max_iterations, TOLERANCE, after)
    return solutions(found, iterations.tolist())


@dataclass(frozen=True)
class Alphas:
    r"""Moving coefficients, :math:`a = r g(\alpha) / \lVert g(\alpha) \rVert`, for ``B`` problems at once.

    The search moves :math:`\alpha` in units of its start, so that ``scale`` means the same for every ``init``.
    """

    count: int
    init: float
    activation: str
    scale: float

    def _active(self, x: torch.Tensor) -> tuple[torch.Tensor, float]:
        unit = self.scale * (1.0 if self.activation == "exp" else abs(self.init))
        alpha = self.init + unit * x
        if self.activation == "exp":  # the largest one is taken out first, since only ratios survive the normalisation
            alpha = alpha - alpha.amax(dim=1, keepdim=True)
        return activate(alpha, self.activation), unit

    @property
    def radius(self) -> float:
        return float(activate(torch.full((self.count,), self.init, dtype=torch.float64), self.activation).norm())

    def coefficients(self, x: torch.Tensor) -> torch.Tensor:
        """:math:`a` ``(B, K)`` of the variables ``(B, K)``, which start at zero."""
        active, _ = self._active(x)
        return self.radius * active / active.norm(dim=1, keepdim=True)

    def gradient(self, x: torch.Tensor, grad_a: torch.Tensor) -> torch.Tensor:
        """The gradient with respect to the variables, from that with respect to :math:`a`."""
        active, unit = self._active(x)
        norm = active.norm(dim=1, keepdim=True)
        direction = active / norm
        along = (direction * grad_a).sum(dim=1, keepdim=True)
        return unit * self.radius / norm * (grad_a - direction * along) * (active if self.activation == "exp" else 1.0)


@dataclass(frozen=True)
class Curvature:
    r"""Eigenvalues ``(r,)``, float64, and orthonormal eigenvectors ``(D, r)`` of the covariance :math:`\Sigma`.

    ``r`` is ``D`` or, unless all are wanted, the number of rows if that is less. Deviations that are tiny against the
    mean are rounding, so the mean sets a floor of the Hessian.
    """

    values: torch.Tensor
    basis: torch.Tensor
    floor: float

    @classmethod
    def of(cls, objective: CombinedLoss, a: torch.Tensor, *, complete: bool) -> "Curvature":
        """Of the combination with these coefficients ``(K,)``."""
        n, d = objective.views[0].shape
        if n >= d:
            values, basis = torch.linalg.eigh(objective.covariance(a))
        else:  # what is orthogonal to all rows has the eigenvalue 0
            combined = combine(objective.views, a)
            combined -= combined.mean(dim=0)
            basis, triangle = torch.linalg.qr(combined.T, mode="complete" if complete else "reduced")
            values, turn = torch.linalg.eigh(triangle[:n] @ triangle[:n].T / n)
            basis = torch.cat([basis[:, :n] @ turn, basis[:, n:]], dim=1)
            values = torch.nn.functional.pad(values, (0, basis.shape[1] - n))
        values = values.clamp(min=0).double().cpu()
        spread, level = values.sum().item() / d / 4, (a @ objective.means).square().mean().item()
        return cls(values, basis, 1e-6 * spread + 1e-8 * level)

    def ridges(self, decays: torch.Tensor) -> torch.Tensor:
        r"""What is added to :math:`q \Sigma` for each decay ``(B,)``; 1 for views that are all zero without a decay."""
        ridges = decays + self.floor
        return torch.where(ridges > 0, ridges, 1.0)


def solve_adam(
    objective: CombinedLoss,
    weight_decay: float,
    alpha_init: float,
    activation: str,
    learning_rates: tuple[float, float],
    max_epochs: int,
    seed: int,
    validation: Validation | None,
    patience: int | None,
    watch: Watch | None = None,
    *,
    as_authors: bool = False,
) -> Solution:
    """Minimise with Adam as the paper does, one full-batch step per epoch, and keep the best epoch.

    The best epoch has the highest validation score, the first of equals; without validation the lowest
    objective. Training ends after ``patience`` epochs without a better one, or when the objective is not finite.

    Args:
        objective: Not centred.
        weight_decay: On the weights.
        alpha_init: Start of every coefficient, before the activation.
        activation: ``none`` or ``exp``.
        learning_rates: Of the weights and the bias, and of the coefficients.
        max_epochs: Upper limit.
        seed: Of the initial weights.
        validation: Scores an epoch, or ``None``.
        patience: Epochs, or ``None`` to run all.
        watch: Sees the best solution so far after 100, 200, 400, ... epochs.
        as_authors: Whether the weights start with Glorot's variance and the bias decays too, as in the authors' code.
    """
    like = objective.means
    (k, d), c = like.shape, objective.num_classes
    alpha = torch.full((k,), alpha_init).to(like)
    weights, bias = initial_weights((c, d), like, seed, glorot=as_authors), torch.zeros(c).to(like)
    bias_decay = weight_decay if as_authors else 0.0
    decays = torch.tensor([weight_decay], dtype=torch.float64, device=like.device)
    optimiser = torch.optim.Adam(
        [{"params": [weights, bias], "lr": learning_rates[0]}, {"params": [alpha], "lr": learning_rates[1]}]
    )
    best: tuple[torch.Tensor, torch.Tensor, torch.Tensor] | None = None
    best_score, best_epoch, epoch = -np.inf, 0, 0
    for epoch in range(1, max_epochs + 1):
        a = activate(alpha, activation)
        at = objective(a[None], weights[None], bias[None], decays)
        loss, weights.grad, bias.grad = at.loss.item(), at.grad_weights[0], at.grad_bias[0] + bias_decay * bias
        if not np.isfinite(loss):
            break
        score = -loss if validation is None else validation(a, weights, bias)
        if score > best_score:
            best, best_score, best_epoch = (a.clone(), weights.clone(), bias.clone()), score, epoch
        elif patience is not None and epoch - best_epoch >= patience:
            break
        if watch is not None and best is not None and is_watched(epoch, 100):
            watch([Solution(*best, epoch)])
        alpha.grad = at.grad_a[0] * a if activation == "exp" else at.grad_a[0]
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
