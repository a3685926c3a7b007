"""Methods share one interface; what holds for all of them."""

import dataclasses

import numpy as np
import pytest
import torch

from examples import example_graph
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.filters import BANKS, build_bank, normalised_adjacency
from figure_kedro.graph import graph_from_edges
from figure_kedro.methods.method import METHODS

pytestmark = pytest.mark.usefixtures("one_thread")

BANK_METHODS = ("figure", "figure_components", "untrained", "propagation")
TRAINED = [name for name in METHODS.names() if name not in ("untrained", "propagation", "features")]


def fitted(method, graph, seed=0):
    given = {"dim": 4, "training": {"max_epochs": 2, "seed": seed}, "per_node": 2, "length": 5}
    settings = METHODS.parse(METHODS.only_chosen({"method": method, **given}))
    return Representation(settings=settings, progress=False).fit(graph)


def hard_graph():
    """Two components and two isolated nodes."""
    features = np.random.default_rng(0).normal(size=(9, 3)).astype(np.float32)
    source, target = np.array([[0, 1], [1, 2], [2, 3], [4, 5], [5, 6]]).T
    return graph_from_edges(source, target, num_nodes=9, features=features, name="hard")


@pytest.mark.parametrize("method", METHODS.names())
@pytest.mark.parametrize("features", ["dense", "sparse"])
def test_every_method_gives_finite_views_and_survives_its_state(method, features):
    graph = example_graph(features=features)
    representation = fitted(method, graph)
    views = dict(representation.embed(graph))
    assert tuple(views) == representation.view_names
    if method in BANK_METHODS:
        assert tuple(views) == ("I", "A", "A^2", "A^3")
    restored = dict(Representation.from_state(*representation.state()).embed(graph))
    for name, view in views.items():
        assert view.shape == (graph.num_nodes, representation.width)
        assert view.dtype == np.float32
        assert np.isfinite(view).all()
        np.testing.assert_array_equal(view, restored[name])


@pytest.mark.parametrize("method", METHODS.names())
def test_isolated_nodes_and_several_components_are_legal(method):
    graph = hard_graph()
    for view in fitted(method, graph).transform(graph).values():
        assert np.isfinite(view).all()


@pytest.mark.parametrize("method", TRAINED)
def test_a_directed_graph_is_legal(method):
    source, target = np.nonzero(np.triu(np.random.default_rng(1).random((12, 12)) < 0.3, 1))
    features = np.eye(12, 5, dtype=np.float32)
    graph = graph_from_edges(source, target, num_nodes=12, features=features, name="directed", directed=True)
    for view in fitted(method, graph).transform(graph).values():
        assert np.isfinite(view).all()


@pytest.mark.parametrize("method", METHODS.names())
def test_a_graph_without_features_gets_structural_ones_where_they_are_needed(method):
    graph = dataclasses.replace(example_graph(), features=None)
    representation = fitted(method, graph)
    assert representation.structural_ == ("proximity" if "features" in METHODS[method].reads else "")
    for view in representation.transform(graph).values():
        assert np.isfinite(view).all()


@pytest.mark.parametrize("method", TRAINED)
def test_the_same_seed_gives_the_same_embeddings_and_another_one_others(method):
    graph = example_graph()
    first, again, other = (next(iter(fitted(method, graph, seed=seed).transform(graph).values())) for seed in (0, 0, 1))
    np.testing.assert_array_equal(first, again)
    assert not np.array_equal(first, other)


@pytest.mark.parametrize("method", ["deepwalk", "node2vec"])
def test_methods_of_walks_refuse_another_graph(method):
    representation = fitted(method, example_graph())
    with pytest.raises(UserError, match="knows only the nodes"):
        representation.transform(example_graph(30))


def test_propagation_is_the_filtered_features():
    graph = example_graph()
    matrix = normalised_adjacency(graph.adjacency).toarray()
    for power, view in enumerate(fitted("propagation", graph).transform(graph).values()):
        expected = np.linalg.matrix_power(matrix, power) @ graph.features
        np.testing.assert_allclose(view, expected, atol=1e-5)


def test_features_are_given_as_they_are():
    graph = example_graph(features="sparse")
    np.testing.assert_array_equal(fitted("features", graph).transform(graph)["X"], graph.features.toarray())


def test_untrained_encoder_takes_no_step():
    representation = fitted("untrained", example_graph())
    assert representation.record_.epochs == 0
    settings = representation.settings
    drawn = METHODS.part(settings)(settings, build_bank("monomial")).build(0, representation.num_features_)
    for name, weights in drawn.state_dict().items():
        torch.testing.assert_close(weights, representation.model_.state_dict()[name], rtol=0, atol=0)


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("self_loops", [True, False])
def test_dgi_is_figure_with_the_single_filter_a_weight_for_weight(features, self_loops):
    graph = example_graph(features=features)
    filters = BANKS.parse({"size": 2, "self_loops": self_loops})  # I, which is not trained, and A
    training = {"max_epochs": 12, "seed": 3}
    pair = []
    for method in ("dgi", "figure"):
        settings = METHODS.parse({"method": method, "dim": 8, "strategy": "full", "training": training})
        pair.append(Representation(filters=filters, settings=settings, progress=False).fit(graph))
    dgi, figure = pair
    assert dgi.record_.losses == pytest.approx(figure.record_.losses, rel=1e-6)
    ours, theirs = dgi.model_.state_dict(), figure.model_.state_dict()
    assert {"encoders.0.theta", "encoders.0.bias", "encoders.0.slope", "discriminators.0"} == set(ours) == set(theirs)
    for name, weights in ours.items():
        torch.testing.assert_close(weights, theirs[name], rtol=1e-5, atol=1e-6)
    np.testing.assert_allclose(dgi.transform(graph)["A"], figure.transform(graph)["A"], rtol=1e-4, atol=1e-5)
