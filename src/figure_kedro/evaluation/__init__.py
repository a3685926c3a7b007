"""Heads that learn from embeddings or from the graph, what they are scored by, and how they are chosen."""

from figure_kedro.evaluation.alpha_classifier import AlphaClassifier
from figure_kedro.evaluation.head import HEADS, Head, HeadSettings
from figure_kedro.evaluation.metric import METRICS, score

__all__ = ["HEADS", "METRICS", "AlphaClassifier", "Head", "HeadSettings", "score"]
