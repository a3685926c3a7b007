"""Scaling before the map."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.projections import MAPS, Projection, ViewScaler


def views(seed: int = 0, k: int = 3, n: int = 60, d: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(seed)
    return [
        (rng.normal(size=(n, d)) * rng.uniform(0.1, 5, d) + rng.normal(size=d)).astype(np.float32) for _ in range(k)
    ]


def distances(scaled: list[np.ndarray]) -> np.ndarray:
    return np.array([np.sqrt(np.square(v - v.mean(axis=0)).sum(axis=1).mean()) for v in scaled])


def test_none_returns_the_same_array():
    embeddings = views()
    assert ViewScaler("none").fit(embeddings).transform(embeddings[0]) is embeddings[0]


@pytest.mark.parametrize("scale", ["rms", "standard"])
def test_typical_distances_have_the_stated_geometric_mean(scale):
    embeddings = views()
    scaler = ViewScaler(scale, norm=3.0).fit(embeddings)
    assert np.exp(np.log(distances([scaler.transform(v) for v in embeddings])).mean()) == pytest.approx(3.0, rel=1e-4)


@pytest.mark.parametrize("scale", ["rms", "standard"])
@settings(max_examples=10, deadline=None)
@given(st.floats(1e-3, 1e3))
def test_result_does_not_depend_on_the_unit_of_the_embeddings(scale, unit):
    embeddings = views()
    first, second = (
        ViewScaler(scale).fit(version).transform(version[1])
        for version in (embeddings, [v * np.float32(unit) for v in embeddings])
    )
    np.testing.assert_allclose(first, second, rtol=1e-3, atol=1e-3)


def test_rms_keeps_the_relative_sizes_of_the_filters():
    embeddings = views()
    scaler = ViewScaler("rms").fit(embeddings)
    ratios = distances([scaler.transform(v) for v in embeddings]) / distances(embeddings)
    np.testing.assert_allclose(ratios, ratios[0], rtol=1e-5)


def test_standard_gives_every_column_the_same_spread_over_all_filters_together():
    embeddings = views()
    scaler = ViewScaler("standard").fit(embeddings)
    pooled = np.concatenate([scaler.transform(v) for v in embeddings])
    np.testing.assert_allclose(pooled.mean(axis=0), 0, atol=1e-4)
    np.testing.assert_allclose(pooled.std(axis=0), pooled.std(axis=0)[0], rtol=1e-4)


@pytest.mark.parametrize("scale", ["rms", "standard"])
def test_constant_embeddings_stay_finite(scale):
    constant = [np.full((4, 3), 2.0, dtype=np.float32)] * 2
    assert np.isfinite(ViewScaler(scale).fit(constant).transform(constant[0])).all()


def test_nan_names_its_row_and_unequal_widths_are_an_error():
    broken = views()
    broken[1][7, 0] = np.nan
    with pytest.raises(UserError, match="row 7 "):
        ViewScaler("rms").fit(broken)
    with pytest.raises(UserError, match="one width"):
        ViewScaler().fit([np.zeros((3, 2)), np.zeros((3, 4))])


def test_fourier_features_of_scaled_embeddings_do_not_depend_on_their_unit():
    embeddings = views()
    chosen = MAPS.parse({"map": "fourier", "dim": 64, "gammas": [0.4], "scale": "rms"})
    first, second = (
        Projection.fit(chosen, version).transform(version[2][:10])
        for version in (embeddings, [100 * v for v in embeddings])
    )
    assert first.shape == (10, 64)
    np.testing.assert_allclose(first, second, atol=1e-4)


@pytest.mark.parametrize("norm", [1.0, 4.0])
@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_unit_rows_have_the_stated_length_and_keep_their_direction(norm, kind):
    embeddings = [view.astype(kind) for view in views()]
    scaler = ViewScaler("unit", norm=norm).fit(embeddings)
    for view in embeddings:
        before = view.copy()
        scaled = scaler.transform(view)
        assert scaled.dtype == np.float32
        lengths = np.linalg.norm(view, axis=1, keepdims=True)
        np.testing.assert_allclose(np.linalg.norm(scaled, axis=1), norm, rtol=1e-5)
        np.testing.assert_allclose(scaled, norm * view / lengths, rtol=1e-5)
        np.testing.assert_array_equal(view, before)


def test_unit_leaves_rows_of_zeros():
    view = views()[0]
    view[[0, 7]] = 0
    scaled = ViewScaler("unit").fit([view]).transform(view)
    np.testing.assert_array_equal(scaled[[0, 7]], 0)
    np.testing.assert_allclose(np.linalg.norm(scaled[1:7], axis=1), 4.0, rtol=1e-5)


def test_unit_rows_do_not_depend_on_other_rows_or_filters():
    first, second, _ = views()
    scaler = ViewScaler("unit").fit([first])
    np.testing.assert_array_equal(ViewScaler("unit").fit([first, second]).transform(second), scaler.transform(second))
    np.testing.assert_array_equal(scaler.transform(second[5:9]), scaler.transform(second)[5:9])


def test_fourier_features_of_unit_rows_do_not_depend_on_the_unit_of_the_embeddings():
    embeddings = views()
    chosen = MAPS.parse({"map": "fourier", "dim": 64, "gammas": [0.4], "scale": "unit"})
    first, second = (
        Projection.fit(chosen, version).transform(version[2]) for version in (embeddings, [9 * v for v in embeddings])
    )
    np.testing.assert_allclose(first, second, atol=1e-4)


def test_unknown_scaling_names_those_that_there_are():
    with pytest.raises(UserError, match="no scaling 'length'; choose one of: none, rms, standard, unit"):
        ViewScaler("length").fit(views())
