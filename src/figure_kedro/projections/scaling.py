"""Scaling before the map, because the width of a kernel means nothing without a scale."""

from collections.abc import Sequence
from typing import Literal

import numpy as np
import torch
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from figure_kedro.errors import UserError
from figure_kedro.projections.feature_map import as_rows, check_finite

BLOCK_ROWS = 8192


class ViewScaler(TransformerMixin, BaseEstimator):
    r"""Bring the embeddings under all :math:`K` filters to one common scale:

    .. math:: e \mapsto (e - \mu) \oslash s

    ``"none"`` leaves them as they are, which is the paper's behaviour. ``"rms"`` keeps :math:`\mu = 0` and divides by
    one number, the root mean square distance of a row from the mean :math:`m_i` of its own filter,

    .. math:: s^2 = \frac{1}{K n} \sum_{i=1}^{K} \sum_{u=1}^{n} \lVert E_{iu} - m_i \rVert^2

    so that two random rows under one filter are :math:`\sqrt 2` apart in the root mean square and the Fourier kernel
    between them is about :math:`e^{-\gamma^2}`: 0.99 at :math:`\gamma = 0.1`, 0.24 at :math:`\gamma = 1.2`, whatever
    the width and the size of the embeddings. ``"standard"`` centres every column and divides it by its standard
    deviation over all filters together, times :math:`\sqrt d`, which gives the same root mean square.

    The numbers are shared by all filters, so their relative sizes survive. A constant column (or, for ``"rms"``,
    constant embeddings) is divided by 1.

    Args:
        scale: ``"none"``, ``"rms"`` or ``"standard"``.

    Attributes:
        mean_: :math:`\mu`, ``(d,)``.
        scale_: :math:`s`, ``(d,)``.
    """

    def __init__(self, scale: Literal["none", "rms", "standard"] = "none") -> None:
        self.scale = scale

    def fit(self, views: Sequence[np.ndarray | torch.Tensor], y: None = None) -> "ViewScaler":
        """Measure the scale of all views together, ``K`` arrays ``(n, d)``, block by block in double precision."""
        matrices = [as_rows(view) for view in views]
        widths = {matrix.shape[1] for matrix in matrices}
        if len(widths) != 1:
            raise UserError(f"all filters must have embeddings of one width, not {sorted(widths)}")
        d = widths.pop()
        self.mean_, self.scale_ = np.zeros(d), np.ones(d)
        if self.scale == "rms":
            squares = sum(_squared_deviations(m, m.mean(axis=0, dtype=np.float64)).sum() for m in matrices)
            self.scale_ = np.full(d, _root(squares / sum(map(len, matrices))))
        elif self.scale == "standard":
            count = sum(map(len, matrices))
            self.mean_ = sum(m.sum(axis=0, dtype=np.float64) for m in matrices) / count
            squares = sum(_squared_deviations(m, self.mean_) for m in matrices)
            self.scale_ = _root(squares / count) * np.sqrt(d)
        elif self.scale != "none":
            raise UserError(f"there is no scaling {self.scale!r}; choose one of: none, rms, standard")
        return self

    def transform(self, view: np.ndarray | torch.Tensor) -> np.ndarray:
        """Scale one view, or rows of one, ``(m, d)``, to float32 of the same shape."""
        check_is_fitted(self)
        rows = as_rows(view).astype(np.float32, copy=False)
        if self.scale == "none":
            return rows
        return (rows - self.mean_.astype(np.float32)) / self.scale_.astype(np.float32)


def _squared_deviations(matrix: np.ndarray, mean: np.ndarray) -> np.ndarray:
    """Sum of squares of each centred column ``(d,)``."""
    total = np.zeros(len(mean))
    for start in range(0, len(matrix), BLOCK_ROWS):
        block = matrix[start : start + BLOCK_ROWS]
        check_finite(block, start)
        total += np.square(block - mean).sum(axis=0)
    return total


def _root(squares: np.ndarray) -> np.ndarray:
    root = np.sqrt(squares)
    return np.where(root > 0, root, 1.0)
