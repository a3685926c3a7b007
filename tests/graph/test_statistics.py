import numpy as np
import pandas as pd
import pytest

from figure_kedro.graph import Graph, graph_from_edges, random_splits
from figure_kedro.graph.splits import TEST, TRAIN, VAL
from figure_kedro.graph.statistics import edge_homophily, statistics_table

# 0 - 1 - 2 - 0 is a triangle, 2 - 3 a tail, 4 is alone
SOURCE, TARGET = np.array([0, 1, 2, 2]), np.array([1, 2, 0, 3])


def graph(labels=None, **given):
    labels = None if labels is None else np.array(labels)
    return graph_from_edges(SOURCE, TARGET, name="toy", num_nodes=5, labels=labels, **given)


def homophily(of):
    return edge_homophily(of, of.targets.labels)


def table(of):
    return statistics_table(of, of.targets)


def test_homophily_is_the_share_of_edges_with_equal_labels():
    assert homophily(graph([0, 0, 1, 1, 0])) == 2 / 4


def test_edges_with_an_unknown_endpoint_are_left_out():
    assert homophily(graph([0, 0, 1, -1, 0])) == pytest.approx(1 / 3)


def test_homophily_is_undefined_without_labels_or_known_edges():
    assert homophily(graph()) is None
    assert homophily(graph([-1, -1, -1, -1, 0])) is None
    assert np.isnan(table(graph())["homophily"].item())


def test_opposite_directed_edges_are_one_pair():
    labels = np.array([0, 0, 1])
    directed = graph_from_edges(
        np.array([0, 1, 1]), np.array([1, 0, 2]), name="toy", num_nodes=3, directed=True, labels=labels
    )
    assert homophily(directed) == 1 / 2
    row = table(directed).iloc[0]
    assert (row["edges"], row["directed"], row["isolated_nodes"]) == (3, True, 0)


def test_weights_do_not_change_homophily():
    assert homophily(graph([0, 0, 1, 1, 0], weights=np.array([9.0, 1, 1, 1]))) == 2 / 4


def test_table_has_one_row_with_the_columns_of_the_paper():
    labels = np.arange(40) % 2
    splits = random_splits(labels, 3, 0.5, 0.25, seed=0)
    ring = np.arange(39)
    path = graph_from_edges(
        ring[:-1], ring[1:], name="path", num_nodes=40, labels=labels, splits=splits, features=np.ones((40, 6))
    )
    assert table(path).to_dict("records") == [
        {
            "dataset": "path",
            "nodes": 40,
            "edges": 38,
            "entries_with_loops": 2 * 38 + 40,
            "features": 6,
            "classes": 2,
            "train": 20,
            "val": 10,
            "test": 10,
            "homophily": 0.0,
            "splits": 3,
            "isolated_nodes": 1,
            "directed": False,
            "same_neighbours": 0,
            "test_same_neighbours_in_training": 0.0,
            "same_neighbours_and_features": 0,
            "test_same_neighbours_and_features_in_training": 0.0,
            "feature_names": None,
            "nodes_of_classes": "0: 20, 1: 20",
        }
    ]


def test_table_names_the_columns_taken_for_features_and_the_classes_up_to_twelve():
    edges = pd.DataFrame({"from": ["a", "b"], "to": ["b", "c"]})
    nodes = pd.DataFrame({"height": [1.0, 2, 3], "kind": ["x", "y", None]}, index=["a", "b", "c"])
    row = table(Graph.from_pandas(edges, nodes, label_column="kind")).iloc[0]
    assert (row["feature_names"], row["nodes_of_classes"]) == ("height", "x: 1, y: 1, no label: 1")
    wide = pd.DataFrame(np.ones((3, 14)), index=["a", "b", "c"]).add_prefix("f")
    assert table(Graph.from_pandas(edges, wide)).iloc[0]["feature_names"].endswith("f11, and 2 more")


def test_table_of_a_bare_graph_counts_nothing_that_is_not_there():
    row = table(graph()).iloc[0]
    assert [row[key] for key in ("features", "classes", "train", "val", "test", "splits")] == [0] * 6
    assert row["isolated_nodes"] == 1


def test_twins_are_counted_with_and_without_features_and_on_average_over_the_splits():
    # 0, 1 and 2 hang on the hub 3, and 4 does by a heavier edge; only 0 and 1 share their features
    features = np.array([[1], [1], [2], [3], [4]], dtype=np.float32)
    splits = np.array([[TRAIN, TEST, TEST, TRAIN, VAL], [TRAIN, VAL, TEST, TRAIN, TEST]], dtype=np.int8)
    star = graph_from_edges(
        np.array([0, 1, 2, 3]),
        np.array([3, 3, 3, 4]),
        name="star",
        num_nodes=5,
        weights=np.array([1.0, 1.0, 1.0, 2.0]),
        features=features,
        labels=np.array([0, 1, 0, 1, 0]),
        splits=splits,
    )
    row = table(star).iloc[0]
    assert row["same_neighbours"] == 3
    assert row["test_same_neighbours_in_training"] == (2 + 1) / 2
    assert row["same_neighbours_and_features"] == 2
    assert row["test_same_neighbours_and_features_in_training"] == (1 + 0) / 2


def test_twins_of_a_graph_without_splits_are_counted_and_none_is_in_training():
    row = table(graph_from_edges(np.array([0, 1]), np.array([2, 2]), name="fork", num_nodes=3)).iloc[0]
    assert (row["same_neighbours"], row["test_same_neighbours_in_training"]) == (2, 0)
