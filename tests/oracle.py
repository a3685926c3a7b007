r"""A literal rendering of the FiGURe paper's equations, slow and plain, that the fast one is compared with.

Filters are dense matrices, every filter meets the true and the corrupted features in a product of its own, the
discriminator is a full bilinear form at every node, and gradients are left to automatic differentiation.
"""

from math import comb

import torch
import torch.nn.functional as F

from figure_kedro.methods.encoder import Encoder, FigureModel


def dense_operator(adjacency: torch.Tensor, self_loops: bool) -> torch.Tensor:
    r""":math:`A_n = D^{-1/2} (A + I) D^{-1/2}` ``(n, n)``, zero in the rows and columns of nodes without degree."""
    matrix = adjacency + torch.eye(len(adjacency), dtype=adjacency.dtype) if self_loops else adjacency
    out_degree, in_degree = (matrix.sum(axis).pow(-0.5).nan_to_num(posinf=0.0) for axis in (1, 0))
    return out_degree[:, None] * matrix * in_degree[None, :]


def dense_filters(operator: torch.Tensor, bank: str, size: int) -> list[torch.Tensor]:
    """The filters of a bank as matrices ``(n, n)``, written as in the papers that they come from."""
    identity = torch.eye(len(operator), dtype=operator.dtype)
    laplacian = identity - operator
    power = torch.linalg.matrix_power
    if bank == "monomial":
        return [power(operator, i) for i in range(size)]
    if bank == "bernstein":
        k = size - 1
        return [comb(k, i) / 2**k * power(2 * identity - laplacian, k - i) @ power(laplacian, i) for i in range(size)]
    assert bank == "chebyshev"
    filters = [identity, laplacian - identity]
    while len(filters) < size:
        filters.append(2 * (laplacian - identity) @ filters[-1] - filters[-2])
    return filters[:size]


def dense_words(operator: torch.Tensor, size: int) -> list[torch.Tensor]:
    """All products of fewer than ``size`` factors, each the operator or its transpose; shorter ones first."""
    words, last = [], [torch.eye(len(operator), dtype=operator.dtype)]
    for _ in range(size):
        words += last
        last = [letter @ word for letter in (operator, operator.t()) for word in last]
    return words


def oracle_loss(
    model: FigureModel, features: torch.Tensor, filters: list[torch.Tensor], order: torch.Tensor
) -> torch.Tensor:
    """The paper's total loss, differentiable in the parameters of the model.

    Args:
        model: Only its parameters are used.
        features: Dense ``(n, f)``; their type is that of the computation.
        filters: Dense matrices ``(n, n)``.
        order: The row permutation ``(n,)`` that corrupts the features.
    """
    identity = torch.eye(len(features), dtype=features.dtype)
    trained = [i for i, matrix in enumerate(filters) if not torch.equal(matrix, identity)]
    losses = []
    for position, i in enumerate(trained):
        copy = position if len(model.encoders) > 1 else 0
        h = encode(model.encoders[copy], features, filters[i])
        corrupted = encode(model.encoders[copy], features[order], filters[i])
        c = torch.sigmoid(h.mean(0)).expand_as(h)
        w = model.discriminators[copy].to(features.dtype)[None]
        scores = torch.cat([F.bilinear(h, c, w), F.bilinear(corrupted, c, w)])
        targets = torch.cat([torch.ones(len(h), 1), torch.zeros(len(h), 1)]).to(features.dtype)
        losses.append(F.binary_cross_entropy_with_logits(scores, targets))
    return sum(losses) / len(losses)


def encode(encoder: Encoder, features: torch.Tensor, matrix: torch.Tensor) -> torch.Tensor:
    """The embedding ``(n, d)`` under one filter."""
    theta, bias, slope = (p.to(features.dtype) for p in (encoder.theta, encoder.bias, encoder.slope))
    hidden = features @ theta + bias
    for weights in encoder.mlp:
        hidden = prelu(hidden, slope) @ weights.to(features.dtype)
    hidden = prelu(matrix @ hidden, slope)
    for weights in encoder.further:
        hidden = prelu(matrix @ (hidden @ weights.to(features.dtype)), slope)
    return hidden


def prelu(x: torch.Tensor, slope: torch.Tensor) -> torch.Tensor:
    return torch.where(x > 0, x, slope * x)
