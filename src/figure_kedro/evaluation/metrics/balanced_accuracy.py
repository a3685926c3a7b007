"""Mean over the classes of the share of their nodes that are found."""

import numpy as np
from sklearn.metrics import recall_score

from figure_kedro.evaluation.metric import METRICS, Metric


@METRICS.register
class BalancedAccuracy(Metric):
    """Mean over the classes of the share of their nodes that are found."""

    name = "balanced_accuracy"

    def score(self, y: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> float:
        return recall_score(y, classes[proba.argmax(axis=1)], labels=np.unique(y), average="macro", zero_division=0)
