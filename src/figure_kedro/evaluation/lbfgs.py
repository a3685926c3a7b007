"""Several smooth problems minimised side by side by L-BFGS, so that their evaluations share large matrix products."""

from collections.abc import Callable

import torch

MEMORY = 10
"""Pairs of steps and changes of the gradient that stand for the Hessian."""

SUFFICIENT, CURVED = 1e-4, 0.9
"""Wolfe's conditions: which part of the first-order decrease a step must reach, and by how much the slope must rise."""

MAX_TRIES = 20
"""Steps along one direction; after that many, rounding hides any decrease."""

Evaluate = Callable[[torch.Tensor, torch.Tensor], tuple[torch.Tensor, torch.Tensor, torch.Tensor]]
"""From points ``(L, P)`` and the numbers ``(L,)`` of their problems to values ``(L,)``, gradients ``(L, P)``, and an
estimate of the Hessian's diagonal ``(L, P)``, above 0."""


def minimise_together(
    evaluate: Evaluate,
    start: torch.Tensor,
    max_iterations: int,
    tolerance: float,
    after: Callable[[int, torch.Tensor], torch.Tensor | None] | None = None,
) -> tuple[torch.Tensor, torch.Tensor]:
    """Minimise ``B`` problems of ``P`` variables in lock-step; each ends as if it were alone.

    In every round each problem that is left tries one step, so that one call evaluates all of them. A step that
    satisfies Wolfe's conditions is taken, another one is shortened or lengthened along the same direction. A problem
    leaves when its value falls by less than ``tolerance`` (relative where it is above 1) or when no step helps any
    more.

    Args:
        evaluate: Values, gradients and where the estimate of the Hessian begins, float64.
        start: ``(B, P)``, float64.
        max_iterations: Most steps that a problem takes.
        tolerance: See above.
        after: Sees the number of rounds and all points ``(B, P)`` after each. It may say which problems ``(B,)`` go
            on, as booleans; what it raises ends the search.

    Returns:
        Where each problem ended ``(B, P)`` and how many steps it took ``(B,)``.
    """
    points, steps_taken = start.clone(), torch.zeros(len(start), dtype=torch.long)
    live = torch.arange(len(start))
    x = start.clone()
    value, gradient, diagonal = evaluate(x, live)
    history = _History(x)
    direction = -gradient / diagonal
    step = torch.ones_like(value)
    low, high = torch.zeros_like(step), torch.full_like(step, torch.inf)
    tries, taken = torch.zeros_like(live), torch.zeros_like(live)
    ended = (gradient == 0).all(dim=1)
    rounds = 0
    while True:
        if ended.any():
            points[live[ended]], steps_taken[live[ended]] = x[ended], taken[ended]
            left = ~ended
            live, x, value, gradient, diagonal, direction, step, low, high, tries, taken = (
                part[left] for part in (live, x, value, gradient, diagonal, direction, step, low, high, tries, taken)
            )
            history.keep(left)
        if len(live) == 0:
            return points, steps_taken
        candidate = x + step[:, None] * direction
        new_value, new_gradient, new_diagonal = evaluate(candidate, live)
        slope, new_slope = (gradient * direction).sum(dim=1), (new_gradient * direction).sum(dim=1)
        falls = new_value <= value + SUFFICIENT * step * slope  # never of what is not finite
        good = falls & (new_slope >= CURVED * slope)
        tries += 1
        lost = ~good & (tries >= MAX_TRIES)
        taken += good
        flat = value - new_value <= tolerance * torch.maximum(value.abs(), new_value.abs()).clamp(min=1.0)
        ended = lost | (good & (flat | (taken >= max_iterations)))

        history.push(candidate - x, new_gradient - gradient, good)
        low, high = torch.where(falls, step, low), torch.where(falls, high, step)
        between = _between(low, high, step, value, slope, new_value, falls)
        moved = good[:, None]
        x, gradient = torch.where(moved, candidate, x), torch.where(moved, new_gradient, gradient)
        value, diagonal = torch.where(good, new_value, value), torch.where(moved, new_diagonal, diagonal)
        direction = torch.where(moved, -history.times_inverse_hessian(gradient, diagonal), direction)
        step = torch.where(good, 1.0, between)
        low, high = torch.where(good, 0.0, low), torch.where(good, torch.inf, high)
        tries = torch.where(good, 0, tries)
        rounds += 1
        if after is not None:
            points[live] = x
            wanted = after(rounds, points)
            if wanted is not None:
                ended |= ~wanted[live]


def _between(
    low: torch.Tensor,
    high: torch.Tensor,
    step: torch.Tensor,
    value: torch.Tensor,
    slope: torch.Tensor,
    new_value: torch.Tensor,
    falls: torch.Tensor,
) -> torch.Tensor:
    """The next step to try: twice as long while none is too long, then inside of the bracket.

    After the first step that is too long it is the minimum of the parabola through what is known.
    """
    parabola = -slope * step.square() / (2 * (new_value - value - slope * step))
    parabola = torch.where(parabola.isfinite(), parabola, 0.0)
    inside = torch.where(falls | (low > 0), (low + high) / 2, parabola.clamp(0.1 * step, 0.5 * step))
    return torch.where(high.isinf(), 2 * low, inside)


class _History:
    """The last pairs of every problem, ``(B, P)`` each; a problem that took no step has a pair that does nothing."""

    def __init__(self, like: torch.Tensor) -> None:
        self.pairs: list[tuple[torch.Tensor, torch.Tensor, torch.Tensor]] = []
        self.scale = like.new_ones(len(like))

    def push(self, step: torch.Tensor, change: torch.Tensor, good: torch.Tensor) -> None:
        product = (step * change).sum(dim=1)
        usable = good & (product > 0)
        self.pairs = [*self.pairs[1 - MEMORY :], (step, change, torch.where(usable, 1 / product, 0.0))]

    def keep(self, left: torch.Tensor) -> None:
        self.pairs = [(step[left], change[left], inverse[left]) for step, change, inverse in self.pairs]
        self.scale = self.scale[left]

    def times_inverse_hessian(self, gradient: torch.Tensor, diagonal: torch.Tensor) -> torch.Tensor:
        """The two loops of Nocedal (1980), from a diagonal that is scaled to the last pair."""
        result, projections = gradient.clone(), []
        for step, change, inverse in reversed(self.pairs):
            projection = inverse * (step * result).sum(dim=1)
            result -= projection[:, None] * change
            projections.append(projection)
        step, change, inverse = self.pairs[-1]
        scale = 1 / (inverse * (change.square() / diagonal).sum(dim=1))
        self.scale = torch.where(inverse > 0, scale, self.scale)
        result *= self.scale[:, None] / diagonal
        for (step, change, inverse), projection in zip(self.pairs, reversed(projections), strict=True):
            result += (projection - inverse * (change * result).sum(dim=1))[:, None] * step
        return result
