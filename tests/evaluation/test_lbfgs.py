"""Problems that are minimised side by side end where each has its minimum."""

import numpy as np
import pytest
import torch
from scipy.optimize import minimize, rosen, rosen_der

from figure_kedro.evaluation.lbfgs import minimise_together


def rosenbrock(points, _):
    x = points.numpy()
    values, gradients = np.array([rosen(row) for row in x]), np.array([rosen_der(row) for row in x])
    return torch.from_numpy(values), torch.from_numpy(gradients), torch.ones_like(points)


def quadratics(count, size, seed=0):
    """Matrices ``(B, P, P)`` of condition 1,000 and minima ``(B, P)``."""
    generator = torch.Generator().manual_seed(seed)
    turns = torch.linalg.qr(torch.randn(count, size, size, generator=generator, dtype=torch.float64))[0]
    matrices = turns @ torch.diag(torch.logspace(-2, 1, size, dtype=torch.float64)) @ turns.mT
    return matrices, torch.randn(count, size, generator=generator, dtype=torch.float64)


def on(matrices, minima):
    def evaluate(points, live):
        gaps = points - minima[live]
        gradients = (matrices[live] @ gaps[:, :, None]).squeeze(2)
        return (gaps * gradients).sum(dim=1) / 2, gradients, matrices[live].diagonal(dim1=1, dim2=2)

    return evaluate


def test_rosenbrocks_valley_is_followed_to_its_end_from_several_starts():
    starts = torch.tensor([[-1.2, 1.0, -1.2, 1.0], [2.0, 2.0, 2.0, 2.0], [1.0, 1.0, 1.0, 1.0]], dtype=torch.float64)
    points, steps = minimise_together(rosenbrock, starts, 500, 1e-14)
    reached = [rosen(row) for row in points.numpy()]
    scipys = [minimize(rosen, row, jac=rosen_der, method="L-BFGS-B").fun for row in starts.numpy()]
    assert max(reached) < max(*scipys, 1e-9)
    assert steps[2] == 0


def test_each_of_several_quadratics_ends_at_its_own_minimum_and_as_if_it_were_alone():
    matrices, minima = quadratics(5, 12)
    start = torch.zeros_like(minima)
    points, steps = minimise_together(on(matrices, minima), start, 500, 1e-15)
    torch.testing.assert_close(points, minima, atol=1e-5, rtol=0)
    for i in range(len(minima)):
        alone, taken = minimise_together(on(matrices[i : i + 1], minima[i : i + 1]), start[:1], 500, 1e-15)
        torch.testing.assert_close(alone[0], points[i], atol=1e-6, rtol=0)
        assert abs(int(taken) - int(steps[i])) <= 3


def test_no_problem_takes_more_steps_than_it_may():
    matrices, minima = quadratics(3, 12)
    _, steps = minimise_together(on(matrices, minima), torch.zeros_like(minima), 4, 0.0)
    assert steps.tolist() == [4, 4, 4]


def test_a_problem_that_is_given_up_stays_where_it_was():
    matrices, minima = quadratics(2, 12)
    seen = []

    def after(rounds, points):
        seen.append(points.clone())
        return torch.tensor([rounds < 3, True])

    points, _ = minimise_together(on(matrices, minima), torch.zeros_like(minima), 500, 1e-15, after)
    torch.testing.assert_close(points[0], seen[2][0], atol=0, rtol=0)
    torch.testing.assert_close(points[1], minima[1], atol=1e-5, rtol=0)


@pytest.mark.parametrize("bad", [torch.nan, torch.inf])
def test_a_step_to_where_nothing_is_finite_is_shortened(bad):
    """A parabola that ends at 1.5, with a Hessian that is guessed a hundred times too small."""

    def evaluate(points, _):
        values = torch.where(points < 1.5, (points - 1).square(), bad).sum(dim=1)
        return values, torch.where(points < 1.5, 2 * (points - 1), bad), torch.full_like(points, 0.02)

    points, _ = minimise_together(evaluate, torch.zeros(1, 1, dtype=torch.float64), 100, 1e-14)
    assert points.item() == pytest.approx(1, abs=1e-5)
