"""The classifier is an estimator of scikit-learn: tools that select, copy and search work on nodes."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.model_selection import GridSearchCV, cross_val_score
from sklearn.utils.estimator_checks import parametrize_with_checks

from figure_kedro.errors import UserError
from figure_kedro.evaluation import AlphaClassifier, stack_views

EXPECTED = {
    "check_classifiers_classes": "it uses -1 as a class; here a negative number stands for a node without a label",
}


@parametrize_with_checks([AlphaClassifier()], expected_failed_checks=lambda _: EXPECTED)
def test_it_passes_the_checks_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.fixture(scope="module")
def problem():
    """Three views of 90 nodes, of which the second tells three classes in words."""
    rng = np.random.default_rng(0)
    y = np.array(["red", "green", "blue"])[np.arange(90) % 3]
    views = {name: rng.normal(size=(90, 4)).astype(np.float32) for name in ("I", "A", "A^2")}
    views["A"] += 2 * np.eye(4, dtype=np.float32)[np.arange(90) % 3]
    return views, y


def test_every_form_of_the_views_gives_the_same_classifier(problem):
    views, y = problem
    forms = [
        views,
        list(views.values()),
        tuple(views.values()),
        [torch.from_numpy(view) for view in views.values()],
        stack_views(views),
        torch.from_numpy(stack_views(list(views.values()))),
    ]
    expected = AlphaClassifier().fit(views, y)
    for form in forms:
        fitted = AlphaClassifier().fit(form, y)
        np.testing.assert_allclose(fitted.alpha_, expected.alpha_, rtol=1e-6)
        np.testing.assert_allclose(fitted.predict_proba(form), expected.predict_proba(views), atol=1e-6)


def test_labels_may_be_words_and_come_back_as_words(problem):
    views, y = problem
    fitted = AlphaClassifier().fit(views, y)
    assert fitted.classes_.tolist() == ["blue", "green", "red"]
    assert set(fitted.predict(views)) == {"blue", "green", "red"}
    assert fitted.score(views, y) > 0.8
    numbers = AlphaClassifier().fit(views, np.unique(y, return_inverse=True)[1])
    np.testing.assert_array_equal(numbers.predict_proba(views), fitted.predict_proba(views))
    for other in (y.tolist(), pd.Series(y), y.astype(object)):
        np.testing.assert_array_equal(AlphaClassifier().fit(views, other).predict(views), fitted.predict(views))


def test_views_of_a_dictionary_are_matched_by_name(problem):
    views, y = problem
    fitted = AlphaClassifier().fit(views, y)
    turned = {name: views[name] for name in reversed(views)}
    np.testing.assert_array_equal(fitted.predict_proba(turned), fitted.predict_proba(views))
    with pytest.raises(UserError, match="there is no view 'A'"):
        fitted.predict({name: view for name, view in views.items() if name != "A"})
    with pytest.raises(UserError, match=r"knows no view 'A\^3'"):
        fitted.predict(views | {"A^3": views["A"]})


def test_the_epoch_of_adam_is_chosen_on_views_in_any_form(problem):
    views, y = problem
    settings = {"solver": "adam", "max_epochs": 30, "learning_rate": 0.1}
    first = AlphaClassifier(**settings).fit(views, y, (views, y))
    second = AlphaClassifier(**settings).fit(stack_views(views), y, (stack_views(views), y))
    np.testing.assert_allclose(first.coef_, second.coef_, rtol=1e-5)


def test_cross_validation_goes_over_nodes(problem):
    views, y = problem
    scores = cross_val_score(AlphaClassifier(), stack_views(views), y, cv=3)
    assert scores.shape == (3,)
    assert scores.min() > 0.6
    two = y != "red"
    areas = cross_val_score(AlphaClassifier(), stack_views(views)[two], y[two], cv=3, scoring="roc_auc")
    assert areas.min() > 0.8, "of two classes the decision is one number"


def test_a_search_finds_the_mask_of_the_view_that_tells_the_classes(problem):
    views, y = problem
    grid = {"masks": [[1, 0, 0], [0, 1, 0], [0, 0, 1]], "weight_decay": [0.1, 0.001]}
    search = GridSearchCV(AlphaClassifier(), grid, cv=3).fit(stack_views(views), y)
    assert search.best_params_["masks"] == [0, 1, 0]
    assert search.predict(stack_views(views)).shape == (90,)


def test_parameters_are_kept_set_copied_and_printed():
    classifier = AlphaClassifier(masks=[1, 0, 1], weight_decay=0.01)
    copy = clone(classifier).set_params(solver="adam")
    assert copy.get_params() == classifier.get_params() | {"solver": "adam"}
    assert repr(copy) == "AlphaClassifier(masks=[1, 0, 1], solver='adam', weight_decay=0.01)"


@pytest.mark.parametrize("use", ["predict", "predict_proba", "decision_function"])
def test_before_fit_it_says_that_it_is_not_fitted(problem, use):
    with pytest.raises(NotFittedError):
        getattr(AlphaClassifier(), use)(problem[0])


def test_unlabelled_rows_are_one_line(problem):
    views, y = problem
    for labels in (np.where(np.arange(90) < 5, None, y.astype(object)), np.arange(90) % 3 - 1):
        with pytest.raises(UserError, match=r"no label|classes") as caught:
            AlphaClassifier().fit(views, labels)
        assert "\n" not in str(caught.value)
