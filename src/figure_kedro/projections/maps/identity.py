"""No projection at all."""

from typing import Any, Literal, Self

import numpy as np
import torch
from sklearn.utils.validation import check_is_fitted

from figure_kedro.graph.row_blocks import fitting_blocks
from figure_kedro.projections.feature_map import MAPS, FeatureMap, ProjectionSettings, check_finite


class IdentitySettings(ProjectionSettings):
    """The embeddings as they are."""

    map: Literal["identity"] = "identity"


@MAPS.register
class Identity(FeatureMap):
    r"""The identity, :math:`\phi(x) = x`: the linear kernel :math:`k(x, y) = x \cdot y`, exactly.

    A float32 array comes back as the same object.
    """

    Settings = IdentitySettings

    def transform(self, X: np.ndarray | torch.Tensor) -> np.ndarray:
        check_is_fitted(self)
        rows = self._rows(X).astype(np.float32, copy=False)
        for part in fitting_blocks(*rows.shape):
            check_finite(rows[part], part.start)
        return rows

    @classmethod
    def from_settings(cls, settings: IdentitySettings, **choice: Any) -> Self:
        return cls()

    def _draw(self, d: int) -> int:
        return d

    def _features(self, rows: np.ndarray) -> np.ndarray:
        return rows
