"""Objects of other libraries become the graph that they describe, or one line that says what to do."""

import subprocess
import sys

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch_geometric.data import Data, HeteroData

from figure_kedro.errors import UserError
from figure_kedro.graph import Graph, as_graph
from figure_kedro.graph.feature_columns import named_features
from figure_kedro.graph.from_tables import from_pandas

# the square 0-1-2-3 with one chord, each edge once
PAIRS = [(0, 1), (1, 2), (2, 3), (3, 0), (0, 2)]
SOURCE, TARGET = (np.array(ends) for ends in zip(*PAIRS, strict=True))
DENSE = np.zeros((4, 4), dtype=np.float32)
DENSE[SOURCE, TARGET] = DENSE[TARGET, SOURCE] = 1
X = np.arange(8, dtype=np.float32).reshape(4, 2) + 1


def both_ways():
    return torch.from_numpy(np.stack([np.r_[SOURCE, TARGET], np.r_[TARGET, SOURCE]]))


def networkx_graph():
    graph = nx.Graph()
    graph.add_nodes_from(range(4))
    graph.add_edges_from(PAIRS)
    return graph


SAME = {
    "Data": lambda: Data(edge_index=both_ways(), num_nodes=4),
    "networkx": networkx_graph,
    "csr matrix": lambda: sp.csr_matrix(DENSE),
    "coo array": lambda: sp.coo_array(DENSE),
    "sparse tensor": lambda: torch.from_numpy(DENSE).to_sparse_csr(),
    "square array": lambda: DENSE,
    "table": lambda: pd.DataFrame({"u": SOURCE, "v": TARGET}),
    "edge_index": lambda: torch.from_numpy(np.stack([SOURCE, TARGET])),
    "array of pairs": lambda: np.stack([SOURCE, TARGET], axis=1),
    "list of pairs": lambda: list(PAIRS),
    "two arrays": lambda: (SOURCE, TARGET),
    "two lists": lambda: (SOURCE.tolist(), TARGET.tolist()),
    "two tables": lambda: (pd.DataFrame({"u": SOURCE, "v": TARGET}), pd.DataFrame({"id": range(4)})),
    "Graph": lambda: as_graph(list(PAIRS)),
}


@pytest.mark.parametrize("kind", SAME)
def test_every_kind_of_object_gives_the_same_graph(kind):
    graph = as_graph(SAME[kind](), name="square")
    np.testing.assert_array_equal(graph.adjacency.toarray(), DENSE)
    assert graph.ids.tolist() == [0, 1, 2, 3]
    assert not graph.directed
    assert graph.features is None


FEATURES = {
    "array": X,
    "integers": X.astype(np.int64),
    "tensor": torch.from_numpy(X),
    "sparse matrix": sp.coo_matrix(X),
    "sparse tensor": torch.from_numpy(X).to_sparse(),
    "table": pd.DataFrame(X, columns=["a", "b"]),
    "list": X.tolist(),
}


@pytest.mark.parametrize("kind", FEATURES)
@pytest.mark.parametrize("graph", ["Data", "networkx", "csr matrix", "edge_index"])
def test_features_may_come_in_any_form(kind, graph):
    features = as_graph((SAME[graph](), FEATURES[kind])).features
    features = features.toarray() if sp.issparse(features) else features
    assert features.dtype == np.float32
    np.testing.assert_array_equal(features, X)


ids = st.one_of(
    st.lists(st.integers(-(2**40), 2**40), min_size=2, max_size=6, unique=True),
    st.lists(st.text(min_size=1), min_size=2, max_size=6, unique=True),
    st.lists(st.tuples(st.integers(0, 3), st.integers(0, 3)), min_size=2, max_size=6, unique=True),
    st.lists(st.floats(0, 1), min_size=2, max_size=6, unique_by=str),
)


@settings(max_examples=60, deadline=None)
@given(data=st.data(), ids=ids)
def test_ids_of_any_type_keep_their_edges_and_rows(data, ids):
    numbers = st.integers(0, len(ids) - 1)
    pairs = data.draw(st.lists(st.tuples(numbers, numbers), min_size=1, max_size=10))
    source, target = ([ids[pair[end]] for pair in pairs] for end in (0, 1))
    features = np.arange(len(ids))[:, None]
    graph = Graph.from_arrays(source, target, ids=ids, features=features, directed=True)
    expected = np.zeros((len(ids), len(ids)))
    for u, v in pairs:
        expected[u, v] = u != v
    np.testing.assert_array_equal(graph.adjacency.toarray(), expected)
    dense = graph.features.toarray() if sp.issparse(graph.features) else graph.features
    np.testing.assert_array_equal(dense, features)

    other = nx.DiGraph()
    other.add_nodes_from(ids)
    other.add_edges_from(zip(source, target, strict=True))
    converted = Graph.from_networkx(other)
    np.testing.assert_array_equal(converted.adjacency.toarray(), expected)
    whole = all(isinstance(node, int | float) and float(node).is_integer() for node in ids)
    assert converted.ids.tolist() == [int(node) if whole else _name(node) for node in ids]


def _name(node):
    return str(int(node)) if isinstance(node, float) and node.is_integer() else str(node)


def test_a_whole_number_is_the_same_node_in_a_column_with_fractions_and_in_one_without():
    graph = Graph.from_arrays([0.0, 2.0], [2.0, 0.0], ids=[0.0, 0.5, 2.0], features=np.eye(3), directed=True)
    assert graph.ids.tolist() == ["0", "0.5", "2"]
    np.testing.assert_array_equal(graph.adjacency.toarray(), [[0, 0, 1], [0, 0, 0], [1, 0, 0]])


def test_labels_and_masks_of_a_data_are_targets():
    mask = torch.eye(4, dtype=torch.bool)
    data = Data(x=torch.from_numpy(X), edge_index=both_ways(), y=torch.tensor([2, 0, 2, -1]))
    assert Graph.from_pyg(data).targets.labels.tolist() == [1, 0, 1, -1]
    assert Graph.from_pyg(data).targets.classes == ("0", "2")
    data.train_mask, data.val_mask, data.test_mask = mask[0] | mask[1], mask[2], mask[2]
    with pytest.raises(UserError, match="overlaps"):
        Graph.from_pyg(data)
    assert Graph.from_pyg(data, targets=False).targets.labels is None
    data.y[3] = 0
    data.test_mask = mask[3]
    np.testing.assert_array_equal(Graph.from_pyg(data).targets.splits, [[1, 1, 2, 3]])
    for part in ("train_mask", "val_mask", "test_mask"):
        data[part] = torch.stack([data[part]] * 3, dim=1)
    assert Graph.from_pyg(data).targets.splits.shape == (3, 4)


@pytest.mark.parametrize("y", [torch.rand(4), torch.tensor([1]), torch.ones(4, 3, dtype=torch.int64)])
def test_y_that_is_no_class_for_each_node_is_left_out_aloud(y, caplog):
    graph = Graph.from_pyg(Data(edge_index=both_ways(), y=y, num_nodes=4))
    assert graph.targets.labels is None
    assert "y is no class for each node" in caplog.text


def test_weights_and_direction_of_every_library_are_kept():
    weights = np.array([1.0, 2.0, 0.5, 3.0, 1.5])
    expected = np.zeros((4, 4))
    expected[SOURCE, TARGET] = weights
    edge_index = torch.from_numpy(np.stack([SOURCE, TARGET]))
    directed = nx.DiGraph()
    directed.add_nodes_from(range(4))
    directed.add_weighted_edges_from(zip(SOURCE, TARGET, weights, strict=True))
    frame = pd.DataFrame({"from": SOURCE, "to": TARGET, "weight": weights})
    for graph in (
        Graph.from_pyg(Data(edge_index=edge_index, edge_weight=torch.from_numpy(weights), num_nodes=4)),
        Graph.from_networkx(directed),
        Graph.from_scipy(sp.csr_array(expected)),
        Graph.from_pandas(frame, weight_column="weight", directed=True),
        Graph.from_arrays(SOURCE, TARGET, weights=torch.from_numpy(weights), directed=True),
    ):
        assert graph.directed
        np.testing.assert_array_equal(graph.adjacency.toarray(), expected.astype(np.float32))
    joined = Graph.from_scipy(sp.csr_array(expected), directed=False)
    np.testing.assert_array_equal(joined.adjacency.toarray(), np.maximum(expected, expected.T).astype(np.float32))


def test_a_matrix_that_is_not_symmetric_says_that_it_is_directed(caplog):
    assert Graph.from_scipy(sp.csr_array(np.triu(DENSE))).directed
    assert "directed=False joins both" in caplog.text


def test_attributes_of_networkx_nodes_are_features_and_a_label_among_them_is_asked_about():
    graph = networkx_graph()
    nx.set_node_attributes(graph, dict(enumerate(X.tolist())), "embedding")
    nx.set_node_attributes(graph, dict(enumerate([0, 1, 0, 1])), "label")
    with pytest.raises(UserError, match=r"'label' \(like a label\); set label_column=label, ignore=label to leave out"):
        as_graph(graph)
    converted = Graph.from_networkx(graph, label_column="label")
    np.testing.assert_array_equal(converted.features, X)
    np.testing.assert_array_equal(converted.targets.labels, [0, 1, 0, 1])
    graph.nodes[2]["embedding"] = [1.0]
    with pytest.raises(UserError, match="'embedding': node '2' has no 2 finite numbers"):
        Graph.from_networkx(graph, label_column="label")


def test_a_graph_without_edges_has_its_nodes():
    empty = nx.empty_graph(3)
    for graph in (as_graph(empty), as_graph(sp.csr_array((3, 3))), Graph.from_arrays([], [], num_nodes=3)):
        assert (graph.num_nodes, graph.num_edges) == (3, 0)


def test_a_table_of_features_is_matched_to_the_nodes_by_its_index():
    table = pd.DataFrame({"a": [1.0, 2.0, 3.0]}, index=["z", "y", "x"])
    graph = Graph.from_arrays(["x", "y"], ["y", "z"], features=table)
    assert graph.ids.tolist() == ["z", "y", "x"]
    graph = Graph.from_arrays(["x", "y"], ["y", "z"], ids=["x", "y", "z"], features=table)
    np.testing.assert_array_equal(graph.features, [[3], [2], [1]])
    with pytest.raises(UserError, match="no row for node 'w'"):
        Graph.from_arrays(["x"], ["y"], ids=["x", "y", "w"], features=table)


@pytest.mark.parametrize("name", [None, "key"])
def test_the_index_of_a_table_of_nodes_is_their_id(name):
    nodes = pd.DataFrame({"size": [1.0, 2.0, 3.0]}, index=pd.Index(["z", "y", "x"], name=name))
    graph = Graph.from_pandas(pd.DataFrame({"u": ["x", "y"], "v": ["y", "z"]}), nodes)
    assert graph.ids.tolist() == ["z", "y", "x"]
    np.testing.assert_array_equal(graph.features, [[1], [2], [3]])


def test_labels_of_any_type_get_classes():
    graph = Graph.from_arrays([0, 1], [1, 2], labels=["red", None, "blue"])
    assert graph.targets.classes == ("blue", "red")
    assert graph.targets.labels.tolist() == [1, -1, 0]


BAD = {
    "dictionary": (lambda: {"a": "b"}, "no graph can be made of builtins.dict; give a Graph, a Data"),
    "text": (lambda: "edges.csv", "no graph can be made of builtins.str"),
    "flat array": (lambda: np.arange(5), r"shape \(5,\) may be several things"),
    "two columns of features": (lambda: np.full((5, 2), 0.5), r"shape \(5, 2\) may be several things"),
    "two by two": (lambda: np.eye(2), r"shape \(2, 2\) may be several things"),
    "list of numbers": (lambda: [1, 2, 3], "a list stands for a graph if it holds pairs"),
    "rectangle": (lambda: sp.csr_array((3, 4)), r"a square matrix, not one of shape \(3, 4\)"),
    "negative weight": (lambda: sp.csr_array(-DENSE), "weights must be positive and finite"),
    "no edge_index": (lambda: Data(x=torch.ones(3, 2)), "has no edge_index"),
    "several kinds": (HeteroData, "make it a Data, say with to_homogeneous"),
    "no nodes": (nx.Graph, "the graph has no nodes"),
    "text features": (lambda: (list(PAIRS), [["a"]] * 4), "no table of numbers"),
    "ragged features": (lambda: (list(PAIRS), [[1], [1, 2], [1], [1]]), "rows of one length"),
    "column of words": (lambda: (list(PAIRS), pd.DataFrame({"c": list("abcd")})), "column 'c' holds no numbers"),
    "few features": (lambda: (list(PAIRS), X[:3]), "ends at node number 3, but the graph has nodes 0 to 2"),
    "many features": (lambda: (sp.csr_array(DENSE), np.ones((9, 2))), "9 rows of features for 4 nodes"),
    "missing feature": (lambda: (list(PAIRS), np.where(X == 3, np.nan, X)), "feature 0 of node 1 is not a finite"),
    "ids without rows": (lambda: ([("a", "b")], X), "give the ids of all nodes, too"),
    "missing id": (lambda: [("a", None)], "row 1: the id is missing"),
    "one column": (lambda: pd.DataFrame({"a": [1]}), "has one column, 'a'"),
}


@pytest.mark.parametrize("case", BAD)
def test_what_makes_no_graph_is_one_line(case):
    given, message = BAD[case]
    with pytest.raises(UserError, match=message) as caught:
        as_graph(given())
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"label_colum": "y"}, "there is no 'label_colum'; did you mean 'label_column'"),
        ({"split_columns": "s"}, "split_columns need labels"),
        ({"ignore": "zz"}, "have no column 'zz' to ignore"),
    ],
)
def test_a_misspelt_option_is_one_line(options, message):
    with pytest.raises(UserError, match=message):
        Graph.from_pandas(pd.DataFrame({"u": [1], "v": [2]}), pd.DataFrame({"id": [1, 2]}), **options)


def test_other_libraries_are_imported_only_for_their_own_objects():
    program = (
        "import sys; from figure_kedro.graph import as_graph; as_graph([(1, 2)]);"
        "print(*({'networkx', 'torch_geometric'} & set(sys.modules)))"
    )
    said = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=True)
    assert said.stdout.strip() == ""


def test_features_of_new_nodes_are_made_of_the_same_columns_whatever_their_order():
    known = pd.DataFrame({"id": [1, 2, 3], "age": [3, 4, 5], "words": [[1.0, 2.0]] * 3, "kind": ["a", "b", "a"]})
    graph = from_pandas(pd.DataFrame({"u": [1, 2], "v": [2, 3]}), known, one_hot="kind")
    assert graph.feature_names == ("age", "words[0]", "words[1]", "kind=a", "kind=b")
    new = pd.DataFrame({"kind": ["b", "c"], "words": [[5.0, 6.0], [7.0, 8.0]], "age": [1, 2]})
    assert named_features(new, graph.feature_names, np.array([8, 9]), "new").tolist() == [
        [1, 5, 6, 0, 1],
        [2, 7, 8, 0, 0],  # a kind that training has not seen
    ]
    shorter = new.assign(words=[[5.0], [7.0]])
    with pytest.raises(UserError, match=r"column 'words' has lists of 1 numbers, and words\[1\] is asked for"):
        named_features(shorter, graph.feature_names, np.array([8, 9]), "new")
