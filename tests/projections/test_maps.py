"""Random feature maps against the kernels that they stand for."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from sklearn.base import clone
from sklearn.kernel_approximation import RBFSampler

from figure_kedro.errors import UserError
from figure_kedro.projections import MAPS, feature_map
from figure_kedro.projections.maps.anova import Anova
from figure_kedro.projections.maps.fourier import Fourier
from figure_kedro.projections.maps.identity import Identity
from figure_kedro.projections.maps.maclaurin import Maclaurin

RANDOM_MAPS = ["anova", "fourier", "maclaurin"]


def build(name, **settings):
    """A map by name; ``only_chosen`` leaves out what this one has no setting for."""
    return MAPS.build(MAPS.parse(MAPS.only_chosen({"map": name, **settings})))


def unit_rows(n: int = 12, d: int = 6, seed: int = 0) -> np.ndarray:
    rows = np.random.default_rng(seed).normal(size=(n, d)).astype(np.float32)
    return rows / np.linalg.norm(rows, axis=1, keepdims=True)


def anova_kernel(x: np.ndarray, y: np.ndarray, degree: int) -> float:
    return sum(np.prod(x[list(c)] * y[list(c)]) for c in itertools.combinations(range(len(x)), degree))


def exact_kernels(rows: np.ndarray):
    """Every map with very many features, and its exact kernel matrix."""
    dots = rows.astype(float) @ rows.astype(float).T
    distances = np.square(rows[:, None].astype(float) - rows[None]).sum(axis=2)
    pairs = list(itertools.product(rows.astype(float), repeat=2))
    yield Fourier(60_000, gamma=0.8, random_state=1), np.exp(-(0.8**2) * distances / 2)
    yield Maclaurin(60_000, degree=2, random_state=1), (dots + 1) ** 2
    yield Maclaurin(60_000, degree=10, random_state=1), (dots + 1) ** 10
    yield Maclaurin(60_000, kernel="exponential", sigma=1.2, random_state=1), np.exp(dots / 1.2**2)
    for m in (1, 2, 3):
        kernel = np.array([anova_kernel(x, y, m) for x, y in pairs]).reshape(dots.shape)
        yield Anova(60_000, degree=m, random_state=1), kernel


def test_every_file_is_a_projection():
    assert MAPS.names() == ("anova", "fourier", "identity", "maclaurin")


@pytest.mark.parametrize("index", range(7))
def test_inner_products_lie_within_five_standard_errors_of_the_exact_kernel(index):
    rows = unit_rows()
    feature_map_, kernel = list(exact_kernels(rows))[index]
    features = feature_map_.fit(rows).transform(rows).astype(float)
    dim = features.shape[1]
    for u, v in itertools.combinations_with_replacement(range(len(rows)), 2):
        terms = features[u] * features[v] * dim  # independent draws whose mean is the kernel
        bound = 5 * terms.std() / np.sqrt(dim) + 1e-5 * abs(kernel[u, v])
        assert abs(terms.mean() - kernel[u, v]) <= bound


@pytest.mark.parametrize("index", [0, 1, 3, 5])
def test_kernel_estimates_are_close_in_absolute_terms(index):
    rows = unit_rows()
    feature_map_, kernel = list(exact_kernels(rows))[index]
    features = feature_map_.fit(rows).transform(rows).astype(float)
    # One feature deviates by less than 5 times the largest entry; 60,000 make that 0.02, of which 0.1 is five times.
    assert np.abs(features @ features.T - kernel).max() <= 0.1 * np.abs(kernel).max()


@pytest.mark.parametrize("name", RANDOM_MAPS)
def test_average_over_seeds_approaches_the_kernel_even_with_few_features(name):
    rows = unit_rows(4)
    estimates = []
    for seed in range(1500):
        drawn = build(name, dim=8, gammas=[0.8], degree=2, seed=seed)
        features = drawn.fit(rows).transform(rows).astype(float)
        estimates.append(features[0] @ features[1])
    x, y = rows[0].astype(float), rows[1].astype(float)
    exact = {
        "anova": anova_kernel(x, y, 2),
        "fourier": np.exp(-(0.8**2) * np.square(x - y).sum() / 2),
        "maclaurin": (x @ y + 1) ** 2,
    }[name]
    assert abs(np.mean(estimates) - exact) <= 5 * np.std(estimates) / np.sqrt(len(estimates))


def test_fourier_is_the_formula_of_the_paper_and_sklearns_sampler():
    rows = unit_rows()
    fitted = Fourier(32, gamma=0.7, random_state=3).fit(rows)
    sampler = RBFSampler(gamma=0.7**2 / 2, n_components=32, random_state=3).fit(rows)
    w, b = sampler.random_weights_ / 0.7, sampler.random_offset_
    np.testing.assert_allclose(fitted.transform(rows), sampler.transform(rows), rtol=1e-6)
    np.testing.assert_allclose(fitted.transform(rows), np.sqrt(2 / 32) * np.cos(0.7 * rows @ w + b), atol=1e-6)


def test_two_gammas_of_one_seed_share_their_directions():
    rows = unit_rows()
    narrow, wide = (Fourier(8, gamma=g, random_state=0).fit(rows).sampler_.random_weights_ for g in (0.3, 1.2))
    np.testing.assert_allclose(narrow * 4, wide, rtol=1e-5)


@settings(max_examples=20, deadline=None)
@given(st.integers(1, 7), st.integers(1, 5), st.integers(0, 1000))
def test_anova_feature_is_the_anova_kernel_with_a_sign_vector(d, degree, seed):
    rows = 3 * np.random.default_rng(seed).normal(size=(3, d)).astype(np.float32)
    fitted = Anova(4, degree=degree, random_state=seed).fit(rows)
    exact = [[anova_kernel(x.astype(float), w, degree) / 2 for w in fitted.signs_.T] for x in rows]
    np.testing.assert_allclose(fitted.transform(rows), exact, rtol=1e-4, atol=1e-4)


def test_identity_returns_its_input():
    rows = unit_rows()
    assert Identity().fit(rows).transform(rows) is rows


@pytest.mark.parametrize("name", MAPS.names())
def test_one_fit_serves_every_view_and_gives_float32_of_the_stated_width(name):
    fitted = build(name, dim=40).fit(unit_rows(12, 6))
    mapped = fitted.transform(torch.as_tensor(unit_rows(5, 6, seed=1)))
    assert mapped.shape == (5, 6 if name == "identity" else 40) == (5, fitted.n_features_out_)
    assert mapped.dtype == np.float32


@pytest.mark.parametrize("name", RANDOM_MAPS)
def test_same_seed_same_map_another_seed_another_map(name):
    rows = unit_rows()
    a, b, c = (build(name, seed=s).fit(rows[:k]).transform(rows) for s, k in ((5, 1), (5, 12), (6, 12)))
    np.testing.assert_array_equal(a, b)
    assert not np.array_equal(a, c)


@pytest.mark.parametrize("name", MAPS.names())
def test_blocks_of_rows_are_the_rows_of_the_whole(name, monkeypatch):
    rows = unit_rows(50)
    fitted = build(name, dim=16).fit(rows)
    whole = fitted.transform(rows)
    monkeypatch.setattr(feature_map, "BLOCK_ENTRIES", 16 * 7)
    parts = list(fitted.blocks(rows))
    assert len(parts) > 1
    np.testing.assert_allclose(np.concatenate([block for _, block in parts]), whole, rtol=1e-5, atol=1e-6)


@pytest.mark.parametrize("name", MAPS.names())
@pytest.mark.parametrize("bad", [np.nan, np.inf])
def test_a_value_that_is_not_finite_is_named_by_its_row(name, bad):
    rows = unit_rows()
    fitted = build(name, dim=16).fit(rows)
    rows[3, 2] = bad
    with pytest.raises(UserError, match="row 3 of the embeddings is not finite"):
        fitted.transform(rows)


def test_features_that_overflow_say_how_to_scale():
    rows = np.full((2, 4), 1e5, dtype=np.float32)
    with pytest.raises(UserError, match=r"set projection\.scale"):
        Maclaurin(512, degree=20).fit(rows).transform(rows)


def test_other_width_than_fitted_is_an_error():
    with pytest.raises(UserError, match="X has 5 features, but Fourier is expecting 6 features"):
        Fourier(8).fit(unit_rows(3, 6)).transform(unit_rows(3, 5))


def test_an_unknown_map_names_the_nearest():
    with pytest.raises(UserError, match=r"^there is no projection 'fouriers'; did you mean 'fourier'\?$"):
        MAPS.parse({"map": "fouriers"})


@pytest.mark.parametrize("name", MAPS.names())
def test_maps_can_be_cloned(name):
    built = build(name, dim=7, seed=2)
    assert clone(built).get_params() == built.get_params()
