r"""The skip-gram model with negative sampling, trained on batches of random walks."""

from collections.abc import Callable, Iterator
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import nn

from figure_kedro.methods.method import TrainedSettings

Walk = Callable[[torch.Tensor, torch.Generator], torch.Tensor]
"""Makes walks ``(b, l)`` from their first nodes ``(b,)``; positions after the end of a walk are negative."""

SHARING, SHARED = 80, 16
"""About so many neighbouring positions share so many negative samples."""

WALKS = 2**14
"""Walks that are made at once, for several steps if need be: a look-up is quicker in company."""

CACHE_ENTRIES = 2**18
"""Entries of gathered rows that stay in a core's cache while several operations pass over them."""


class WalkSettings(TrainedSettings):
    """Walks, and the skip-gram model on them."""

    length: int = Field(10, ge=2, description="nodes of a walk, the first one included")
    per_node: int = Field(2, ge=1, description="walks from each node per epoch")
    window: int = Field(5, ge=1, description="nodes before and after that count as context")
    negatives: int = Field(5, ge=1, description="negative samples per positive pair")
    batch: int = Field(1024, ge=1, description="walks per step")


class SkipGram(nn.Module):
    """Two vectors for each node, as the centre of a window and as its context; the first is the embedding.

    Embeddings begin small and contexts at zero, as in word2vec, so that all scores begin at zero.

    Args:
        num_nodes: Rows.
        dim: Columns of the embedding.
        generator: Draws the initial embeddings.
    """

    def __init__(self, num_nodes: int, dim: int, generator: torch.Generator) -> None:
        super().__init__()
        self.embeddings = nn.Parameter((torch.rand(num_nodes, dim, generator=generator) - 0.5) / dim)
        self.contexts = nn.Parameter(torch.zeros(num_nodes, dim))


class SkipGramObjective:
    """The skip-gram loss on fresh walks; an epoch takes ``per_node`` walks from every start, in random order.

    Args:
        module: The vectors to train.
        walk: Makes the walks.
        starts: Nodes that walks start from ``(m,)``, each with an outgoing edge.
        visits: How often walks visit each node ``(n,)``. Negatives are drawn in proportion to its power 0.75, as
            word2vec does with the counts of words; a node that no walk visits is never one.
        settings: Batch, window and number of negatives.
    """

    def __init__(
        self, module: SkipGram, walk: Walk, starts: torch.Tensor, visits: np.ndarray, settings: WalkSettings
    ) -> None:
        self.module, self._walk, self._starts, self._settings = module, walk, starts, settings
        noise = np.cumsum(np.asarray(visits, dtype=np.float64) ** 0.75)
        self._noise = torch.from_numpy(noise / noise[-1])

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        settings, module = self._settings, self.module
        starts = self._starts.repeat(settings.per_node)
        starts = starts[torch.randperm(len(starts), generator=generator)]
        for block in _equal_parts(starts, max(settings.batch, WALKS)):
            for walks in _equal_parts(self._walk(block, generator), settings.batch):
                noise = self._draw(groups_of(*walks.shape), generator)
                yield skip_gram_loss(
                    module.embeddings, module.contexts, walks, noise, settings.window, settings.negatives
                )

    def _draw(self, groups: int, generator: torch.Generator) -> torch.Tensor:
        drawn = torch.rand(groups, SHARED, dtype=torch.float64, generator=generator)
        return torch.searchsorted(self._noise, drawn, right=True)


def _equal_parts(rows: torch.Tensor, most: int) -> tuple[torch.Tensor, ...]:
    """Parts of at most so many rows, none much shorter than another: a short one would be a noisy step."""
    return rows.tensor_split(-(-len(rows) // most))


def groups_of(walks: int, length: int) -> int:
    """Into how many groups that share negatives a batch is cut."""
    return -(-walks // max(1, SHARING // length))


def skip_gram_loss(
    embeddings: torch.Tensor,
    contexts: torch.Tensor,
    walks: torch.Tensor,
    noise: torch.Tensor,
    window: int,
    negatives: int,
) -> torch.Tensor:
    r"""The loss of "Distributed Representations of Words and Phrases and their Compositionality" (Mikolov et al.,
    2013) with walks :math:`x_1, \dots, x_l` for sentences, averaged over walks:

    .. math::
        \mathcal{L} = -\sum_{0 < |i - j| \le w} \Big( \log \sigma(u_{x_i} \cdot v_{x_j})
            + \frac{k}{|S|} \sum_{s \in S} \log \sigma(-u_{x_i} \cdot v_s) \Big)

    :math:`u` are embeddings, :math:`v` contexts, :math:`w` is the window, and :math:`S` a set of drawn nodes that
    stands for the :math:`k` negatives of each pair, the same number in expectation. Neighbouring walks share a set, so
    that scores are matrix products.

    The gradient is written out by hand and found in the same sweep, in blocks that fit into a core's cache: automatic
    differentiation would write and read every gathered row several times.

    Args:
        embeddings: All :math:`u`, ``(n, d)``.
        contexts: All :math:`v`, ``(n, d)``.
        walks: Nodes ``(b, l)``; negative numbers stand for no node.
        noise: The sets, ``(g, s)``; group number ``i`` of ``ceil(b / g)`` walks has row ``i``.
        window: Positions before and after that count as context.
        negatives: The number :math:`k`.

    Returns:
        A scalar.
    """
    return _SkipGramLoss.apply(embeddings, contexts, walks, noise, window, negatives)


class _SkipGramLoss(torch.autograd.Function):
    @staticmethod
    def forward(
        ctx: Any,
        embeddings: torch.Tensor,
        contexts: torch.Tensor,
        walks: torch.Tensor,
        noise: torch.Tensor,
        window: int,
        negatives: int,
    ) -> torch.Tensor:
        device, d = embeddings.device, embeddings.shape[1]
        (b, length), (g, s) = walks.shape, noise.shape
        size = -(-b // g)
        walks = F.pad(walks, (0, 0, 0, g * size - b), value=-1).to(device).view(g, size, length)
        noise = noise.to(device)
        position = torch.arange(length, device=device)
        distance = (position[:, None] - position).abs()
        band = (distance > 0) & (distance <= window)

        loss = embeddings.new_zeros(())
        d_embeddings, d_contexts = torch.zeros_like(embeddings), torch.zeros_like(contexts)
        step = max(1, CACHE_ENTRIES // (size * length * d)) if device.type == "cpu" else g
        for nodes, drawn in zip(walks.split(step), noise.split(step), strict=True):
            alive = nodes.view(-1, length) >= 0
            nodes, drawn = nodes.reshape(-1).clamp(min=0), drawn.reshape(-1)
            pairs = (band & alive[:, :, None] & alive[:, None, :]).to(embeddings.dtype)  # (walks, length, length)
            weight = pairs.sum(2).view(-1, size * length, 1) * (negatives / s)
            u = embeddings[nodes].view(-1, length, d)
            v = contexts[nodes].view(-1, length, d)
            v_noise = contexts[drawn].view(-1, s, d)
            u_group = u.view(-1, size * length, d)

            positive = torch.bmm(u, v.mT)  # (walks, length, length)
            negative = torch.bmm(u_group, v_noise.mT)  # (groups, size length, s)
            loss += torch.sum(pairs * F.softplus(-positive)) + torch.sum(weight * F.softplus(negative))

            d_positive = pairs * torch.sigmoid(-positive) / -b
            d_negative = weight * torch.sigmoid(negative) / b
            d_u = torch.bmm(d_positive, v).view_as(u_group).baddbmm_(d_negative, v_noise)
            d_embeddings.index_add_(0, nodes, d_u.view(-1, d))
            d_contexts.index_add_(0, nodes, torch.bmm(d_positive.mT, u).view(-1, d))
            d_contexts.index_add_(0, drawn, torch.bmm(d_negative.mT, u_group).view(-1, d))
        ctx.save_for_backward(d_embeddings, d_contexts)
        return loss / b

    @staticmethod
    def backward(ctx: Any, gradient: torch.Tensor) -> tuple[torch.Tensor | None, ...]:
        d_embeddings, d_contexts = ctx.saved_tensors
        if float(gradient) != 1.0:  # a training step calls backward on the plain loss
            d_embeddings, d_contexts = gradient * d_embeddings, gradient * d_contexts
        return d_embeddings, d_contexts, None, None, None, None
