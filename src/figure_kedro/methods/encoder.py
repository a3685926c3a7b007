r"""The encoder that all filters share, and the model around it."""

from collections.abc import Callable, Iterator
from functools import partial
from itertools import islice
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field
from torch import nn

from figure_kedro.filters import FilterBank, Propagate
from figure_kedro.graph.row_blocks import fitting_blocks
from figure_kedro.memory import memory
from figure_kedro.methods.column_blocks import filtered_views
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.parts import Settings


class EncoderSettings(Settings):
    """The encoder; the paper's main results use one layer, shared by all filters."""

    gcn_layers: int = Field(1, ge=1, le=3, description="how often a filter is applied, each time with a layer")
    mlp_layers: int = Field(1, ge=1, le=3, description="layers of the feature transformation before the filter")
    shared: bool = Field(True, description="one encoder for all filters, or one for each")


class Encoder(nn.Module):
    r"""One graph convolution with a filter in place of the adjacency, from the FiGURe paper:

    .. math:: E(X, F_i) = \mathrm{PReLU}(F_i (X \Theta + b))

    The bias stands before the filter, as if it were the weight of a constant feature. So it costs nothing, and
    :math:`F_i X` with a column of ones is all that training on propagated rows needs. With several ``mlp_layers`` the
    linear map becomes a network; with several ``gcn_layers`` the filter is applied again after each further layer.

    Args:
        num_features: Columns of :math:`X`.
        dim: Columns of the embedding.
        settings: The number of layers.
        generator: Draws the initial weights.
    """

    def __init__(self, num_features: int, dim: int, settings: EncoderSettings, generator: torch.Generator) -> None:
        super().__init__()
        self.theta = draw_weights(num_features, dim, generator)
        self.bias = nn.Parameter(torch.zeros(dim))
        self.slope = nn.Parameter(torch.full((1,), 0.25))
        self.mlp = nn.ParameterList(draw_weights(dim, dim, generator) for _ in range(settings.mlp_layers - 1))
        self.further = nn.ParameterList(draw_weights(dim, dim, generator) for _ in range(settings.gcn_layers - 1))

    @property
    def linear(self) -> bool:
        """Whether everything before the last PReLU is linear, so that filters may be applied to features."""
        return not self.mlp and not self.further

    def linear_map(self) -> torch.Tensor:
        """The weights with the bias as last row ``(f + 1, d)``, for features with a column of ones."""
        return torch.cat([self.theta, self.bias[None]])

    def transform(self, features: FeatureMatrix | torch.Tensor) -> torch.Tensor:
        """The part before the filter: ``(n, f)`` to ``(n, d)``."""
        hidden = features @ self.theta + self.bias
        for weights in self.mlp:
            hidden = F.prelu(hidden, self.slope) @ weights
        return hidden

    def deepen(self, block: torch.Tensor, apply_filter: Propagate) -> torch.Tensor:
        """The further layers: filtered ``(n, c d)``, ``c`` blocks side by side, to the last pre-activation."""
        for weights in self.further:
            hidden = F.prelu(block, self.slope).view(-1, len(weights)) @ weights
            block = apply_filter(hidden.view_as(block))
        return block


class FigureModel(nn.Module):
    """Encoder and discriminator, shared by all filters or one pair for each filter that is trained.

    Args:
        num_features: Columns of the features.
        dim: Columns of the embedding.
        bank: The filters; those that are identities are not trained and use the first encoder.
        settings: Layers and sharing.
        generator: Draws the initial weights.
    """

    def __init__(
        self, num_features: int, dim: int, bank: FilterBank, settings: EncoderSettings, generator: torch.Generator
    ) -> None:
        super().__init__()
        self.working_blocks, self.products = bank.working_blocks, bank.products
        self.trained = tuple(i for i, identity in enumerate(bank.identities) if not identity)
        copies = 1 if settings.shared else len(self.trained)
        self.encoders: Any = nn.ModuleList(Encoder(num_features, dim, settings, generator) for _ in range(copies))
        self.discriminators: Any = nn.ParameterList(draw_weights(dim, dim, generator) for _ in range(copies))

    @property
    def one_pass(self) -> bool:
        """Whether one recurrence of the bank serves all filters."""
        return len(self.encoders) == 1 and not self.encoders[0].further

    @property
    def linear(self) -> bool:
        """Whether one linear map serves all filters up to the PReLU, so that features may be filtered first."""
        return self.one_pass and self.encoders[0].linear

    def encoder(self, index: int) -> Encoder:
        """The encoder of filter number ``index`` of the bank."""
        return self.encoders[self._copy(index)]

    def discriminator(self, index: int) -> nn.Parameter:
        return self.discriminators[self._copy(index)]

    def _copy(self, index: int) -> int:
        return 0 if len(self.encoders) == 1 or index not in self.trained else self.trained.index(index)

    @torch.no_grad()
    def embed(self, features: FeatureMatrix, propagate: Propagate, bank: FilterBank) -> Iterator[np.ndarray]:
        """Yield the embedding ``(n, d)`` under every filter of the bank, identities included, one at a time.

        Where one recurrence of the bank serves all filters the graph may be larger than memory.
        """
        if not self.one_pass:
            for index, block in self.filtered(lambda encoder: encoder.transform(features), propagate, bank):
                yield F.prelu(block, self.encoder(index).slope).numpy()
            return
        encoder = self.encoders[0]
        hidden = memory().empty((features.shape[0], encoder.theta.shape[1]))
        if features.sparse:
            hidden[:] = encoder.transform(features).numpy()
        else:
            for rows in fitting_blocks(*hidden.shape):
                hidden[rows] = encoder.transform(features.dense[rows]).numpy()
        yield from filtered_views(bank, propagate, hidden, partial(F.prelu, weight=encoder.slope))

    def filtered(
        self, start: Callable[[Encoder], torch.Tensor], propagate: Propagate, bank: FilterBank
    ) -> Iterator[tuple[int, torch.Tensor]]:
        """Yield the number and the last pre-activation of every filter.

        Args:
            start: What an encoder hands to the filters: its transformed features, or several such blocks side by side.
            propagate: Multiplies by the normalised adjacency.
            bank: The filters.
        """
        if self.one_pass:
            yield from enumerate(bank.apply(propagate, start(self.encoders[0])))
            return
        for index in range(bank.size):
            encoder = self.encoder(index)

            def apply_filter(block: torch.Tensor, index: int = index) -> torch.Tensor:
                return next(islice(bank.apply(propagate, block), index, None))

            yield index, encoder.deepen(apply_filter(start(encoder)), apply_filter)


def draw_weights(rows: int, columns: int, generator: torch.Generator) -> nn.Parameter:
    """Weights ``(rows, columns)``, uniform with Glorot's variance."""
    return nn.Parameter(nn.init.xavier_uniform_(torch.empty(rows, columns), generator=generator))
