"""Node features: normalised rows, and columns that are made from the edges."""

from figure_kedro.features.columns import large_columns
from figure_kedro.features.kinds.auto import WHERE_NONE
from figure_kedro.features.prepare import prepare_features, structural_features
from figure_kedro.features.structural import STRUCTURAL, FeatureSettings, StructuralFeatures

__all__ = [
    "STRUCTURAL",
    "WHERE_NONE",
    "FeatureSettings",
    "StructuralFeatures",
    "large_columns",
    "prepare_features",
    "structural_features",
]
