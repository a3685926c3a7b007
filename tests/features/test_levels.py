import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.features import STRUCTURAL
from figure_kedro.features.kinds.levels import hats, level_features, quantiles, trophic_levels
from figure_kedro.graph import graph_from_edges


def directed(edges, n, weights=None):
    source, target = np.array(edges, dtype=int).reshape(-1, 2).T
    return graph_from_edges(source, target, name="some", num_nodes=n, directed=True, weights=weights)


edges = st.lists(
    st.tuples(st.integers(0, 9), st.integers(0, 9)).filter(lambda e: e[0] != e[1]), max_size=40, unique=True
)


def test_a_chain_has_one_step_between_levels():
    levels = trophic_levels(directed([(3, 2), (2, 1), (1, 0)], 5))
    np.testing.assert_allclose(np.diff(levels[:4]), 1, atol=1e-5)
    assert levels[4] == 0  # nobody cites it and it cites nobody


def test_a_cycle_has_one_level_and_two_components_have_a_mean_of_their_own():
    levels = trophic_levels(directed([(0, 1), (1, 2), (2, 0), (3, 4)], 5))
    np.testing.assert_allclose(levels, [0, 0, 0, 0.5, -0.5], atol=1e-5)


@settings(max_examples=50, deadline=None)
@given(edges=edges, data=st.data())
def test_levels_are_the_least_squares_solution(edges, data):
    weights = np.array([data.draw(st.sampled_from([0.5, 1.0, 3.0])) for _ in edges])
    graph = directed(edges, 10, weights if len(edges) else None)
    dense = graph.adjacency.toarray().astype(float)
    source, target = np.nonzero(dense)
    rows = np.zeros((len(source), 10))
    rows[np.arange(len(source)), source] += 1
    rows[np.arange(len(source)), target] -= 1
    root = np.sqrt(dense[source, target])
    levels = trophic_levels(graph)
    expected = np.linalg.lstsq(root[:, None] * rows, root, rcond=None)[0] if len(source) else np.zeros(10)
    np.testing.assert_allclose(rows @ levels, rows @ expected, atol=1e-4)
    assert np.isfinite(levels).all()


@settings(max_examples=50, deadline=None)
@given(values=st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=60), columns=st.integers(2, 12))
def test_hats_sum_to_one_and_give_the_value_back(values, columns):
    values = np.array(values)
    tops = quantiles(values, columns)
    result = hats(values, tops)
    assert result.shape[1] == len(tops) <= columns
    np.testing.assert_allclose(result.sum(axis=1), 1, atol=1e-5)
    assert (np.count_nonzero(result, axis=1) <= 2).all()
    if len(tops) > 1:  # a linear map of the columns is any function that is linear between the tops
        spread = tops[-1] - tops[0]
        np.testing.assert_allclose(result @ tops, values, atol=1e-5 * spread + 1e-6)


def test_a_kind_of_structural_features_for_directed_graphs_alone():
    levels = STRUCTURAL.build(STRUCTURAL.parse({"structural": "levels", "bins": 4}))
    graph = directed([(3, 2), (2, 1), (1, 0), (3, 0)], 4)
    np.testing.assert_array_equal(levels.features(graph), level_features(graph, 4).astype(np.float32))
    undirected = graph_from_edges(np.array([0, 1]), np.array([1, 2]), name="some", num_nodes=3)
    with pytest.raises(UserError, match="needs a directed graph") as error:
        levels.features(undirected)
    assert "\n" not in str(error.value)
