"""The embeddings under all filters, projected when they are asked for."""

from collections.abc import Sequence

import numpy as np
import torch

from figure_kedro.projections import ProjectionSettings, ViewScaler, build_projection


class Views:
    """Embeddings of the nodes that are judged, under every filter, through a random feature map of any ``gamma``.

    Only the last projection is kept, so that at most one projected copy exists at a time.

    Args:
        embeddings: ``K`` arrays ``(n, d)``.
        projection: The map; its ``gamma`` may be replaced in :meth:`projected`.
        scaler: What comes before the map, fitted; by default it is fitted on these embeddings.
        names: Of the filters; numbers by default.
    """

    def __init__(
        self,
        embeddings: Sequence[np.ndarray],
        projection: ProjectionSettings,
        scaler: ViewScaler | None = None,
        names: Sequence[str] | None = None,
    ) -> None:
        self.names = tuple(names or map(str, range(len(embeddings))))
        self._embeddings = embeddings
        self._scaler = scaler or ViewScaler(projection.scale, projection.norm).fit(embeddings)
        self._projection = projection
        self._last: tuple[float, list[torch.Tensor]] | None = None

    def __len__(self) -> int:
        return len(self._embeddings)

    @property
    def has_gamma(self) -> bool:
        """Whether the map depends on ``gamma``."""
        return self._projection.map == "fourier"

    def projected(self, gamma: float | None = None) -> list[torch.Tensor]:
        """All views ``(n, D)``, float32."""
        gamma = self._projection.gamma if gamma is None else gamma
        if self._last is None or self._last[0] != gamma:
            self._last = None  # free the old one first
            settings = self._projection.model_copy(update={"gamma": gamma})
            feature_map = build_projection(settings).fit(self._embeddings[0])
            scaled = (self._scaler.transform(view) for view in self._embeddings)
            self._last = gamma, [torch.as_tensor(feature_map.transform(view)) for view in scaled]
        return self._last[1]
