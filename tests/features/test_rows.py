import numpy as np
import pytest
import scipy.sparse as sp

from figure_kedro.features import STRUCTURAL
from figure_kedro.features.rows import with_normalised_rows
from figure_kedro.graph import graph_from_edges
from figure_kedro.pipelines.data_processing.nodes import prepare_graph

GIVEN = np.array([[1, 3], [0, 0], [-1, 1]], np.float32)
SHARES = np.array([[0.25, 0.75], [0, 0], [-0.5, 0.5]], np.float32)


def path(**given):
    return graph_from_edges(np.array([0, 1]), np.array([1, 2]), name="toy", num_nodes=3, **given)


@pytest.mark.parametrize("form", [np.array, sp.csr_array])
def test_magnitudes_of_a_row_add_up_to_one_and_rows_of_zeros_stay(form):
    graph = path(features=form(GIVEN))
    features = with_normalised_rows(graph).features
    assert type(features) is type(graph.features)
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features.toarray() if sp.issparse(features) else features, SHARES)
    np.testing.assert_array_equal(graph.features.toarray() if sp.issparse(features) else graph.features, GIVEN)


def test_a_graph_without_features_has_nothing_to_normalise():
    graph = path()
    assert with_normalised_rows(graph) is graph


def test_structural_features_stand_beside_normalised_ones_at_their_own_scale():
    graph = path(features=GIVEN)
    settings = STRUCTURAL.parse({"normalise": "rows", "structural": "one_hot_degree"})
    prepared, _ = prepare_graph(graph, settings)
    np.testing.assert_array_equal(prepared.features[:, :2], SHARES)
    np.testing.assert_array_equal(prepared.features[:, 2:], [[0, 1, 0], [0, 0, 1], [0, 1, 0]])
    untouched, _ = prepare_graph(graph, STRUCTURAL.parse({}))
    np.testing.assert_array_equal(untouched.features, GIVEN)
