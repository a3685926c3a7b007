"""What every random feature map can do."""

from abc import ABC, abstractmethod
from collections.abc import Collection, Iterator, Sequence
from typing import Any, Literal, Self

import numpy as np
import torch
from pydantic import Field
from sklearn.base import BaseEstimator, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.utils import Tags
from sklearn.utils.validation import check_is_fitted, validate_data

from figure_kedro.errors import UserError
from figure_kedro.memory import memory
from figure_kedro.parts import Kind, Part, Settings

BLOCK_ENTRIES = 1 << 22
"""How many entries of the result are computed at a time: 16 MB of float32, whatever the width of the map."""


class ProjectionSettings(Settings):
    """Which map the embeddings go through, and how they are scaled before it: the settings that all maps share."""

    map: str = Field(description="name of the map")
    scale: Literal["none", "rms", "standard", "unit"] = Field(
        "none",
        description="scaling before the map; none is the paper's behaviour, rms and standard have one scale for all "
        "filters together, unit gives every row of every filter one length",
    )
    norm: float = Field(
        4.0, gt=0, description="typical length of a scaled row; 4 suits the paper's gammas, 1 a polynomial kernel"
    )

    def idle(self) -> Collection[str]:
        return {"norm"} if self.scale == "none" else ()


class RandomMapSettings(ProjectionSettings):
    """What a random map has beside that."""

    dim: int = Field(512, ge=1, description="number of random features D")
    seed: int = Field(0, ge=0, le=2**32 - 1, description="seed of the map; every filter goes through the same one")


class FeatureMap(Part, ClassNamePrefixFeaturesOutMixin, TransformerMixin, BaseEstimator, ABC):
    r"""A map :math:`\phi` from :math:`\mathbb{R}^d` to :math:`\mathbb{R}^D` whose inner products stand for a kernel,
    :math:`\phi(x) \cdot \phi(y) \approx k(x, y)`.

    It is drawn from :math:`d` and the random state alone, so a map that was fitted on the embeddings under one filter
    serves every other filter. A new map is one new file in ``figure_kedro/projections/maps`` with its settings and a
    class that registers itself.

    Attributes:
        n_features_in_: The input dimension :math:`d`.
        n_features_out_: The output dimension :math:`D`.
    """

    @classmethod
    def choices(cls, settings: Any) -> dict[str, Sequence[Any]]:
        """Arguments of the map that are chosen on validation, with the values to try; none for most maps."""
        return {}

    @classmethod
    @abstractmethod
    def from_settings(cls, settings: Any, **choice: Any) -> Self:
        """Build the map with one of its :meth:`choices`; without one, a sensible value is taken."""

    def fit(self, X: np.ndarray | torch.Tensor, y: None = None) -> Self:
        """Draw the map for inputs as wide as ``X`` ``(n, d)``; its values are checked and otherwise not used."""
        return self.draw(self._rows(X, reset=True).shape[1])

    def draw(self, d: int) -> Self:
        """Draw the map for inputs of ``d`` columns, without any."""
        self.n_features_in_ = d
        self.n_features_out_ = self._draw(d)
        return self

    @property
    def _n_features_out(self) -> int:
        return self.n_features_out_

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.transformer_tags.preserves_dtype = []  # float32 whatever comes in
        return tags

    def transform(self, X: np.ndarray | torch.Tensor) -> np.ndarray:
        """Map rows ``(n, d)`` to ``(n, D)``, float32.

        Raises:
            UserError: If an entry is not finite, or its features are too large for float32.
        """
        check_is_fitted(self)
        rows = self._rows(X)
        mapped = memory().empty((len(rows), self.n_features_out_))
        for part, block in self.blocks(rows):
            mapped[part] = block
        return mapped

    def blocks(self, X: np.ndarray | torch.Tensor) -> Iterator[tuple[slice, np.ndarray]]:
        """Yield consecutive row slices and their features, so that a long result need never be held whole."""
        check_is_fitted(self)
        yield from self._blocks(self._rows(X))

    def _blocks(self, rows: np.ndarray) -> Iterator[tuple[slice, np.ndarray]]:
        step = max(1, BLOCK_ENTRIES // self.n_features_out_)
        for start in range(0, len(rows), step):
            part = slice(start, min(start + step, len(rows)))
            block = np.ascontiguousarray(rows[part], dtype=np.float32)
            check_finite(block, start)
            with np.errstate(over="ignore", invalid="ignore"):
                features = self._features(block)
            if not np.isfinite(features).all():
                raise UserError(
                    f"the random features of rows {part.start} to {part.stop - 1} overflow; "
                    "set projection.scale to 'rms' or lower the degree"
                )
            yield part, features

    def _rows(self, X: Any, *, reset: bool = False) -> np.ndarray:
        """A matrix as wide as this map takes; its entries are read only where the map is fitted on it."""
        X = as_rows(X) if isinstance(X, torch.Tensor) else X
        try:
            return validate_data(
                self, X, reset=reset, dtype="numeric", ensure_all_finite=reset, ensure_min_samples=int(reset)
            )
        except ValueError as error:
            raise UserError(" ".join(str(error).split())) from error

    @abstractmethod
    def _draw(self, d: int) -> int:
        """Set the fitted arrays for inputs ``(n, d)`` and return the output dimension."""

    @abstractmethod
    def _features(self, rows: np.ndarray) -> np.ndarray:
        """Map finite float32 rows ``(m, d)`` to ``(m, D)``."""


MAPS: Kind[FeatureMap] = Kind("projection", tag="map", package="figure_kedro.projections.maps", default="identity")


def as_rows(X: np.ndarray | torch.Tensor) -> np.ndarray:
    """The same matrix as a numpy array, without a copy where it is in main memory."""
    array = X.detach().cpu().numpy() if isinstance(X, torch.Tensor) else np.asanyarray(X)
    if array.ndim != 2:
        raise UserError(f"embeddings must be a matrix of rows and columns, not an array of shape {array.shape}")
    return array


def check_finite(rows: np.ndarray, first: int = 0) -> None:
    """Raise a :class:`UserError` that names the first row with NaN or infinity, counting from ``first``."""
    bad = ~np.isfinite(rows).all(axis=1)
    if bad.any():
        row = first + int(np.argmax(bad))
        raise UserError(f"row {row} of the embeddings is not finite but NaN or inf; check how they were made")
