"""No projection at all."""

import numpy as np
import torch

from figure_kedro.projections.feature_map import FeatureMap, as_rows, check_finite


class Map(FeatureMap):
    r"""The identity, :math:`\phi(x) = x`: the linear kernel :math:`k(x, y) = x \cdot y`, exactly.

    A float32 array comes back as the same object.
    """

    def transform(self, X: np.ndarray | torch.Tensor) -> np.ndarray:
        rows = as_rows(X).astype(np.float32, copy=False)
        check_finite(rows)
        return rows

    def _draw(self, d: int) -> int:
        return d

    def _features(self, rows: np.ndarray) -> np.ndarray:
        return rows
