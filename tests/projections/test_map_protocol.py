"""Every map passes what scikit-learn asks of a transformer, without an exception."""

import numpy as np
import pandas as pd
import pytest
import torch
from sklearn.exceptions import NotFittedError
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks

from figure_kedro.errors import UserError
from figure_kedro.projections import MAPS
from figure_kedro.projections.maps.fourier import Fourier
from figure_kedro.projections.maps.maclaurin import Maclaurin

ALL = [MAPS[name]() for name in MAPS.names()]


@parametrize_with_checks([*ALL, Maclaurin(kernel="exponential")])
def test_it_passes_every_check_of_scikit_learn(estimator, check):
    check(estimator)


@pytest.mark.parametrize("name", MAPS.names())
def test_a_drawn_map_is_the_fitted_one(name):
    rows = np.random.default_rng(0).normal(size=(9, 5)).astype(np.float32)
    feature_map = MAPS[name]()
    drawn, fitted = MAPS[name]().draw(5), feature_map.fit(rows)
    np.testing.assert_array_equal(drawn.transform(rows), fitted.transform(rows))
    np.testing.assert_array_equal(drawn.transform(torch.from_numpy(rows)), fitted.transform(rows))
    assert drawn.transform(rows[:0]).shape == (0, drawn.n_features_out_)
    with pytest.raises(NotFittedError):
        MAPS[name]().transform(rows)


def test_features_have_names_and_can_be_a_table():
    rows = pd.DataFrame(np.random.default_rng(0).normal(size=(4, 2)), columns=["a", "b"])
    mapped = Fourier(3).set_output(transform="pandas").fit(rows).transform(rows)
    assert list(mapped.columns) == ["fourier0", "fourier1", "fourier2"]


def test_a_map_is_searched_with_the_classifier_behind_it():
    rng = np.random.default_rng(0)
    rows = rng.normal(size=(200, 2))
    inside = (np.square(rows).sum(axis=1) < 1.4).astype(int)
    pipeline = make_pipeline(Fourier(200), LogisticRegression())
    search = GridSearchCV(pipeline, {"fourier__gamma": [1e-3, 1.0]}, cv=3).fit(rows, inside)
    assert search.best_params_ == {"fourier__gamma": 1.0}


@pytest.mark.parametrize("bad", [np.array([[np.nan, 1.0]]), np.zeros((0, 2)), np.zeros(3), [["a", "b"]]])
def test_what_cannot_be_mapped_is_one_line(bad):
    with pytest.raises(UserError) as caught:
        Fourier(4).fit(bad)
    assert "\n" not in str(caught.value)
