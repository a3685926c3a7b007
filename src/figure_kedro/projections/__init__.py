"""Random feature maps that widen embeddings before the classifier, and the scaling that comes before them."""

import inspect
from collections.abc import Sequence

import numpy as np
import torch
from sklearn.pipeline import Pipeline

from figure_kedro.projections.feature_map import FeatureMap
from figure_kedro.projections.maps import map_class, projection_names
from figure_kedro.projections.scaling import ViewScaler
from figure_kedro.projections.settings import ProjectionSettings

__all__ = ["FeatureMap", "ProjectionSettings", "ViewScaler", "build_projection", "fit_projection", "projection_names"]


def build_projection(settings: ProjectionSettings) -> FeatureMap:
    """Build the map that the settings name, not yet fitted; settings that the map has no use for are left aside.

    >>> build_projection(ProjectionSettings(map="fourier", dim=64, gamma=0.3, seed=7))
    Map(dim=64, gamma=0.3, random_state=7)
    """
    chosen = map_class(settings.map)
    values = settings.model_dump() | {"random_state": settings.seed}
    return chosen(**{name: values[name] for name in inspect.signature(chosen).parameters})


def fit_projection(settings: ProjectionSettings, views: Sequence[np.ndarray | torch.Tensor]) -> Pipeline:
    """Fit the scaling and one map for every filter; ``transform`` of the result then takes one view, or rows of one.

    Nothing is projected here: a caller asks for the rows it needs, when it needs them.

    Args:
        settings: Which map, and which scaling comes before it.
        views: The embeddings under each filter, ``K`` arrays ``(n, d)``.

    Returns:
        A fitted pipeline of :class:`ViewScaler` and a :class:`FeatureMap`, from ``(m, d)`` to ``(m, dim)``.
    """
    scaler = ViewScaler(settings.scale, settings.norm).fit(views)
    return Pipeline([("scale", scaler), ("map", build_projection(settings).fit(views[0]))])
