"""Area under the receiver operating characteristic of the second class."""

import numpy as np
from sklearn.metrics import roc_auc_score

from figure_kedro.evaluation.metric import METRICS, Metric


@METRICS.register
class RocAuc(Metric):
    """Area under the receiver operating characteristic of the second class."""

    name = "roc_auc"
    binary = True

    def score(self, y: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> float:
        return roc_auc_score(y == classes[1], proba[:, 1])
