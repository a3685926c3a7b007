"""Random feature maps that widen embeddings before the classifier, and the scaling that comes before them."""

from figure_kedro.projections.feature_map import MAPS, FeatureMap, ProjectionSettings
from figure_kedro.projections.projection import Projection
from figure_kedro.projections.scaling import ViewScaler

__all__ = ["MAPS", "FeatureMap", "Projection", "ProjectionSettings", "ViewScaler"]
