"""Numbers at the edges: finite embeddings, or one line that says what to do."""

import numpy as np
import pytest
from faults_project import one_line

from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.features import STRUCTURAL, prepare_features
from figure_kedro.filters import BANKS
from figure_kedro.graph import graph_from_edges
from figure_kedro.graph.csr import row_sums
from figure_kedro.methods.method import METHODS

STAR = (np.zeros(49, int), np.arange(1, 50), 50)
PATH = (np.arange(49), np.arange(1, 50), 50)
COMPLETE = (*np.triu_indices(20, 1), 20)
BIPARTITE = (np.repeat(np.arange(8), 8), np.tile(np.arange(8, 16), 8), 16)
NONE = np.zeros(0, int)
SHAPES = {
    "star": STAR,
    "path": PATH,
    "complete": COMPLETE,
    "bipartite": BIPARTITE,
    "one node": (NONE, NONE, 1),
    "two nodes": (np.array([0]), np.array([1]), 2),
    "two nodes apart": (NONE, NONE, 2),
    "no edges": (NONE, NONE, 20),
}


def embedded(graph, method="propagation", **filters):
    settings = {"method": method}
    if method not in ("propagation", "features"):
        settings["dim"] = 4
    if method not in ("propagation", "features", "untrained"):
        settings["training"] = {"max_epochs": 3}
    fitted = Representation(filters=BANKS.parse(filters), settings=METHODS.parse(settings), progress=False)
    return fitted.fit(graph).transform(graph)


def finite_or_one_line(function):
    line = ""
    try:
        assert all(np.isfinite(view).all() for view in function().values())
    except UserError as error:
        line = str(error)
    assert "\n" not in line


@pytest.mark.parametrize("method", METHODS.names())
@pytest.mark.parametrize("shape", SHAPES)
def test_every_method_on_every_shape_gives_finite_embeddings_or_one_line(shape, method):
    source, target, n = SHAPES[shape]
    features = np.random.default_rng(0).standard_normal((n, 3)).astype(np.float32)
    graph = graph_from_edges(source, target, name=shape, num_nodes=n, features=features)
    finite_or_one_line(lambda: embedded(graph, method))


@pytest.mark.parametrize("kind", STRUCTURAL.names())
@pytest.mark.parametrize("shape", SHAPES)
def test_structural_features_of_every_shape_are_finite(shape, kind):
    source, target, n = SHAPES[shape]
    graph = graph_from_edges(source, target, name=shape, num_nodes=n, directed=kind == "levels")
    finite_or_one_line(lambda: embedded(prepare_features(graph, STRUCTURAL.parse({"structural": kind}))))


@pytest.mark.parametrize("loops", [True, False])
@pytest.mark.parametrize("bank", BANKS.names())
@pytest.mark.parametrize("weight", [1e-30, 1e-10, 1e10, 1e30, 1e38])
def test_the_scale_of_all_weights_does_not_matter_without_self_loops(weight, bank, loops):
    features = np.random.default_rng(0).standard_normal((50, 3)).astype(np.float32)
    scaled, plain = (
        graph_from_edges(*STAR[:2], name="star", num_nodes=50, weights=np.full(49, w), features=features)
        for w in (weight, 1.0)
    )
    views = embedded(scaled, bank=bank, self_loops=loops)
    assert all(np.isfinite(view).all() for view in views.values())
    for name, view in embedded(plain, bank=bank, self_loops=loops).items():
        if not loops:
            np.testing.assert_allclose(views[name], view, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("kind", STRUCTURAL.names())
def test_weights_whose_sum_exceeds_single_precision_make_the_same_structural_features(kind):
    weights = (np.full(49, 1e38), np.ones(49))
    heavy, light = (
        graph_from_edges(*STAR[:2], name="star", num_nodes=50, weights=w, directed=kind == "levels") for w in weights
    )
    assert np.isinf(heavy.adjacency.data.sum(dtype=np.float32))
    np.testing.assert_allclose(row_sums(heavy.adjacency)[0], 49e38, rtol=1e-6)
    features = [prepare_features(graph, STRUCTURAL.parse({"structural": kind})).features for graph in (heavy, light)]
    if features[1] is not None:
        np.testing.assert_allclose(*features, rtol=1e-3, atol=1e-3)


@pytest.mark.parametrize("method", METHODS.names())
@pytest.mark.parametrize("value", [0.0, 1e-30, 5e4, 1e30, 3e38])
def test_features_of_any_size_give_finite_embeddings_or_one_line(value, method):
    random = np.random.default_rng(0).standard_normal((50, 3))
    for features in (np.full((50, 3), value), np.full((50, 1), value), np.clip(random * value, -3e38, 3e38)):
        graph = graph_from_edges(*PATH[:2], name="path", num_nodes=50, features=features.astype(np.float32))
        finite_or_one_line(lambda graph=graph: embedded(graph, method))
        prepared = prepare_features(graph, STRUCTURAL.parse({"normalise": "columns"}))
        assert np.abs(prepared.features).max() < 10


def test_embeddings_that_exceed_single_precision_are_one_line():
    graph = graph_from_edges(*PATH[:2], name="path", num_nodes=50, features=np.full((50, 99), 3e38, np.float32))
    assert "set features.normalise=columns" in one_line(embedded, graph, "untrained")


def test_one_hub_among_a_hundred_thousand_nodes_is_embedded():
    n = 100_000
    features = np.random.default_rng(0).standard_normal((n, 2)).astype(np.float32)
    graph = graph_from_edges(np.zeros(n - 1, int), np.arange(1, n), name="hub", num_nodes=n, features=features)
    assert all(np.isfinite(view).all() for view in embedded(graph).values())
