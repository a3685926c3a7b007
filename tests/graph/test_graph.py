import dataclasses
import logging

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.graph import Graph, graph_from_edges, random_splits, splits_from_masks
from figure_kedro.graph.splits import TEST, TRAIN, UNUSED, VAL

pairs = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30)
labels_of_twelve = np.arange(12) % 3


def build(edges, **given):
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return graph_from_edges(ends[:, 0], ends[:, 1], **{"name": "toy", "num_nodes": 8, **given})


def full_graph(**changes):
    """Twelve nodes in a ring with everything a graph can have."""
    ring = np.arange(12)
    arguments = {
        "name": "ring",
        "ids": np.array([f"node-{i}" for i in ring]),
        "features": np.arange(24, dtype=np.float32).reshape(12, 2),
        "labels": labels_of_twelve,
        "splits": random_splits(labels_of_twelve, 2, 0.5, 0.25, seed=0),
    }
    return graph_from_edges(ring, np.roll(ring, -1), **{**arguments, **changes})


@settings(max_examples=60, deadline=None)
@given(edges=pairs, directed=st.booleans())
def test_adjacency_holds_exactly_the_distinct_edges_without_loops(edges, directed):
    graph = build(edges, directed=directed)
    expected = np.zeros((8, 8), dtype=np.float32)
    for u, v in edges:
        if u != v:
            expected[u, v] = 1
            if not directed:
                expected[v, u] = 1
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    assert graph.num_edges == (expected.sum() if directed else expected.sum() / 2)
    assert graph.adjacency.has_sorted_indices


def test_self_loops_and_duplicates_are_dropped_and_counted(caplog):
    with caplog.at_level(logging.INFO):
        graph = build([(0, 1), (0, 1), (0, 1), (2, 2), (3, 4)])
    assert graph.num_edges == 2
    assert "dropped 1 self-loops and 2 duplicate edges" in caplog.text


def test_both_directions_of_an_undirected_edge_are_one_edge_and_no_duplicate(caplog):
    with caplog.at_level(logging.INFO):
        assert build([(0, 1), (1, 0)]).num_edges == 1
    assert "duplicate" not in caplog.text


def test_of_repeated_edges_the_largest_weight_stands():
    graph = build([(0, 1), (0, 1), (1, 0), (2, 3)], weights=np.array([0.5, 4.0, 2.0, 1.0]))
    assert graph.adjacency[0, 1] == graph.adjacency[1, 0] == 4.0
    assert graph.adjacency[2, 3] == 1.0
    assert graph.weighted


def test_isolated_nodes_and_no_edges_at_all_are_legal():
    graph = build([])
    assert (graph.num_nodes, graph.num_edges) == (8, 0)


def test_unsorted_string_ids_keep_their_rows():
    ids = np.array(["zoe", "adam", "mia"])
    graph = graph_from_edges(np.array([0]), np.array([2]), name="people", ids=ids)
    assert list(graph.ids) == ["zoe", "adam", "mia"]
    assert graph.adjacency[0, 2] == 1


def test_a_graph_without_labels_may_have_partly_known_ones():
    assert full_graph(labels=None, splits=None).targets.num_classes == 0
    partly = full_graph(labels=np.where(labels_of_twelve == 0, -1, labels_of_twelve), splits=None)
    assert partly.targets.num_classes == 3


@settings(max_examples=40, deadline=None)
@given(node=st.one_of(st.integers(-50, -1), st.integers(8, 50)), position=st.integers(0, 2), end=st.booleans())
def test_endpoint_out_of_range_names_the_edge_and_the_node(node, position, end):
    edges = [(0, 1), (1, 2), (2, 3)]
    edges[position] = (node, 0) if end else (0, node)
    with pytest.raises(UserError, match=f"toy: edge {position} ends at node number {node}"):
        build(edges)


@settings(max_examples=20, deadline=None)
@given(weight=st.sampled_from([0.0, -1.0, np.nan, np.inf, -np.inf]), position=st.integers(0, 2))
def test_weight_that_is_not_positive_and_finite_names_the_edge(weight, position):
    weights = np.ones(3)
    weights[position] = weight
    with pytest.raises(UserError, match=f"edge {position} has weight"):
        build([(0, 1), (1, 2), (2, 3)], weights=weights)


@settings(max_examples=30, deadline=None)
@given(
    value=st.sampled_from([np.nan, np.inf, -np.inf]),
    row=st.integers(0, 11),
    column=st.integers(0, 1),
    sparse=st.booleans(),
)
def test_feature_that_is_not_finite_names_node_and_column(value, row, column, sparse):
    features = np.ones((12, 2), dtype=np.float32)
    features[row, column] = value
    with pytest.raises(UserError, match=f"feature {column} of node 'node-{row}' is not a finite number"):
        full_graph(features=sp.csr_array(features) if sparse else features)


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"features": np.ones((11, 2))}, "11 rows of features for 12 nodes"),
        ({"features": np.ones((12, 0))}, "no columns"),
        ({"labels": np.zeros(11, dtype=int), "splits": None}, "11 labels for 12 nodes"),
        ({"labels": np.full(12, -2), "splits": None}, "has label -2"),
        ({"classes": ("a", "b")}, "has label 2, outside 0 to 1"),
        ({"labels": None}, "there are splits but no labels"),
        ({"splits": np.ones((1, 5), dtype=np.int8)}, "splits of 5 nodes for 12 nodes"),
        ({"splits": np.ones((1, 12), dtype=np.int8)}, "the val part of split 0 is empty"),
        ({"ids": np.array(["same"] * 12)}, "node id 'same' occurs twice"),
        ({"weights": np.ones(3)}, "3 weights for 12 edges"),
    ],
)
def test_bad_table_is_refused_in_one_line(changes, message):
    with pytest.raises(UserError, match=message) as caught:
        full_graph(**changes)
    assert "\n" not in str(caught.value)


def test_endpoints_that_do_not_pair_up_are_refused():
    with pytest.raises(UserError, match="2 second endpoints for 3 edges"):
        graph_from_edges(np.arange(3), np.arange(2), name="toy", num_nodes=8)


def test_graph_without_nodes_is_refused():
    with pytest.raises(UserError, match="has no nodes"):
        build([], num_nodes=0)


def test_adjacency_with_loops_or_of_one_direction_is_refused():
    loop = sp.csr_array(np.eye(2, dtype=np.float32))
    with pytest.raises(UserError, match="self-loop"):
        Graph("toy", np.arange(2), loop)
    arrow = sp.csr_array(np.array([[0, 1], [0, 0]], dtype=np.float32))
    with pytest.raises(UserError, match="differ by direction"):
        Graph("toy", np.arange(2), arrow)
    assert Graph("toy", np.arange(2), arrow, directed=True).num_edges == 1


def test_checksum_changes_with_every_array_and_only_then():
    graph = full_graph()
    other_adjacency = graph.adjacency * np.float32(2)
    changed = [
        {"ids": np.array([f"n-{i}" for i in range(12)])},
        {"adjacency": other_adjacency},
        {"directed": True},
        {"features": graph.features + 1},
        {"features": sp.csr_array(graph.features)},
        {"features": None},
    ]
    checksums = [dataclasses.replace(graph, **change).checksum for change in changed]
    assert len({graph.checksum, *checksums}) == len(changed) + 1
    assert full_graph().checksum == graph.checksum


def test_checksum_of_the_structure_changes_with_ids_and_edges_but_not_with_features():
    graph = full_graph()
    changed = [
        {"ids": np.array([f"n-{i}" for i in range(12)])},
        {"adjacency": graph.adjacency * np.float32(2)},
        {"directed": True},
    ]
    checksums = [dataclasses.replace(graph, **change).structure_checksum for change in changed]
    assert len({graph.structure_checksum, *checksums}) == len(changed) + 1
    for features in (graph.features + 1, sp.csr_array(graph.features), None):
        assert dataclasses.replace(graph, features=features).structure_checksum == graph.structure_checksum


@settings(max_examples=60, deadline=None)
@given(
    labels=st.lists(st.integers(-1, 3), min_size=1, max_size=60).map(np.array),
    train=st.floats(0.1, 0.6),
    val=st.floats(0.1, 0.3),
    stratified=st.booleans(),
)
def test_random_splits_cover_the_labelled_nodes_once(labels, train, val, stratified):
    splits = random_splits(labels, 3, train, val, seed=1, stratified=stratified)
    np.testing.assert_array_equal(splits == UNUSED, np.broadcast_to(labels < 0, splits.shape))
    assert set(np.unique(splits)) <= {UNUSED, TRAIN, VAL, TEST}


def test_stratified_splits_divide_every_class_in_the_same_shares():
    labels = np.repeat([0, 1, 2], [40, 80, 120])
    for codes in random_splits(labels, 4, 0.5, 0.25, seed=2):
        for c, size in enumerate((40, 80, 120)):
            assert list(np.bincount(codes[labels == c])[1:]) == [size // 2, size // 4, size // 4]


def test_same_seed_gives_the_same_splits_and_splits_differ_among_themselves():
    labels = np.arange(100) % 2
    first, again = (random_splits(labels, 2, 0.5, 0.25, seed=3) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert (first[0] != first[1]).any()
    assert (first != random_splits(labels, 2, 0.5, 0.25, seed=4)).any()


def test_masks_become_codes():
    train, val, test = np.eye(4, dtype=bool)[:3]
    np.testing.assert_array_equal(splits_from_masks(train, val, test, "toy"), [[TRAIN, VAL, TEST, UNUSED]])


def test_overlapping_masks_name_the_row_and_the_parts():
    train, val, test = np.eye(4, dtype=bool)[:3]
    with pytest.raises(UserError, match="split 0 overlaps: row 2 is in train and test"):
        splits_from_masks(train | test, val, test, "toy")


def test_split_with_an_unlabelled_node_or_one_training_class_is_refused():
    splits = np.array([[TRAIN, TRAIN, VAL, TEST]], dtype=np.int8)
    with pytest.raises(UserError, match="node 2 is in split 0 but has no label"):
        build([(0, 1)], num_nodes=4, labels=np.array([0, 1, -1, 1]), splits=splits)
    with pytest.raises(UserError, match="split 0 holds one class"):
        build([(0, 1)], num_nodes=4, labels=np.array([1, 1, 0, 1]), splits=splits)
