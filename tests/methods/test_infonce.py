import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.methods.infonce import info_nce

pytestmark = pytest.mark.usefixtures("one_thread")


def one_direction(u, v, temperature):
    """Equation 1 of the GRACE paper at every node, term by term."""
    within, between = (torch.exp(F.cosine_similarity(u[:, None], x[None], dim=2) / temperature) for x in (u, v))
    others = ~torch.eye(len(u), dtype=torch.bool)
    return -torch.log(between.diagonal() / (between.sum(1) + (within * others).sum(1)))


def paper_loss(u, v, temperature):
    """Equation 2: both directions, averaged over all nodes."""
    return (one_direction(u, v, temperature) + one_direction(v, u, temperature)).sum() / (2 * len(u))


def two_views(n, p, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    return [torch.randn(n, p, generator=generator, dtype=dtype).requires_grad_() for _ in range(2)]


def assert_same_loss_and_gradients(views, temperature, block_rows):
    fast, exact = info_nce(*views, temperature, block_rows), paper_loss(*views, temperature)
    torch.testing.assert_close(fast, exact, rtol=1e-10, atol=1e-10)
    for ours, theirs in zip(torch.autograd.grad(fast, views), torch.autograd.grad(exact, views), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-10)


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 12),
    p=st.integers(1, 5),
    temperature=st.sampled_from([0.05, 0.4, 1.0, 3.0]),
    block_rows=st.integers(1, 30),
    seed=st.integers(0, 1000),
)
def test_loss_and_gradient_equal_the_papers_formula(n, p, temperature, block_rows, seed):
    assert_same_loss_and_gradients(two_views(n, p, seed), temperature, block_rows)


@pytest.mark.parametrize("block_rows", [1, 7, 16, 37, 64, 74, 75, 1000])
def test_block_size_does_not_matter(block_rows):
    assert_same_loss_and_gradients(two_views(37, 8), 0.4, block_rows)


def test_loss_of_two_nodes_is_what_a_person_computes():
    u = torch.tensor([[2.0, 0.0], [0.0, 3.0]])  # both views point the same ways, at right angles to each other
    e = math.exp(1 / 0.5)
    assert info_nce(u, 5 * u, 0.5, 3).item() == pytest.approx(-math.log(e / (e + 1 + 1)))


def test_loss_without_differences_is_the_logarithm_of_the_candidates():
    same = torch.ones(9, 4)
    assert info_nce(same, same, 0.4, 4).item() == pytest.approx(math.log(2 * 9 - 1))


def test_views_may_change_places():
    first, second = two_views(11, 3)
    torch.testing.assert_close(info_nce(first, second, 0.4, 4), info_nce(second, first, 0.4, 4))


def test_single_precision_is_exact_to_five_digits_on_many_rows():
    views = two_views(1500, 32, dtype=torch.float32)
    doubles = [view.detach().double().requires_grad_() for view in views]
    fast, exact = info_nce(*views, 0.05, 512), info_nce(*doubles, 0.05, 3000)
    torch.testing.assert_close(fast.double(), exact, rtol=1e-5, atol=1e-5)
    for ours, theirs in zip(torch.autograd.grad(fast, views), torch.autograd.grad(exact, doubles), strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-4, atol=1e-8)


def test_rows_of_zeros_stay_finite():
    first, second = two_views(6, 3, dtype=torch.float32)
    first.data[2] = 0
    second.data[2:4] = 0
    loss = info_nce(first, second, 0.05, 4)
    assert torch.isfinite(loss)
    assert all(torch.isfinite(gradient).all() for gradient in torch.autograd.grad(loss, [first, second]))


def test_opposite_and_equal_rows_stay_finite_at_the_lowest_temperature():
    first = torch.ones(50, 4, requires_grad=True)
    for second in (first.detach().clone(), -first.detach()):
        loss = info_nce(first, second.requires_grad_(), 0.05, 16)
        assert torch.isfinite(loss)
        assert all(torch.isfinite(gradient).all() for gradient in torch.autograd.grad(loss, [first, second]))


def test_factor_after_the_loss_scales_the_gradient():
    views = two_views(6, 3)
    once = torch.autograd.grad(info_nce(*views, 0.4, 4), views)
    thrice = torch.autograd.grad(3 * info_nce(*views, 0.4, 4), views)
    for one, three in zip(once, thrice, strict=True):
        torch.testing.assert_close(3 * one, three)


def test_inputs_are_not_changed():
    views = two_views(6, 3)
    before = [view.detach().clone() for view in views]
    info_nce(*views, 0.4, 4).backward()
    assert all(torch.equal(view, old) for view, old in zip(views, before, strict=True))
