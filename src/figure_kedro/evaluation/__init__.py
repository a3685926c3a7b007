"""The alpha-combined classifier and what its predictions are scored by."""

from figure_kedro.evaluation.alpha_classifier import AlphaClassifier
from figure_kedro.evaluation.metrics import METRICS, score

__all__ = ["METRICS", "AlphaClassifier", "score"]
