"""What predictions are scored by."""

from collections.abc import Sequence

import numpy as np
from sklearn.metrics import roc_auc_score

from figure_kedro.errors import UserError, nearest

METRICS = ("accuracy", "roc_auc")


def score(metric: str, y: np.ndarray, proba: np.ndarray, classes: Sequence[int] | np.ndarray | None = None) -> float:
    """Score probabilities against the true labels; higher is better, 1 is perfect.

    A node whose class has no column (it was missing from training) counts as wrong for ``accuracy``. ``roc_auc`` is
    the area under the receiver operating characteristic of the second class and needs two classes, both present in
    ``y``.

    Args:
        metric: ``"accuracy"`` or ``"roc_auc"``.
        y: True labels ``(n,)``.
        proba: Probabilities ``(n, C)``.
        classes: The label of each column ``(C,)``; 0 to ``C - 1`` if it is left out.

    >>> score("accuracy", np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    0.5
    """
    if metric not in METRICS:
        raise UserError(f"there is no metric {metric!r}; {nearest(metric, METRICS)}")
    y, proba = np.asarray(y), np.asarray(proba)
    if len(y) == 0 or len(y) != len(proba):
        raise UserError(f"{len(y)} labels for {len(proba)} predictions; a score needs one label for each, at least one")
    if not np.isfinite(proba).all():
        raise UserError("the predicted probabilities are not finite; lower the learning rate or check the embeddings")
    classes = np.arange(proba.shape[1]) if classes is None else np.asarray(classes)
    if metric == "accuracy":
        return float((classes[proba.argmax(axis=1)] == y).mean())
    if len(classes) != 2:
        raise UserError(f"roc_auc needs two classes, not {len(classes)}; use accuracy")
    if len(np.unique(y)) != 2 or not np.isin(y, classes).all():
        raise UserError("roc_auc needs nodes of both classes and of no other; use accuracy or other splits")
    return float(roc_auc_score(y == classes[1], proba[:, 1]))
