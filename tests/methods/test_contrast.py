import math

import pytest
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.methods import contrast as module
from figure_kedro.methods.contrast import contrast

pytestmark = pytest.mark.usefixtures("one_thread")


def plain(block, slope, discriminator, weight):
    """The same loss, one operation after another."""
    h, corrupted = F.prelu(block, slope).chunk(2, dim=1)
    c = torch.sigmoid(h.mean(0))
    positive, negative = h @ discriminator @ c, corrupted @ discriminator @ c
    loss = F.binary_cross_entropy_with_logits(positive, torch.ones_like(positive))
    return weight / 2 * (loss + F.binary_cross_entropy_with_logits(negative, torch.zeros_like(negative)))


def inputs(n, d, slope, seed=0, dtype=torch.float64):
    generator = torch.Generator().manual_seed(seed)
    block = torch.randn(n, 2 * d, generator=generator, dtype=dtype)
    discriminator = torch.randn(d, d, generator=generator, dtype=dtype)
    return [t.requires_grad_() for t in (block, torch.tensor([slope], dtype=dtype), discriminator)]


@settings(max_examples=60, deadline=None)
@given(
    n=st.integers(1, 9),
    d=st.integers(1, 5),
    slope=st.sampled_from([0.0, 0.25, 1.0, -0.5, -3.0, 7.0]) | st.floats(-10, 10),
    weight=st.sampled_from([1.0, 0.5, 1 / 3]),
    seed=st.integers(0, 1000),
    cache=st.sampled_from([1, 8, 30, module.CACHE_ENTRIES]),
)
def test_hand_written_gradient_equals_automatic_one(n, d, slope, weight, seed, cache):
    arguments = inputs(n, d, slope, seed)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "CACHE_ENTRIES", cache)  # so that even few rows are taken in several blocks
        fast = contrast(*arguments, weight)
    exact = plain(*arguments, weight)
    torch.testing.assert_close(fast, exact, rtol=1e-9, atol=1e-9)
    for ours, theirs in zip(torch.autograd.grad(fast, arguments), torch.autograd.grad(exact, arguments), strict=True):
        torch.testing.assert_close(ours, theirs, rtol=1e-9, atol=1e-9)


def test_single_precision_is_exact_to_five_digits_on_many_rows():
    arguments = inputs(5000, 64, 0.25, dtype=torch.float32)
    doubles = [t.detach().double().requires_grad_() for t in arguments]
    fast, exact = contrast(*arguments, 1.0), plain(*doubles, 1.0)
    torch.testing.assert_close(fast.double(), exact, rtol=1e-5, atol=1e-5)
    for ours, theirs in zip(torch.autograd.grad(fast, arguments), torch.autograd.grad(exact, doubles), strict=True):
        torch.testing.assert_close(ours.double(), theirs, rtol=1e-5, atol=1e-5)


def test_zero_pre_activations_have_the_gradient_of_prelu():
    block, slope, discriminator = inputs(4, 3, 0.25)
    block.data[::2] = 0
    arguments = [block, slope, discriminator]
    fast = torch.autograd.grad(contrast(*arguments, 1.0), arguments)
    exact = torch.autograd.grad(plain(*arguments, 1.0), arguments)
    for ours, theirs in zip(fast, exact, strict=True):
        torch.testing.assert_close(ours, theirs)


def test_loss_is_log_two_for_a_zero_discriminator():
    block, slope, discriminator = inputs(7, 4, 0.25)
    assert contrast(block, slope, torch.zeros_like(discriminator), 1.0).item() == pytest.approx(math.log(2))


def test_loss_of_huge_scores_stays_finite():
    block, slope, discriminator = inputs(7, 4, 0.25, dtype=torch.float32)
    loss = contrast(block * 1e6, slope, discriminator, 1.0)
    assert torch.isfinite(loss)
    assert all(torch.isfinite(g).all() for g in torch.autograd.grad(loss, [block, slope, discriminator]))


def test_factor_after_the_loss_scales_the_gradient():
    arguments = inputs(6, 3, 0.25)
    once = torch.autograd.grad(contrast(*arguments, 1.0), arguments)
    thrice = torch.autograd.grad(3 * contrast(*arguments, 1.0), arguments)
    for one, three in zip(once, thrice, strict=True):
        torch.testing.assert_close(3 * one, three)


def test_block_in_another_memory_order_gives_the_same_loss():
    block, slope, discriminator = inputs(6, 3, 0.25)
    across = block.detach().t().contiguous().t().requires_grad_()
    fast, expected = contrast(across, slope, discriminator, 1.0), contrast(block, slope, discriminator, 1.0)
    torch.testing.assert_close(fast, expected)
    torch.testing.assert_close(torch.autograd.grad(fast, across)[0], torch.autograd.grad(expected, block)[0])


def test_inputs_are_not_changed():
    arguments = inputs(6, 3, 0.25)
    before = [t.detach().clone() for t in arguments]
    contrast(*arguments, 1.0).backward()
    assert all(torch.equal(t, b) for t, b in zip(arguments, before, strict=True))
