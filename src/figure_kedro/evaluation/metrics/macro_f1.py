"""Mean over the classes of the harmonic mean of precision and recall."""

import numpy as np
from sklearn.metrics import f1_score

from figure_kedro.evaluation.metric import METRICS, Metric


@METRICS.register
class MacroF1(Metric):
    """Mean over the classes of the harmonic mean of precision and recall."""

    name = "macro_f1"

    def score(self, y: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> float:
        return f1_score(y, classes[proba.argmax(axis=1)], average="macro", zero_division=0)
