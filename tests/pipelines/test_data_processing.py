"""The nodes of data_processing on a graph that a person can check by hand, and their wiring."""

import json

import numpy as np
import pandas as pd
import pytest
from kedro.io import DataCatalog
from kedro.runner import SequentialRunner

from figure_kedro.features import STRUCTURAL
from figure_kedro.filters import BANKS
from figure_kedro.graph import graph_from_edges
from figure_kedro.graph.twins import ALONE
from figure_kedro.pipelines.data_processing import create_pipeline, nodes


@pytest.fixture
def path():
    """a - b - c, and d alone."""
    return graph_from_edges(
        np.array([0, 1]),
        np.array([1, 2]),
        name="path",
        ids=np.array(["a", "b", "c", "d"]),
        features=np.eye(4, 2, dtype=np.float32),
        labels=np.array([0, 0, 1, 1]),
        splits=np.array([[1, 2, 1, 3], [3, 1, 1, 2]], dtype=np.int8),
    )


@pytest.fixture
def bare():
    return graph_from_edges(np.array([0, 1]), np.array([1, 2]), name="bare", num_nodes=4)


def test_given_features_stay_as_they_are(path):
    graph, targets = nodes.prepare_graph(path, STRUCTURAL.parse({}))
    assert graph.features is path.features
    assert graph.checksum == path.checksum
    assert targets.labels is path.targets.labels
    assert targets.splits is path.targets.splits
    assert targets.checksum == path.targets.checksum
    assert graph.targets.labels is None, "labels travel apart from the graph"


def test_graph_without_features_gets_structural_ones(bare):
    prepared, targets = nodes.prepare_graph(bare, STRUCTURAL.parse({"components": 2}))
    assert prepared.features.shape == (4, 2)
    assert np.isfinite(prepared.features).all()
    np.testing.assert_array_equal(prepared.features[3], [0, 0])  # isolated
    assert targets.labels is None


def test_nodes_with_the_same_neighbours_are_marked_beside_the_labels(path):
    _, targets = nodes.prepare_graph(path, STRUCTURAL.parse({}))
    a, b, c, d = targets.twins
    assert a == c != ALONE
    assert b == d == ALONE


def test_splits_are_listed_under_the_users_ids(path):
    table = nodes.tabulate_splits(path, path.targets)
    assert table["id"].tolist() == ["a", "b", "c", "d"]
    assert table["split_0"].tolist() == ["train", "val", "train", "test"]
    assert table["split_1"].tolist() == ["test", "train", "train", "val"]


def test_node_in_no_part_has_an_empty_cell(path):
    path.targets.splits[0, 0] = 0
    path.targets.splits[0, 1] = 1
    assert nodes.tabulate_splits(path, path.targets)["split_0"].tolist() == ["", "train", "train", "test"]


def test_graph_without_splits_is_a_list_of_ids(bare):
    assert list(nodes.tabulate_splits(bare, bare.targets).columns) == ["id"]


def test_operator_is_normalised_by_degrees(path):
    half, sixth, third = 1 / 2, 1 / np.sqrt(6), 1 / 3
    with_loops = [[half, sixth, 0, 0], [sixth, third, sixth, 0], [0, sixth, half, 0], [0, 0, 0, 1]]
    root = 1 / np.sqrt(2)
    without = [[0, root, 0, 0], [root, 0, root, 0], [0, root, 0, 0], [0, 0, 0, 0]]
    for self_loops, expected in ((True, with_loops), (False, without)):
        operator = nodes.normalise_adjacency(path, BANKS.parse({"self_loops": self_loops}))
        np.testing.assert_allclose(operator.matrix.toarray(), expected, atol=1e-7)
        assert operator.symmetric


def test_description_of_a_bank_says_what_each_filter_does(path):
    settings = BANKS.parse({"bank": "monomial", "size": 3})
    description = nodes.describe_bank(nodes.normalise_adjacency(path, settings))
    assert [f["name"] for f in description["filters"]] == ["I", "A", "A^2"]
    assert [f["identity"] for f in description["filters"]] == [True, False, False]
    assert description["operator"] == {"nodes": 4, "entries": 8}
    eigenvalues = np.array(description["eigenvalues"])
    np.testing.assert_allclose(description["filters"][2]["response"], (1 - eigenvalues) ** 2, atol=1e-6)
    assert json.loads(json.dumps(description)) == description


def test_description_of_words_in_both_directions_is_over_singular_values():
    chain = graph_from_edges(np.array([0, 1]), np.array([1, 2]), name="chain", num_nodes=3, directed=True)
    settings = BANKS.parse({"size": 3, "direction": "both"})
    description = nodes.describe_bank(nodes.normalise_adjacency(chain, settings))
    assert (description["size"], description["direction"]) == (3, "both")
    assert [f["name"] for f in description["filters"]] == ["I", "A", "A^T", "AA", "AA^T", "A^TA", "A^TA^T"]
    assert "singular value" in description["axis"]
    points = np.array(description["eigenvalues"])
    assert (points[0], points[-1]) == (0, 1)
    np.testing.assert_allclose(description["filters"][4]["response"], points**2, atol=1e-6)
    assert json.loads(json.dumps(description)) == description


def test_statistics_are_the_row_of_the_papers_table(path):
    expected = {
        "dataset": "path", "nodes": 4, "edges": 2, "entries_with_loops": 2 * 2 + 4, "features": 2, "classes": 2,
        "train": 2, "val": 1, "test": 1,
        "homophily": 0.5, "splits": 2, "isolated_nodes": 1, "directed": False,
        "same_neighbours": 2, "test_same_neighbours_in_training": 0.5,  # a and c; a is in the second test part
        "same_neighbours_and_features": 0, "test_same_neighbours_and_features_in_training": 0.0,
        "feature_names": None, "nodes_of_classes": "0: 2, 1: 2",
    }  # fmt: skip
    assert nodes.summarise_graph(path, path.targets).to_dict("records") == [expected]


def test_pipeline_needs_a_source_and_settings_only():
    assert create_pipeline().inputs() == {"source_graph", "params:features", "params:filters"}


def test_nothing_is_computed_before_the_graph_is_valid():
    first, *others = create_pipeline().grouped_nodes
    assert [node.short_name for node in first] == ["prepare_graph"]
    assert others


def test_pipeline_provides_every_result(path):
    catalog = DataCatalog()
    catalog["source_graph"] = path
    catalog["params:features"], catalog["params:filters"] = STRUCTURAL.parse({}), BANKS.parse({})
    results = SequentialRunner().run(create_pipeline(), catalog)
    assert set(results) == {"splits", "dataset_statistics", "filter_bank"}
    assert isinstance(results["splits"].load(), pd.DataFrame)
