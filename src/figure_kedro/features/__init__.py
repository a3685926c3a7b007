"""Node features: normalised rows, and columns that are made from the edges."""

from figure_kedro.features.prepare import prepare_features, structural_features
from figure_kedro.features.structural import STRUCTURAL, FeatureSettings, StructuralFeatures

__all__ = ["STRUCTURAL", "FeatureSettings", "StructuralFeatures", "prepare_features", "structural_features"]
