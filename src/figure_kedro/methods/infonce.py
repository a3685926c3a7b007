r"""The InfoNCE loss between two views of the same nodes, in tiles, with its gradient."""

from collections.abc import Iterator
from typing import Any

import torch
import torch.nn.functional as F

NORM_FLOOR = 1e-6
"""Rows shorter than this are not stretched to unit length, so that a row of zeros has a bounded gradient."""


def info_nce(first: torch.Tensor, second: torch.Tensor, temperature: float, block_rows: int) -> torch.Tensor:
    r"""The contrast of "Deep Graph Contrastive Representation Learning" (Zhu et al., 2020), both directions averaged:

    .. math::
        \mathcal{J} = \frac{1}{2n} \sum_i \ell(u_i, v_i) + \ell(v_i, u_i), \quad
        \ell(u_i, v_i) = -\log \frac{e^{\theta(u_i, v_i) / \tau}}
            {\sum_j e^{\theta(u_i, v_j) / \tau} + \sum_{j \ne i} e^{\theta(u_i, u_j) / \tau}}

    with the cosine :math:`\theta`, rows :math:`u_i` of the first view, :math:`v_i` of the second one and temperature
    :math:`\tau`. With the views one below the other, :math:`z = (u, v) / \sqrt\tau` with rows of unit length before
    the division, every denominator is a row sum of :math:`E = \exp(z z^T)` without its diagonal:

    .. math::
        \mathcal{J} = \frac{1}{2n} \sum_k \log d_k - \frac{1}{n} \sum_i z_i \cdot z_{n+i}, \quad d = E 1, \quad
        \frac{\partial \mathcal{J}}{\partial z_k} = \frac{1}{2n} \sum_l E_{kl} (d_k^{-1} + d_l^{-1}) z_l
            - \frac{1}{n} z_{k \pm n}

    :math:`E` is symmetric, so only tiles of its upper half are computed, once for :math:`d` and once for the gradient:
    :math:`8 n^2 p` multiplications, against :math:`12 n^2 p` if each row were finished at once. One tile is held at a
    time, and it stays in the cache.

    Args:
        first: The first view ``(n, p)``.
        second: The second view ``(n, p)``.
        temperature: At least 0.05, where exponentials are far from the ends of single precision.
        block_rows: Rows and columns of a tile.

    Returns:
        The loss, a scalar.
    """
    z = F.normalize(torch.cat([first, second]), dim=1, eps=NORM_FLOOR) / temperature**0.5
    return _InfoNce.apply(z, block_rows)


class _InfoNce(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, z: torch.Tensor, block_rows: int) -> torch.Tensor:
        n = len(z) // 2
        d = z.new_zeros(2 * n)
        for rows, columns, tile in _tiles(z, block_rows):
            d[rows] += tile.sum(1)
            if rows != columns:
                d[columns] += tile.sum(0)
        loss = d.log().mean() - torch.dot(z[:n].reshape(-1), z[n:].reshape(-1)) / n

        weights = 1 / d
        gradient = torch.roll(z, n, 0).mul_(-2)  # the positive of row k is row k + n, counted round
        for rows, columns, tile in _tiles(z, block_rows):
            tile *= weights[rows, None] + weights[columns]
            gradient[rows].addmm_(tile, z[columns])
            if rows != columns:
                gradient[columns].addmm_(tile.t(), z[rows])
        ctx.save_for_backward(gradient.div_(2 * n))
        return loss

    @staticmethod
    def backward(ctx: Any, scale: torch.Tensor) -> tuple[torch.Tensor, None]:
        (gradient,) = ctx.saved_tensors
        return scale * gradient, None


def _tiles(z: torch.Tensor, size: int) -> Iterator[tuple[slice, slice, torch.Tensor]]:
    """Yield rows, columns and tiles of the upper half of :math:`E`, all in one array that the next tile overwrites."""
    parts = [slice(start, min(start + size, len(z))) for start in range(0, len(z), size)]
    buffer = z.new_empty(min(size, len(z)) ** 2)
    for i, rows in enumerate(parts):
        for columns in parts[i:]:
            height, width = rows.stop - rows.start, columns.stop - columns.start
            tile = buffer[: height * width].view(height, width)
            torch.mm(z[rows], z[columns].t(), out=tile).exp_()
            if rows == columns:
                tile.fill_diagonal_(0)
            yield rows, columns, tile
