"""Mean precision over all thresholds for the second class, which is the rare one in most uses."""

import numpy as np
from sklearn.metrics import average_precision_score

from figure_kedro.evaluation.metric import METRICS, Metric


@METRICS.register
class AveragePrecision(Metric):
    """Mean precision over all thresholds for the second class, which is the rare one in most uses."""

    name = "average_precision"
    binary = True

    def score(self, y: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> float:
        return average_precision_score(y == classes[1], proba[:, 1])
