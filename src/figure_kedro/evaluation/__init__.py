"""Heads that learn from embeddings or from the graph, what they are scored by, and how they are chosen."""

from figure_kedro.evaluation.alpha_classifier import AlphaClassifier
from figure_kedro.evaluation.classifier import Classifier, NoClassifier
from figure_kedro.evaluation.final import ClassifierSettings
from figure_kedro.evaluation.head import HEADS, Head, HeadSettings
from figure_kedro.evaluation.metric import METRICS, score
from figure_kedro.evaluation.view_inputs import stack_views

__all__ = [
    "HEADS",
    "METRICS",
    "AlphaClassifier",
    "Classifier",
    "ClassifierSettings",
    "Head",
    "HeadSettings",
    "NoClassifier",
    "score",
    "stack_views",
]
