"""The projection of embeddings: one scale and one map for all filters."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Self

import numpy as np
import torch

from figure_kedro.errors import UserError
from figure_kedro.projections.feature_map import MAPS, FeatureMap, ProjectionSettings
from figure_kedro.projections.scaling import ViewScaler


@dataclass(frozen=True)
class Projection:
    """Scales an embedding and maps it to random features; made by :meth:`fit`.

    Nothing is projected when it is fitted: a caller asks for the rows it needs, when it needs them.

    Args:
        settings: Which map, and which scaling comes before it.
        scaler: Fitted on the embeddings under all filters.
        input_dim: Width of these embeddings.
    """

    settings: ProjectionSettings
    scaler: ViewScaler
    input_dim: int

    @classmethod
    def fit(cls, settings: ProjectionSettings, views: Sequence[np.ndarray | torch.Tensor]) -> Self:
        """Measure the scale of the embeddings under each filter, ``K`` arrays ``(n, d)``."""
        return cls(settings, ViewScaler(settings.scale, settings.norm).fit(views), views[0].shape[1])

    def description(self) -> dict[str, Any]:
        """Everything about it as plain values."""
        return {
            "settings": self.settings.model_dump(mode="json"),
            "input_dim": self.input_dim,
            "output_dim": self.output_dim,
            "mean": self.scaler.mean_.tolist(),
            "scale": self.scaler.scale_.tolist(),
        }

    @classmethod
    def from_description(cls, described: Mapping[str, Any]) -> Self:
        """Make one of what :meth:`description` gave."""
        settings = MAPS.parse(described["settings"])
        scaler = ViewScaler(settings.scale, settings.norm)
        scaler.mean_, scaler.scale_ = np.array(described["mean"]), np.array(described["scale"])
        return cls(settings, scaler, described["input_dim"])

    @cached_property
    def choices(self) -> dict[str, Sequence[Any]]:
        """Arguments of the map that are chosen on validation, with the values to try."""
        return MAPS.part(self.settings).choices(self.settings)

    @property
    def output_dim(self) -> int:
        """Width of what comes out."""
        return self.feature_map().n_features_out_

    def feature_map(self, **choice: Any) -> FeatureMap:
        """The map for one of the :attr:`choices`, drawn."""
        if unknown := sorted(set(choice) - set(self.choices)):
            raise UserError(f"the map {self.settings.map} has no {unknown[0]!r} to choose")
        map_class = MAPS.part(self.settings)
        return map_class.from_settings(self.settings, **choice).draw(self.input_dim)

    def transform(self, view: np.ndarray | torch.Tensor, **choice: Any) -> np.ndarray:
        """Project one view, or rows of one, ``(m, d)`` to ``(m, output_dim)``."""
        return self.feature_map(**choice).transform(self.scaler.transform(view))
