"""Scores of predicted probabilities."""

import numpy as np
import pytest
from sklearn.metrics import accuracy_score, roc_auc_score

from figure_kedro.errors import UserError
from figure_kedro.evaluation import score


def test_scores_equal_those_of_sklearn():
    rng = np.random.default_rng(0)
    y = rng.integers(0, 2, 50)
    positive = rng.uniform(size=50)
    proba = np.stack([1 - positive, positive], axis=1)
    assert score("accuracy", y, proba) == pytest.approx(accuracy_score(y, positive > 0.5))
    assert score("roc_auc", y, proba) == pytest.approx(roc_auc_score(y, positive))


def test_columns_belong_to_the_classes_that_are_given_and_an_unknown_class_is_wrong():
    proba = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    assert score("accuracy", np.array([2, 5, 7]), proba, classes=[2, 5]) == pytest.approx(2 / 3)


@pytest.mark.parametrize(
    ("metric", "y", "width", "message"),
    [
        ("acuracy", [0, 1], 2, "did you mean 'accuracy'"),
        ("roc_auc", [0, 1], 3, "needs two classes, not 3"),
        ("roc_auc", [1, 1], 2, "both classes"),
        ("accuracy", [0], 2, "1 labels for 2 predictions"),
    ],
)
def test_what_cannot_be_scored_is_an_error(metric, y, width, message):
    with pytest.raises(UserError, match=message):
        score(metric, np.array(y), np.full((2, width), 1 / width))


def test_nan_probabilities_are_an_error():
    with pytest.raises(UserError, match="not finite"):
        score("accuracy", np.array([0]), np.array([[np.nan, 1.0]]))
