"""What predictions are scored by."""

from abc import ABC, abstractmethod
from typing import ClassVar

import numpy as np
from sklearn.metrics import log_loss

from figure_kedro.errors import UserError
from figure_kedro.parts import Kind, Part


class Metric(Part, ABC):
    """A score of predicted probabilities; higher is better, 1 is perfect.

    A new metric is one new file in ``figure_kedro/evaluation/metrics`` with a class that registers itself.

    Attributes:
        name: What the metric is called in settings and tables.
        binary: Whether it needs two classes, of which the second is the one that is looked for.
    """

    name: ClassVar[str]
    binary: ClassVar[bool] = False

    @abstractmethod
    def score(self, y: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> float:
        """Score probabilities ``(n, C)`` against labels ``(n,)``; ``classes`` ``(C,)`` are the labels of the columns.

        A node whose class has no column, because it was missing from training, counts as wrong.
        """


METRICS: Kind[Metric] = Kind("metric", tag="metric", package="figure_kedro.evaluation.metrics")


def score(metric: str, y: np.ndarray, proba: np.ndarray, classes: np.ndarray | None = None) -> float:
    """Score probabilities against the true labels by the metric of that name.

    Args:
        metric: A name in :data:`METRICS`.
        y: True labels ``(n,)``.
        proba: Probabilities ``(n, C)``.
        classes: The label of each column ``(C,)``; 0 to ``C - 1`` if it is left out.

    >>> score("accuracy", np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    0.5
    """
    chosen = METRICS[metric]
    y, proba = np.asarray(y), np.asarray(proba)
    if len(y) == 0 or len(y) != len(proba):
        raise UserError(f"{len(y)} labels for {len(proba)} predictions; a score needs one label for each, at least one")
    if not np.isfinite(proba).all():
        raise UserError("the predicted probabilities are not finite; lower the learning rate or check the embeddings")
    classes = np.arange(proba.shape[1]) if classes is None else np.asarray(classes)
    if chosen.binary and len(classes) != 2:
        raise UserError(f"{metric} needs two classes, not {len(classes)}; use accuracy or macro_f1")
    if chosen.binary and (len(np.unique(y)) != 2 or not np.isin(y, classes).all()):
        raise UserError(f"{metric} needs nodes of both classes and of no other; use accuracy or other splits")
    return float(chosen().score(y, proba, classes))


def metrics_of(deciding: str, num_classes: int) -> tuple[str, ...]:
    """The metrics that are reported: the one that decides, then accuracy and, for two classes, the area under ROC.

    Raises:
        UserError: If the deciding one does not fit the number of classes.
    """
    if METRICS[deciding].binary and num_classes != 2:
        raise UserError(
            f"evaluation.metric: {deciding} needs two classes and the graph has {num_classes}; "
            "choose accuracy, balanced_accuracy or macro_f1"
        )
    return tuple(dict.fromkeys([deciding, "accuracy", *(["roc_auc"] if num_classes == 2 else [])]))


def mean_log_loss(y: np.ndarray, proba: np.ndarray, classes: np.ndarray) -> float:
    """Mean log loss of the nodes whose class the classifier knows, at most about 16 per node; 0 if it knows none."""
    known = np.isin(y, classes)
    if not known.any():
        return 0.0
    bounded = np.clip(proba[known].astype(np.float64), 1e-7, None)
    return float(log_loss(y[known], bounded / bounded.sum(axis=1, keepdims=True), labels=classes))
