"""The score on test nodes that have no twin in training stands beside the score on all of them."""

import numpy as np
import pytest

from figure_kedro.evaluation.selection import evaluate_split
from figure_kedro.graph.splits import TEST, TRAIN, VAL
from figure_kedro.graph.twins import ALONE
from split_problems import build, evaluate, every_kind_of_head, prepare

pytestmark = pytest.mark.usefixtures("one_thread")


def twin_scores(problem, twins, head="linear", metrics=("accuracy",), labels=None):
    _, known, codes = problem
    chosen, labels = build(head, trials=2), known if labels is None else labels
    return evaluate_split(chosen, prepare(problem, chosen), labels, codes, metrics, twins=twins)


@every_kind_of_head
def test_twin_free_score_is_that_of_test_nodes_without_a_twin_in_training(problem, head):
    _, labels, codes = problem
    test, train, val = (np.flatnonzero(codes == part) for part in (TEST, TRAIN, VAL))
    twins = np.full(len(labels), ALONE)
    plain = evaluate(problem, head, trials=2)
    right = plain.predictions == labels
    copies = test[right[test]][:12]  # of those that are right, so that the score without them is lower
    twins[copies], twins[train[:12]] = np.arange(12), np.arange(12)
    strangers = test[right[test]][12:15]
    twins[strangers], twins[val[:3]] = np.arange(20, 23), np.arange(20, 23)  # a twin in validation is none in training
    result = twin_scores(problem, twins, head)
    assert (result.predictions == plain.predictions).all()
    assert result.scores == plain.scores
    others = np.setdiff1d(test, copies)
    assert result.twins == {"test_twins": 12.0, "twin_free_test": pytest.approx(right[others].mean())}
    assert result.twins["twin_free_test"] < result.scores["test_accuracy"] < 1


def test_twin_free_score_is_by_the_metric_that_decides(imbalanced):
    _, labels, _ = imbalanced
    twins = np.full(len(labels), ALONE)
    result = twin_scores(imbalanced, twins, metrics=("roc_auc", "accuracy"))
    assert result.twins == {"test_twins": 0.0, "twin_free_test": result.scores["test_roc_auc"]}


def test_twin_free_score_is_undefined_where_nobody_is_left(problem):
    _, labels, codes = problem
    result = twin_scores(problem, np.zeros(len(labels), dtype=int))
    assert result.twins["test_twins"] == (codes == TEST).sum()
    assert np.isnan(result.twins["twin_free_test"])


def test_twin_free_score_is_undefined_where_one_class_is_left_and_the_metric_needs_two(imbalanced):
    _, labels, _ = imbalanced
    twins = np.where(labels == 1, 0, ALONE)
    assert np.isnan(twin_scores(imbalanced, twins, metrics=("roc_auc",)).twins["twin_free_test"])
    assert np.isfinite(twin_scores(imbalanced, twins).twins["twin_free_test"])


def test_without_twins_nothing_is_said_of_them(problem):
    assert evaluate(problem, trials=2).twins == {}
