"""Columns of features at one scale, and advice where they are not."""

import logging

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.estimator import FiGURe
from figure_kedro.features import STRUCTURAL, large_columns, prepare_features
from figure_kedro.features.columns import with_standard_columns
from figure_kedro.graph import graph_from_edges
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.methods.method import METHODS

COLUMNS = STRUCTURAL.parse({"normalise": "columns"})


def path(features):
    n = features.shape[0]
    return graph_from_edges(np.arange(n - 1), np.arange(1, n), name="toy", num_nodes=n, features=features)


def incomes():
    """A graph whose first column is around 50,000 beside others around 1."""
    graph = generate_csbm(300, 10, 3, 0.8, 8, 1.0, 2, 0, "incomes")
    features = graph.features.copy()
    features[:, 0] = 50_000 + 10_000 * features[:, 0]
    return graph.with_features(features)


def test_columns_have_mean_zero_and_deviation_one_and_a_constant_one_is_zero():
    features = prepare_features(path(np.array([[1, 7, 0.1], [2, 7, 0.1], [3, 7, 0.1]], np.float32)), COLUMNS).features
    np.testing.assert_allclose(features, [[-np.sqrt(1.5), 0, 0], [0, 0, 0], [np.sqrt(1.5), 0, 0]], atol=1e-6)
    assert features.dtype == np.float32


def test_sparse_columns_keep_their_zeros_and_have_a_mean_square_of_one():
    given = sp.csr_array(np.array([[4, 0], [0, 0], [0, 0], [2, 0]], np.float32))
    features = with_standard_columns(path(given)).features
    assert sp.issparse(features)
    np.testing.assert_allclose(features.toarray(), given.toarray() / np.sqrt(5), rtol=1e-6)


@given(st.floats(1e-30, 1e30), st.floats(-1e3, 1e3))
def test_the_unit_of_a_column_does_not_matter(unit, start):
    values = np.random.default_rng(0).standard_normal((40, 2))
    one, other = (
        with_standard_columns(path(np.float32(v))).features for v in (values, np.float64(unit) * (values + start))
    )
    np.testing.assert_allclose(other, one, atol=1e-3)


def test_large_columns_are_named_with_what_to_do(caplog):
    with caplog.at_level(logging.WARNING):
        prepare_features(incomes(), STRUCTURAL.parse({}))
    assert "column 0 of the features has values around 5.15e+04; set features.normalise=columns" in caplog.text
    caplog.clear()
    prepare_features(incomes(), COLUMNS)
    assert caplog.text == ""
    assert large_columns(None) is None
    assert large_columns(sp.csr_array(np.full((3, 1), 1e5, np.float32))) is not None


def test_training_that_diverges_on_large_columns_advises_to_standardise_them_and_not_another_learning_rate():
    settings = METHODS.parse({"dim": 16, "training": {"max_epochs": 30}})
    with pytest.raises(UserError, match=r"the training loss is .*; set features\.normalise=columns") as error:
        FiGURe(settings=settings, progress=False).fit(incomes())
    assert "learning_rate" not in str(error.value)
    fitted = FiGURe(settings=settings, progress=False).fit(prepare_features(incomes(), COLUMNS))
    assert fitted.record_.best_loss < np.log(2)
