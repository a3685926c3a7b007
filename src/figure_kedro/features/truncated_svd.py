"""The leading singular triples of a sparse matrix."""

import math
from functools import partial

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.features.tall import Tall, tall
from figure_kedro.filters import to_torch
from figure_kedro.graph.transpose import transposed

OVERSAMPLING = 16  # columns carried beside those wanted, so that the last ones converge too
ROUNDS = 3
DEGREE = 8
GROWTH = 1e15  # the filter multiplies the largest direction by at most so much, which float32 holds
NEGLIGIBLE = 1e-5  # singular values below this are rounding errors of float32


def truncated_svd(matrix: sp.csr_array, rank: int, seed: int) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    r"""Chebyshev-filtered subspace iteration, after "Self-consistent-field calculations using Chebyshev-filtered
    subspace iteration" (Zhou et al., 2006):

    .. math:: Q \leftarrow \mathrm{orth}\left(T_p\left(\tfrac{2}{a} A A^T - I\right) Q\right), \quad
        A^T Q = V \Sigma W^T, \quad U = Q W

    The Chebyshev polynomial :math:`T_p` stays within [-1, 1] on the squared singular values below :math:`a`, the
    smallest that the current block :math:`Q` has found, and grows fast above it. The spectrum of a large graph falls so
    slowly that plain powers of :math:`A A^T` would need several times the products. The first block is
    :math:`A \Omega` with :math:`\Omega` random and a few columns wider than wanted.

    Blocks that are too large for memory lie in files (:mod:`figure_kedro.features.tall`); the triples are then the same
    up to rounding.

    Args:
        matrix: float32 CSR :math:`A` ``(n, n)`` with singular values of at most 1, as a normalised adjacency has.
        rank: How many triples, at most ``n``.
        seed: Of the random block.

    Returns:
        :math:`U` ``(n, rank)``, the singular values in falling order ``(rank,)``, and :math:`V` ``(n, rank)``.
        Vectors of singular values that are zero up to rounding are zero.
    """
    n = matrix.shape[0]
    width = min(n, rank + OVERSAMPLING)
    forward = to_torch(matrix)
    backward = to_torch(transposed(matrix))
    blocks = tall(n, width)
    start = blocks.normal(n, width, torch.Generator().manual_seed(seed))
    left, values, right = _ritz(blocks, backward, blocks.by_columns(lambda x: forward @ x, start))
    for _ in range(ROUNDS):
        cut = float(values[-1]) ** 2
        if cut < NEGLIGIBLE:  # the block holds all there is
            break
        filtered = blocks.by_columns(partial(_filter, forward, backward, cut), left)
        left, values, right = _ritz(blocks, backward, filtered)
    kept = values[:rank] > NEGLIGIBLE
    return blocks.leading(left, kept).numpy(), (values[:rank] * kept).numpy(), blocks.leading(right, kept).numpy()


def _ritz(blocks: Tall, backward: torch.Tensor, block: torch.Tensor) -> tuple[torch.Tensor, torch.Tensor, torch.Tensor]:
    """The best approximations of ``U, Sigma, V`` within the span of a block."""
    basis = blocks.orthonormal(block)
    image = blocks.by_columns(lambda x: backward @ x, basis)  # A^T Q = V Sigma W^T
    squares, rotation = (part.flip(-1) for part in torch.linalg.eigh(blocks.gram(image)))
    values = squares.clamp(min=0).sqrt().float()
    rotation = rotation.float()
    left = blocks.rotated(basis, rotation, torch.ones_like(values))
    return left, values, blocks.rotated(image, rotation, values.clamp(min=NEGLIGIBLE))


def _filter(forward: torch.Tensor, backward: torch.Tensor, cut: float, block: torch.Tensor) -> torch.Tensor:
    def shifted(x: torch.Tensor) -> torch.Tensor:
        return (forward @ (backward @ x)).mul_(2 / cut).sub_(x)

    before, now = block, shifted(block)
    degree = min(DEGREE, int(math.log(GROWTH) / math.acosh(max(2 / cut - 1, 1 + 1e-9))))
    for _ in range(degree - 1):
        before, now = now, shifted(now).mul_(2).sub_(before)
    return now
