"""FiGURe's training step on sampled nodes, the paper's protocol."""

from collections.abc import Iterator
from typing import Literal

import numpy as np
import scipy.sparse as sp
import torch
from pydantic import Field

from figure_kedro.filters import FilterBank
from figure_kedro.graph.graph import Features
from figure_kedro.methods.encoder import Encoder, FigureModel
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.filter_order import transformed_pair
from figure_kedro.methods.full import average_contrast
from figure_kedro.methods.induced import induced_filters
from figure_kedro.parts import Settings


class SampledSettings(Settings):
    """The paper's protocol: every step sees a few nodes and the filters induced on them."""

    size: int = Field(2000, ge=2, description="nodes per sample; the paper searches 1500 to 2250, 5000 on arXiv")
    batch: int = Field(2, ge=1, description="samples per step")
    nodes: Literal["windows", "random"] = Field("windows", description="contiguous node numbers, or any")


class SampledObjective:
    """The average loss over filters and samples; a sample sees the entries of each filter between its own nodes.

    The sub-filters are exact: paths through nodes outside the sample count, as they do when powers of the whole matrix
    are cut. A graph with fewer nodes than a sample is taken whole.

    Args:
        module: The model to train; its further layers, if any, use the same sub-filters.
        features: Of all nodes.
        matrix: The normalised adjacency.
        bank: The filters.
        settings: Size, number and kind of samples.
        symmetric: Whether the matrix equals its transpose.
    """

    def __init__(
        self,
        module: FigureModel,
        features: Features,
        matrix: sp.csr_array,
        bank: FilterBank,
        settings: SampledSettings,
        symmetric: bool = True,
    ) -> None:
        self.module = module
        self._features, self._matrix, self._bank, self._settings = features, matrix, bank, settings
        self._symmetric = symmetric

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        samples = [self._sample(generator) for _ in range(self._settings.batch)]
        yield torch.stack([self._loss(nodes, generator) for nodes in samples]).mean()

    def _sample(self, generator: torch.Generator) -> np.ndarray:
        n = self._matrix.shape[0]
        size = min(self._settings.size, n)
        if self._settings.nodes == "random":
            return torch.randperm(n, generator=generator)[:size].numpy()
        start = int(torch.randint(n - size + 1, (1,), generator=generator))
        return np.arange(start, start + size)

    def _loss(self, nodes: np.ndarray, generator: torch.Generator) -> torch.Tensor:
        device = self.module.encoders[0].theta.device
        induced = induced_filters(self._matrix, self._bank, nodes, symmetric=self._symmetric)
        filters = [FeatureMatrix(matrix, device, symmetric=self._symmetric) for matrix in induced]
        features = FeatureMatrix(self._features[nodes], device)
        order = torch.randperm(len(nodes), generator=generator).to(device)

        def both(encoder: Encoder) -> torch.Tensor:
            return transformed_pair(encoder.transform(features), order)

        def blocks() -> Iterator[tuple[int, torch.Tensor]]:
            for index in self.module.trained:
                encoder = self.module.encoder(index)
                yield index, encoder.deepen(filters[index] @ both(encoder), filters[index].__matmul__)

        return average_contrast(self.module, blocks())
