"""A projection scales an embedding and then maps it; evaluation sees what it gives."""

import numpy as np
import pytest
import torch
from sklearn.kernel_approximation import RBFSampler

from figure_kedro.errors import UserError
from figure_kedro.evaluation.views import Views
from figure_kedro.projections import MAPS, Projection, ViewScaler
from figure_kedro.projections.maps.fourier import Fourier


def embeddings(k: int = 3, n: int = 40, d: int = 5) -> list[np.ndarray]:
    rng = np.random.default_rng(0)
    return [(rng.normal(size=(n, d)) * rng.uniform(0.1, 5, d) + i).astype(np.float32) for i in range(k)]


def fit(name, views=None, **settings):
    chosen = MAPS.parse(MAPS.only_chosen({"map": name, "dim": 24, "seed": 3, **settings}))
    return Projection.fit(chosen, embeddings() if views is None else views)


@pytest.mark.parametrize("name", MAPS.names())
@pytest.mark.parametrize("scale", ["none", "rms", "standard"])
def test_a_projection_is_the_scaler_of_all_views_and_then_the_map(name, scale):
    views = embeddings()
    projection = fit(name, views, scale=scale, norm=1.5)
    scaler = ViewScaler(scale, 1.5).fit(views)
    feature_map = MAPS.build(projection.settings).fit(views[0])
    for view in views:
        expected = feature_map.transform(scaler.transform(view))
        np.testing.assert_array_equal(projection.transform(view), expected)
        np.testing.assert_allclose(projection.transform(view[5:9]), expected[5:9], rtol=1e-5, atol=1e-5)
    assert projection.output_dim == expected.shape[1] == (5 if name == "identity" else 24)
    assert projection.input_dim == 5


def test_only_fourier_has_something_to_choose():
    assert fit("fourier", gammas=[0.2, 0.9]).choices == {"gamma": (0.2, 0.9)}
    assert all(fit(name).choices == {} for name in MAPS.names() if name != "fourier")


@pytest.mark.parametrize("gamma", [0.2, 0.9])
def test_the_choice_of_gamma_is_honoured(gamma):
    view = embeddings()[1]
    projection = fit("fourier", gammas=[0.2, 0.5, 0.9])
    sampler = RBFSampler(gamma=gamma**2 / 2, n_components=24, random_state=3).fit(view)
    np.testing.assert_allclose(projection.transform(view, gamma=gamma), sampler.transform(view), rtol=1e-5, atol=1e-6)
    assert projection.feature_map(gamma=gamma).gamma == gamma


def test_a_single_gamma_needs_no_choice():
    view = embeddings()[1]
    projection = fit("fourier", gammas=0.7)
    np.testing.assert_array_equal(projection.transform(view), projection.transform(view, gamma=0.7))
    np.testing.assert_array_equal(projection.transform(view), Fourier(24, 0.7, 3).fit(view).transform(view))


def test_without_a_choice_one_of_the_gammas_is_taken():
    view = embeddings()[1]
    projection = fit("fourier", gammas=[0.2, 0.5, 0.9])
    given = [projection.transform(view, gamma=gamma) for gamma in (0.2, 0.5, 0.9)]
    assert [np.array_equal(projection.transform(view), rows) for rows in given].count(True) == 1


@pytest.mark.parametrize(("name", "choice"), [("fourier", {"gamma": 0.3}), ("fourier", {}), ("maclaurin", {})])
def test_a_projection_is_what_evaluation_sees(name, choice):
    everything, rows = embeddings(), np.array([1, 4, 17, 30])
    projection = fit(name, everything, scale="standard")
    views = Views([view[rows] for view in everything], projection)
    seen = views.projected({**choice, "weight_decay": 1e-3, "mask_0": 0})
    assert len(seen) == len(views) == len(everything)
    for view, block in zip(everything, seen, strict=True):
        assert isinstance(block, torch.Tensor)
        np.testing.assert_array_equal(block.numpy(), projection.transform(view[rows], **choice))


def test_a_torch_embedding_is_projected_like_its_array():
    view = embeddings()[0]
    projection = fit("anova", scale="rms")
    np.testing.assert_array_equal(projection.transform(torch.from_numpy(view)), projection.transform(view))


def test_the_same_settings_give_the_same_projection_and_nothing_is_left_to_chance():
    view = embeddings()[0]
    for name in MAPS.names():
        np.testing.assert_array_equal(fit(name).transform(view), fit(name).transform(view))


def test_views_of_another_width_or_of_several_are_an_error():
    with pytest.raises(UserError, match="X has 4 features, but Fourier is expecting 5"):
        fit("fourier").transform(np.zeros((2, 4), dtype=np.float32))
    with pytest.raises(UserError, match="one width"):
        fit("fourier", [np.zeros((3, 2)), np.zeros((3, 4))])


@pytest.mark.parametrize("gammas", [[], [0.0], [-0.1], ["wide"]])
def test_gammas_that_mean_nothing_are_refused(gammas):
    with pytest.raises(ValueError, match="gammas"):
        MAPS.parse({"map": "fourier", "gammas": gammas})
