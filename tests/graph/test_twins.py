"""Nodes that cannot be told apart without their labels."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import relabelled
from figure_kedro.graph import graph_from_edges
from figure_kedro.graph.splits import TEST, TRAIN, UNUSED, VAL
from figure_kedro.graph.twins import ALONE, has_training_twin, twin_groups


def graph_of(edges, nodes, **given):
    source, target = np.array(edges, dtype=np.int64).reshape(-1, 2).T
    return graph_from_edges(source, target, name="toy", num_nodes=nodes, **given)


def partition(twins):
    """The groups as sets of nodes, whatever their numbers are."""
    return {frozenset(np.flatnonzero(twins == group).tolist()) for group in np.unique(twins[twins != ALONE])}


def groups_of(graph, **given):
    return partition(twin_groups(graph, **given))


def dense_partition(graph, *, features):
    """The same by comparing whole rows, node by node."""
    rows = [graph.adjacency.toarray()]
    degrees = (rows[0] != 0).sum(axis=1)
    if features and graph.features is not None:
        rows.append(graph.features.toarray() if sp.issparse(graph.features) else graph.features)
    found = {}
    for node, row in enumerate(np.hstack(rows)):
        if degrees[node]:
            found.setdefault(tuple(row.tolist()), []).append(node)
    return {frozenset(nodes) for nodes in found.values() if len(nodes) > 1}


def test_nodes_with_the_same_neighbours_are_twins_whatever_their_features():
    # 0, 1 and 2 hang on 3 and 4; 5 hangs on 3 alone; 6 and 7 are alone
    edges = [(u, v) for u in (0, 1, 2) for v in (3, 4)] + [(5, 3)]
    features = np.array([[1, 0], [1, 0], [0, 2], [5, 5], [5, 5], [1, 0], [3, 3], [3, 3]], dtype=np.float32)
    for given_features in (None, features, sp.csr_array(features)):
        graph = graph_of(edges, 8, features=given_features)
        assert groups_of(graph) == {frozenset({0, 1, 2})}
        expected = {frozenset({0, 1, 2} if given_features is None else {0, 1})}
        assert groups_of(graph, features=True) == expected


def test_every_group_has_a_number_of_its_own_and_others_have_none():
    twins = twin_groups(graph_of([(0, 2), (1, 2), (3, 5), (4, 5)], 7))
    assert twins[0] == twins[1] != twins[3] == twins[4]
    assert (twins[[0, 1, 3, 4]] >= 0).all()
    assert (twins[[2, 5, 6]] == ALONE).all()


def test_neighbours_of_each_other_are_no_twins():
    assert groups_of(graph_of([(0, 1), (0, 2), (1, 2)], 3)) == set()


def test_directed_twins_point_at_the_same_nodes_whoever_points_at_them():
    # 0, 1 and 2 point at 3, and 4 points at 2
    edges = [(0, 3), (1, 3), (2, 3), (4, 2)]
    assert groups_of(graph_of(edges, 5, directed=True)) == {frozenset({0, 1, 2})}
    # 1 and 2 are pointed at by the same node and point at different ones
    assert groups_of(graph_of([(0, 1), (0, 2), (1, 3), (2, 4)], 5, directed=True)) == set()


def test_directed_nodes_that_point_nowhere_have_no_twin():
    assert groups_of(graph_of([(0, 1), (0, 2)], 3, directed=True)) == set()


def test_an_edge_in_the_other_direction_is_another_one():
    # 0 points at 2, and 2 points at 1
    assert groups_of(graph_of([(0, 2), (2, 1)], 3, directed=True)) == set()
    assert groups_of(graph_of([(0, 2), (2, 1)], 3)) == {frozenset({0, 1})}


@pytest.mark.parametrize("directed", [False, True])
def test_weights_count(directed):
    edges = [(0, 3), (1, 3), (2, 3)]
    graph = graph_of(edges, 4, directed=directed, weights=np.array([1.0, 2.0, 1.0]))
    assert groups_of(graph) == {frozenset({0, 2})}


def test_weights_that_swap_their_neighbours_count():
    edges, weights = [(0, 2), (0, 3), (1, 2), (1, 3), (2, 4)], np.array([1.0, 2.0, 2.0, 1.0, 7.0])
    assert groups_of(graph_of(edges, 5, weights=weights)) == set()


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("features", [False, True])
def test_isolated_nodes_have_no_twin(directed, features):
    graph = graph_of([(0, 1)], 5, directed=directed, features=np.ones((5, 2), dtype=np.float32))
    assert (twin_groups(graph, features=features)[2:] == ALONE).all()
    empty = graph_of([], 3, directed=directed)
    assert (twin_groups(empty) == ALONE).all()


@st.composite
def graphs(draw):
    """Few nodes, weights and features, so that twins are common."""
    nodes = draw(st.integers(2, 8))
    node = st.integers(0, nodes - 1)
    edges = draw(st.lists(st.tuples(node, node, st.sampled_from([1.0, 2.0])), max_size=12))
    ends = np.array([edge[:2] for edge in edges], dtype=np.int64).reshape(-1, 2)
    features = np.array(draw(st.lists(st.sampled_from([0, 1, -1]), min_size=nodes, max_size=nodes)), dtype=np.float32)
    kind = draw(st.sampled_from([None, np.array, sp.csr_array]))
    return graph_of(
        ends,
        nodes,
        weights=np.array([edge[2] for edge in edges]),
        directed=draw(st.booleans()),
        features=None if kind is None else kind(np.column_stack([features, features**2])),
    )


@settings(max_examples=150, deadline=None)
@given(graph=graphs(), features=st.booleans())
def test_groups_are_those_of_equal_dense_rows(graph, features):
    assert groups_of(graph, features=features) == dense_partition(graph, features=features)


@settings(max_examples=60, deadline=None)
@given(graph=graphs(), features=st.booleans(), data=st.data())
def test_grouping_commutes_with_relabelling(graph, features, data):
    order = np.array(data.draw(st.permutations(range(graph.num_nodes))))
    before = twin_groups(graph, features=features)
    after = twin_groups(relabelled(graph, order), features=features)
    assert partition(after) == partition(before[order])


def test_groups_are_the_same_every_time():
    graph = graph_of([(0, 2), (1, 2), (3, 5), (4, 5)], 7)
    np.testing.assert_array_equal(twin_groups(graph), twin_groups(graph))


def test_a_test_node_with_a_twin_in_training_is_known():
    # a group in every part, one in validation and test, nodes without twins, one in test alone
    twins = np.array([0, 0, 1, 1, ALONE, ALONE, 2, 2, 0, 0])
    codes = np.array([TRAIN, TEST, VAL, TEST, TRAIN, TEST, TEST, TEST, TEST, UNUSED])
    expected = np.zeros(10, dtype=bool)
    expected[[1, 8]] = True
    np.testing.assert_array_equal(has_training_twin(twins, codes), expected)


def test_nobody_is_known_where_nothing_is_trained_on():
    assert not has_training_twin(np.array([0, 0, ALONE]), np.array([TEST, VAL, TEST])).any()
