r"""The mutual-information loss of one filter, with its gradient computed in the same sweep."""

from typing import Any

import torch
import torch.nn.functional as F

from figure_kedro.filters import Workspace

CACHE_ENTRIES = 2**18
"""Entries of a block of rows that stays in a core's cache while several operations pass over it."""


def contrast(
    block: torch.Tensor,
    slope: torch.Tensor,
    discriminator: torch.Tensor,
    weight: float,
    workspace: Workspace | None = None,
) -> torch.Tensor:
    r"""Binary cross-entropy between nodes and their filter's summary, from "Deep Graph Infomax" (Velickovic et al.,
    2019), for one filter of the FiGURe paper:

    .. math::
        \mathcal{L} = -\frac{w}{2n} \sum_k \log D(h_k, c) + \log (1 - D(\tilde h_k, c)), \quad
        D(h, c) = \sigma(h^T W c), \quad c = \sigma\Big(\frac{1}{n} \sum_k h_k\Big)

    with :math:`h = \mathrm{PReLU}(u)` of the node's pre-activation and :math:`\tilde h` of the corrupted one. Because
    one :math:`c` serves all nodes, :math:`h^T W c` is :math:`h \cdot (W c)`, which costs :math:`O(nd)`.

    The gradient is written out by hand: it needs the pre-activations once more and no other array of their size,
    while automatic differentiation would keep five and pass over memory twice as often.

    Args:
        block: Pre-activations ``(n, 2 d)``: true in the first half of the columns, corrupted in the second.
        slope: Of the PReLU for negative inputs ``(1,)``.
        discriminator: The matrix :math:`W` ``(d, d)``.
        weight: The factor :math:`w`; one over the number of filters averages them.
        workspace: Where the gradient is written; a fresh array by default.

    Returns:
        The loss, a scalar.
    """
    return _Contrast.apply(block, slope, discriminator, weight, workspace)


class _Contrast(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        block: torch.Tensor,
        slope: torch.Tensor,
        discriminator: torch.Tensor,
        weight: float,
        workspace: Workspace | None,
    ) -> torch.Tensor:
        n, negative = max(1, len(block)), float(slope)  # a worker may have no rows
        u = block.reshape(2 * len(block), block.shape[1] // 2)  # rows: true, corrupted, true, corrupted, ...
        h = workspace.take(u.shape, u) if workspace else torch.empty_like(u)
        c = torch.sigmoid(_activate(u, negative, h) / n)
        direction = discriminator @ c
        loss, d_scores = _score(h, direction, weight / (2 * n))
        d_direction = torch.mv(h.t(), d_scores)
        d_readout = (discriminator.t() @ d_direction) * c * (1 - c) / n  # reaches every true row by the summary
        d_slope = _pull_back(u, negative, d_scores, direction, d_readout, d_u := h)  # which is no longer needed
        ctx.save_for_backward(d_u.view(block.shape), d_slope, torch.outer(d_direction, c))
        return loss

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        saved = ctx.saved_tensors
        if float(gradient) != 1.0:  # a training step calls backward on the plain sum
            saved = [gradient * tensor for tensor in saved]
        return *saved, None, None


def _true(rows: torch.Tensor) -> torch.Tensor:
    """The true half of rows that alternate between true and corrupted."""
    return rows.view(-1, 2 * rows.shape[1])[:, : rows.shape[1]]


def cross_contrast(
    blocks: tuple[torch.Tensor, torch.Tensor],
    slopes: tuple[torch.Tensor, torch.Tensor],
    discriminator: torch.Tensor,
    workspace: Workspace | None = None,
) -> torch.Tensor:
    r"""Binary cross-entropy between the nodes of one view and the summary of the other, from "Contrastive Multi-View
    Representation Learning on Graphs" (Hassani and Khasahmadi, 2020):

    .. math::
        \mathcal{L} = -\frac{1}{4n} \sum_k \log D(h^S_k, c^A) + \log D(h^A_k, c^S)
            + \log (1 - D(\tilde h^S_k, c^A)) + \log (1 - D(\tilde h^A_k, c^S))

    with :math:`D`, :math:`c`, :math:`h = \mathrm{PReLU}(u)` and :math:`\tilde h` as in :func:`contrast`, for the views
    :math:`A` and :math:`S`. Its gradient is written out by hand for the same reason.

    Args:
        blocks: Pre-activations of each view ``(n, 2 d)``: true in the first half of the columns, corrupted in the
            second.
        slopes: Of each view's PReLU ``(1,)``.
        discriminator: The matrix :math:`W` ``(d, d)``, which the views share.
        workspace: Where the gradients are written; fresh arrays by default.

    Returns:
        The loss, a scalar.
    """
    return _CrossContrast.apply(*blocks, *slopes, discriminator, workspace)


class _CrossContrast(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        first: torch.Tensor,
        second: torch.Tensor,
        first_slope: torch.Tensor,
        second_slope: torch.Tensor,
        discriminator: torch.Tensor,
        workspace: Workspace | None,
    ) -> torch.Tensor:
        n, d = len(first), len(discriminator)
        views = [block.reshape(2 * n, d) for block in (first, second)]  # rows: true, corrupted, true, corrupted, ...
        slopes = [float(first_slope), float(second_slope)]
        hidden, summaries = [], []
        for u, slope in zip(views, slopes, strict=True):
            h = workspace.take(u.shape, u) if workspace else torch.empty_like(u)
            hidden.append(h)
            summaries.append(torch.sigmoid(_activate(u, slope, h) / n))

        loss, d_discriminator = first.new_zeros(()), torch.zeros_like(discriminator)
        directions, d_scores, d_directions = [], [], []
        for h, c in zip(hidden, reversed(summaries), strict=True):
            wc = discriminator @ c
            part, gradient = _score(h, wc, 1 / (4 * n))
            loss += part
            directions.append(wc)
            d_scores.append(gradient)
            d_directions.append(torch.mv(h.t(), d_scores[-1]))
            d_discriminator += torch.outer(d_directions[-1], c)

        d_slopes = []
        for i, (u, slope, d_u) in enumerate(zip(views, slopes, hidden, strict=True)):  # hidden rows are used up
            c = summaries[i]
            d_readout = (discriminator.t() @ d_directions[1 - i]) * c * (1 - c) / n  # the other view scores with c
            d_slopes.append(_pull_back(u, slope, d_scores[i], directions[i], d_readout, d_u))
        d_blocks = [d_u.view(n, -1) for d_u in hidden]
        ctx.save_for_backward(*d_blocks, *d_slopes, d_discriminator)
        return loss

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        saved = ctx.saved_tensors
        if float(gradient) != 1.0:
            saved = [gradient * tensor for tensor in saved]
        return *saved, None


def _activate(u: torch.Tensor, slope: float, h: torch.Tensor) -> torch.Tensor:
    """Write the PReLU of alternating rows ``(2 n, d)`` to ``h`` and return the sum of the true ones."""
    total = u.new_zeros(u.shape[1])
    for part in _row_blocks(u):
        torch.ops.aten.leaky_relu.out(u[part], slope, out=h[part])
        total += _true(h[part]).sum(0)
    return total


def _score(h: torch.Tensor, direction: torch.Tensor, factor: float) -> tuple[torch.Tensor, torch.Tensor]:
    """The loss of alternating rows ``(2 n, d)`` by their products with a direction ``(d,)``, and its gradient.

    Returns:
        ``factor`` times the sum of all cross-entropies, and its gradient with respect to each row's score ``(2 n,)``.
    """
    scores = torch.mv(h, direction)
    true, corrupted = scores.view(-1, 2).unbind(1)
    loss = factor * (F.softplus(-true).sum() + F.softplus(corrupted).sum())
    d_scores = torch.sigmoid(scores)
    d_scores.view(-1, 2)[:, 0] -= 1
    return loss, d_scores.mul_(factor)


def _pull_back(
    u: torch.Tensor,
    slope: float,
    d_scores: torch.Tensor,
    direction: torch.Tensor,
    d_readout: torch.Tensor,
    d_u: torch.Tensor,
) -> torch.Tensor:
    """Write the gradient of alternating rows ``(2 n, d)`` to ``d_u`` and return that of the slope ``(1,)``.

    Args:
        u: The pre-activations.
        slope: Of the PReLU.
        d_scores: Gradient of each row's score ``(2 n,)``.
        direction: What a row is multiplied with to give its score ``(d,)``.
        d_readout: What reaches every true row through the summary ``(d,)``.
        d_u: Where the gradient goes.
    """
    blocks = _row_blocks(u)
    scratch = torch.empty_like(u[blocks[0]])
    d_slope, negative = u.new_zeros(()), u.new_zeros(u.shape[1])
    for part in blocks:
        work = scratch[: part.stop - part.start]
        torch.clamp(u[part], max=0, out=work)
        d_slope += torch.dot(d_scores[part], torch.mv(work, direction))
        negative += _true(work).sum(0)
        torch.outer(d_scores[part], direction, out=work)
        _true(work).add_(d_readout)
        torch.ops.aten.leaky_relu_backward.grad_input(work, u[part], slope, False, grad_input=d_u[part])
    return (d_slope + torch.dot(negative, d_readout)).view(1)


def _row_blocks(u: torch.Tensor) -> list[slice]:
    """Blocks of an even number of rows that fit into a core's cache; all rows on other devices."""
    rows = max(1, len(u))  # of no rows one block without any
    step = 2 * max(1, CACHE_ENTRIES // (2 * u.shape[1])) if u.device.type == "cpu" else rows
    return [slice(start, min(start + step, rows)) for start in range(0, rows, step)]
