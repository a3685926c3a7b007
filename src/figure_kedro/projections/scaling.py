"""Scaling before the map, because the width of a kernel means nothing without a scale."""

from collections.abc import Sequence
from typing import Literal, Self

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.preprocessing import normalize
from sklearn.utils.validation import check_is_fitted

from figure_kedro.errors import UserError
from figure_kedro.graph.row_blocks import fitting_blocks
from figure_kedro.memory import memory
from figure_kedro.projections.feature_map import as_rows, check_finite

BLOCK_ROWS = 8192


class ViewScaler(TransformerMixin, BaseEstimator):
    r"""Bring the embeddings under all :math:`K` filters to one common scale, :math:`e \mapsto (e - \mu) \oslash s`.

    ``"none"`` leaves them as they are, which is the paper's behaviour. Otherwise let :math:`r_i` be the root mean
    square distance of a row from the mean row of its own filter. ``"rms"`` keeps :math:`\mu = 0` and divides by one
    number,

    .. math:: s = \frac{1}{c} \Big( \prod_{i=1}^{K} r_i \Big)^{1/K}, \quad
              r_i^2 = \frac{1}{n} \sum_{u=1}^{n} \lVert E_{iu} - m_i \rVert^2

    after which the :math:`r_i` have the geometric mean :math:`c`, the ``norm``. (An arithmetic mean would follow the
    identity filter alone, whose rows are several times as far apart as the smoothed ones.) ``"standard"`` first
    centres every column and divides it by its standard deviation over all filters together, then does the same.

    Two random rows are then about :math:`\sqrt 2 c` apart and the Fourier kernel between them is about
    :math:`e^{-\gamma^2 c^2}`. With the default :math:`c = 4` the paper's range of :math:`\gamma`, 0.1 to 1.2, reaches
    from 0.85, where the map is almost linear, to nearly 0, where only the closest rows are alike, whatever the width
    and the size of the embeddings. Polynomial kernels have no width and call for :math:`c = 1`.

    ``"unit"`` divides every row of every filter by its own length and multiplies it by :math:`c`: what is left of an
    embedding is its direction. Rows of zeros stay.

    The numbers of the other two are shared by all filters, so their relative sizes survive. Constant columns are
    divided by the same number as if they varied by 1; filters with constant embeddings do not count.

    Args:
        scale: ``"none"``, ``"rms"``, ``"standard"`` or ``"unit"``.
        norm: :math:`c`, the typical distance of a row from the mean after scaling.

    Attributes:
        mean_: :math:`\mu`, ``(d,)``.
        scale_: :math:`s`, ``(d,)``.
    """

    def __init__(self, scale: Literal["none", "rms", "standard", "unit"] = "none", norm: float = 4.0) -> None:
        self.scale = scale
        self.norm = norm

    def fit(self, views: Sequence[np.ndarray | torch.Tensor], y: None = None) -> Self:
        """Measure the scale of all views together, ``K`` arrays ``(n, d)``, block by block in double precision."""
        matrices = [as_rows(view) for view in views]
        widths = {matrix.shape[1] for matrix in matrices}
        if len(widths) != 1:
            raise UserError(f"all filters must have embeddings of one width, not {sorted(widths)}")
        d = widths.pop()
        self.mean_, self.scale_ = np.zeros(d), np.ones(d)
        if self.scale in ("none", "unit"):
            return self
        if self.scale not in ("rms", "standard"):
            raise UserError(f"there is no scaling {self.scale!r}; choose one of: none, rms, standard, unit")
        means = np.stack([matrix.mean(axis=0, dtype=np.float64) for matrix in matrices])  # (K, d)
        variances = np.stack([_variance(*pair) for pair in zip(matrices, means, strict=True)])  # (K, d)
        if self.scale == "standard":
            self.mean_ = means.mean(axis=0)
            pooled = np.sqrt((variances + (means - self.mean_) ** 2).mean(axis=0))
            self.scale_ = np.where(pooled > 0, pooled, 1.0)
        distances = np.sqrt((variances / self.scale_**2).sum(axis=1))  # r_i, (K,)
        if (distances > 0).any():
            self.scale_ = self.scale_ * np.exp(np.log(distances[distances > 0]).mean()) / self.norm
        return self

    def transform(self, view: np.ndarray | torch.Tensor) -> np.ndarray:
        """Scale one view, or rows of one, ``(m, d)``, to float32 of the same shape."""
        check_is_fitted(self)
        rows = as_rows(view).astype(np.float32, copy=False)
        if self.scale == "none":
            return rows
        scaled = memory().empty(rows.shape)
        for part in fitting_blocks(*rows.shape):
            scaled[part] = self._scaled(rows[part])
        return scaled

    def _scaled(self, rows: np.ndarray) -> np.ndarray:
        if self.scale == "unit":
            return np.float32(self.norm) * normalize(rows)
        return (rows - self.mean_.astype(np.float32)) / self.scale_.astype(np.float32)


def _variance(matrix: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Variance of each column ``(d,)`` about its mean."""
    total = np.zeros(len(mean))
    for start in range(0, len(matrix), BLOCK_ROWS):
        block = matrix[start : start + BLOCK_ROWS]
        check_finite(block, start)
        total += np.square(block - mean).sum(axis=0)
    return total / len(matrix)
