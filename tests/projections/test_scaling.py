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
