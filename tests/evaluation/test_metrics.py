"""Scores of predicted probabilities."""

import numpy as np
import pytest
from sklearn.base import BaseEstimator, ClassifierMixin
from sklearn.metrics import get_scorer

from figure_kedro.errors import UserError
from figure_kedro.evaluation import METRICS, score
from figure_kedro.evaluation.metric import mean_log_loss, metrics_of

SCORERS = {
    "accuracy": "accuracy",
    "average_precision": "average_precision",
    "balanced_accuracy": "balanced_accuracy",
    "macro_f1": "f1_macro",
    "roc_auc": "roc_auc",
}
BINARY = ("average_precision", "roc_auc")


class Fixed(ClassifierMixin, BaseEstimator):
    """A classifier of scikit-learn's kind whose probabilities are its input."""

    def fit(self, classes):
        self.classes_ = np.asarray(classes)
        return self

    def predict_proba(self, X):
        return X

    def predict(self, X):
        return self.classes_[X.argmax(axis=1)]


def sklearn_score(metric, y, proba, classes):
    return get_scorer(SCORERS[metric])(Fixed().fit(classes), proba, y)


def random_probabilities(n, classes, seed=0):
    """Probabilities that know a little about labels of which the last class is rare."""
    rng = np.random.default_rng(seed)
    frequency = np.arange(classes, 0, -1) / np.arange(classes, 0, -1).sum()
    y = rng.choice(classes, size=n, p=frequency)
    proba = rng.dirichlet(np.ones(classes), size=n) + 0.3 * np.eye(classes)[y]
    return y, proba / proba.sum(axis=1, keepdims=True)


def test_metrics_are_the_files_of_the_folder():
    assert METRICS.names() == tuple(sorted(SCORERS))
    assert tuple(name for name in METRICS.names() if METRICS[name].binary) == BINARY


@pytest.mark.parametrize("metric", SCORERS)
@pytest.mark.parametrize("seed", range(3))
def test_scores_of_two_classes_equal_those_of_sklearn(metric, seed):
    y, proba = random_probabilities(80, 2, seed)
    assert score(metric, y, proba) == pytest.approx(sklearn_score(metric, y, proba, [0, 1]), abs=1e-12)
    assert 0.3 < score(metric, y, proba) < 1


@pytest.mark.parametrize("metric", [name for name in SCORERS if name not in BINARY])
@pytest.mark.parametrize("seed", range(3))
def test_scores_of_four_classes_equal_those_of_sklearn(metric, seed):
    y, proba = random_probabilities(120, 4, seed)
    assert score(metric, y, proba) == pytest.approx(sklearn_score(metric, y, proba, range(4)), abs=1e-12)


@pytest.mark.parametrize("metric", SCORERS)
def test_perfect_probabilities_score_one_and_the_second_column_is_the_class_that_is_looked_for(metric):
    y = np.array([5, 7, 7, 5, 5])
    perfect = np.eye(2)[(y == 7).astype(int)]
    assert score(metric, y, perfect, classes=[5, 7]) == 1
    assert score(metric, y, 1 - perfect, classes=[5, 7]) < 0.6


def test_scores_of_an_imbalanced_problem_differ_by_metric():
    """Whoever always names the frequent class is right on nine of ten nodes and has learnt nothing."""
    y = np.array([0] * 9 + [1])
    constant = np.tile([0.9, 0.1], (10, 1))
    scores = {metric: score(metric, y, constant) for metric in SCORERS}
    assert scores["accuracy"] == pytest.approx(0.9)
    assert scores["balanced_accuracy"] == scores["roc_auc"] == pytest.approx(0.5)
    assert scores["average_precision"] == pytest.approx(0.1)
    assert scores["macro_f1"] == pytest.approx((2 * 9 / 19) / 2)


def test_columns_belong_to_the_classes_that_are_given_and_an_unknown_class_is_wrong():
    proba = np.array([[0.9, 0.1], [0.2, 0.8], [0.6, 0.4]])
    assert score("accuracy", np.array([2, 5, 7]), proba, classes=[2, 5]) == pytest.approx(2 / 3)


@pytest.mark.parametrize("metric", [name for name in SCORERS if name not in BINARY])
def test_a_class_missing_from_training_counts_as_wrong(metric):
    y, classes = np.array([2, 2, 5, 5, 7, 7]), [2, 5]
    known = np.eye(2)[[0, 0, 1, 1]]
    assert score(metric, y[:4], known, classes) == 1
    with_unknown = np.concatenate([known, np.eye(2)[[0, 1]]])
    # recalls are 1, 1 and 0; precisions of the first two are 2/3
    expected = {"accuracy": 4 / 6, "balanced_accuracy": 2 / 3, "macro_f1": (0.8 + 0.8 + 0) / 3}
    assert score(metric, y, with_unknown, classes) == pytest.approx(expected[metric])


@pytest.mark.parametrize(
    ("metric", "y", "width", "message"),
    [
        ("acuracy", [0, 1], 2, "did you mean 'accuracy'"),
        ("roc_auc", [0, 1], 3, "roc_auc needs two classes, not 3"),
        ("average_precision", [0, 1], 3, "average_precision needs two classes, not 3"),
        ("roc_auc", [1, 1], 2, "both classes"),
        ("average_precision", [1, 1], 2, "both classes"),
        ("roc_auc", [0, 2], 2, "both classes and of no other"),
        ("average_precision", [0, 2], 2, "both classes and of no other"),
        ("accuracy", [0], 2, "1 labels for 2 predictions"),
    ],
)
def test_what_cannot_be_scored_is_one_clear_line(metric, y, width, message):
    with pytest.raises(UserError, match=message) as caught:
        score(metric, np.array(y), np.full((2, width), 1 / width))
    assert "\n" not in str(caught.value)


def test_nan_probabilities_are_an_error():
    with pytest.raises(UserError, match="not finite"):
        score("accuracy", np.array([0]), np.array([[np.nan, 1.0]]))


def test_two_classes_are_also_scored_by_roc_auc():
    assert metrics_of("accuracy", 3) == ("accuracy",)
    assert metrics_of("accuracy", 2) == ("accuracy", "roc_auc")


def test_the_deciding_metric_comes_first_and_each_is_named_once():
    assert metrics_of("roc_auc", 2) == ("roc_auc", "accuracy")
    assert metrics_of("average_precision", 2) == ("average_precision", "accuracy", "roc_auc")
    assert metrics_of("macro_f1", 5) == ("macro_f1", "accuracy")
    assert metrics_of("balanced_accuracy", 2) == ("balanced_accuracy", "accuracy", "roc_auc")


@pytest.mark.parametrize("metric", BINARY)
def test_a_binary_metric_cannot_decide_for_three_classes_and_one_clear_line_says_so(metric):
    with pytest.raises(
        UserError, match=rf"^evaluation\.metric: {metric} needs two classes and the graph has 3; choose"
    ):
        metrics_of(metric, 3)


def test_an_unknown_deciding_metric_gets_the_nearest_name():
    with pytest.raises(UserError, match="did you mean 'macro_f1'"):
        metrics_of("makro_f1", 3)


def test_log_loss_is_the_mean_over_known_classes_and_bounded():
    proba = np.array([[0.5, 0.5], [0.25, 0.75], [1.0, 0.0]])
    expected = -(np.log(0.5) + np.log(0.75)) / 2
    assert mean_log_loss(np.array([2, 5, 7]), proba, np.array([2, 5])) == pytest.approx(expected, rel=1e-5)
    assert mean_log_loss(np.array([7, 7, 7]), proba, np.array([2, 5])) == 0
    assert 16 < mean_log_loss(np.array([5]), proba[2:], np.array([2, 5])) < 16.2
