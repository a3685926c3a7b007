"""The user's tables become their graph, or one line that says what is wrong."""

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from pydantic import ValidationError

from figure_kedro.datasets.sources.kinds.own import Own, OwnSettings
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.errors import UserError

EDGES = pd.DataFrame({"from": ["b", "c", "a"], "to": ["a", "b", "d"], "w": [1.0, 2.0, 0.5]})
NODES = pd.DataFrame(
    {
        "id": ["d", "b", "a", "c"],
        "x": [1.0, 2.0, 3.0, 4.0],
        "y": [5, 6, 7, 8],
        "label": ["red", "blue", "blue", "red"],
        "split": ["train", "train", "val", "test"],
    }
)
LABELLED = {"label_column": "label", "split_columns": ["split"]}

text_ids = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters='",'), min_size=1)
any_ids = st.lists(text_ids, min_size=2, max_size=8, unique=True) | st.lists(
    st.integers(-(10**12), 10**12), min_size=2, max_size=8, unique=True
)


def write(frame, path):
    frame.to_parquet(path, index=False) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return str(path)


def load(folder, edges=EDGES, nodes=None, suffix=".csv", **source):
    source["edges"] = write(edges, folder / f"edges{suffix}")
    if nodes is not None:
        source["nodes"] = write(nodes, folder / f"nodes{suffix}")
    return Own(OwnSettings(**source)).load(RawFiles(folder), "mine")


def named_edges(graph):
    """Every directed entry of the adjacency, by the user's ids, with its weight."""
    entries = graph.adjacency.tocoo()
    triples = zip(entries.row, entries.col, entries.data.tolist(), strict=True)
    return {(graph.ids[u], graph.ids[v]): weight for u, v, weight in triples}


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz", ".parquet"])
def test_unsorted_string_ids_keep_their_rows(tmp_path, suffix):
    graph = load(tmp_path, nodes=NODES, suffix=suffix, **LABELLED)
    assert graph.ids.tolist() == ["d", "b", "a", "c"]
    np.testing.assert_array_equal(graph.features, [[1, 5], [2, 6], [3, 7], [4, 8]])
    assert graph.targets.classes == ("blue", "red")
    np.testing.assert_array_equal(graph.targets.labels, [1, 0, 0, 1])
    np.testing.assert_array_equal(graph.targets.splits, [[1, 1, 2, 3]])
    assert set(named_edges(graph)) == {("b", "a"), ("a", "b"), ("c", "b"), ("b", "c"), ("a", "d"), ("d", "a")}


@settings(max_examples=40, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(data=st.data(), ids=any_ids, suffix=st.sampled_from([".csv", ".parquet"]), directed=st.booleans())
def test_any_ids_keep_their_edges_and_features(tmp_path, data, ids, suffix, directed):
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(ids), st.sampled_from(ids)), min_size=1, max_size=12))
    edges = pd.DataFrame(pairs, columns=["source", "target"])
    nodes = pd.DataFrame({"id": ids, "x": np.arange(len(ids)) + 1.0})
    graph = load(tmp_path, edges, nodes, suffix, directed=directed)
    expected = {(u, v) for u, v in pairs if u != v}
    expected |= set() if directed else {(v, u) for u, v in expected}
    number = np.issubdtype(graph.ids.dtype, np.integer)
    assert graph.ids.tolist() == ([int(v) for v in ids] if number else ids)
    assert {(str(u), str(v)) for u, v in named_edges(graph)} == {(str(u), str(v)) for u, v in expected}
    np.testing.assert_array_equal(graph.features[:, 0], np.arange(len(ids)) + 1)

    alone = load(tmp_path, edges, None, suffix, directed=directed)
    endpoints = {v for pair in pairs for v in pair}
    number = np.issubdtype(alone.ids.dtype, np.integer)
    assert alone.ids.tolist() == sorted(int(v) if number else str(v) for v in endpoints)
    assert {(str(u), str(v)) for u, v in named_edges(alone)} == {(str(u), str(v)) for u, v in expected}


def test_ids_with_gaps_stay_numbers_in_numeric_order(tmp_path):
    graph = load(tmp_path, pd.DataFrame({"s": [100, 9], "t": [9, -7]}))
    assert graph.ids.dtype == np.int64
    assert graph.ids.tolist() == [-7, 9, 100]
    assert set(named_edges(graph)) == {(100, 9), (9, 100), (9, -7), (-7, 9)}


def test_ids_that_look_like_missing_values_or_padded_numbers_are_kept(tmp_path):
    graph = load(tmp_path, pd.DataFrame({"s": ["NA", "007"], "t": ["null", "7"]}))
    assert graph.ids.tolist() == ["007", "7", "NA", "null"]


def test_whole_numbers_match_their_text_in_the_other_table(tmp_path):
    edges = write(pd.DataFrame({"s": ["1", "3"], "t": ["3", "20"]}), tmp_path / "edges.parquet")
    nodes = write(pd.DataFrame({"id": [20, 3, 1]}), tmp_path / "nodes.parquet")
    graph = Own(OwnSettings(edges=edges, nodes=nodes)).load(RawFiles(tmp_path), "mine")
    assert graph.ids.tolist() == [20, 3, 1]
    assert set(named_edges(graph)) == {(1, 3), (3, 1), (3, 20), (20, 3)}


def test_text_ids_of_a_parquet_file_stay_text(tmp_path):
    graph = load(tmp_path, pd.DataFrame({"s": ["1", "3"], "t": ["3", "20"]}), suffix=".parquet")
    assert graph.ids.tolist() == ["1", "20", "3"]


def test_weights_and_direction_are_kept(tmp_path):
    graph = load(tmp_path, weight_column="w", directed=True)
    assert named_edges(graph) == {("b", "a"): 1.0, ("c", "b"): 2.0, ("a", "d"): 0.5}


def test_columns_can_be_named_in_any_order(tmp_path):
    edges = EDGES[["w", "to", "from"]]
    graph = load(tmp_path, edges, source_column="from", target_column="to", weight_column="w", directed=True)
    assert named_edges(graph) == {("b", "a"): 1.0, ("c", "b"): 2.0, ("a", "d"): 0.5}
    graph = load(tmp_path, EDGES, target_column="from", directed=True)  # the first other column is the source
    assert set(named_edges(graph)) == {("a", "b"), ("b", "c"), ("d", "a")}


def test_only_chosen_columns_are_features(tmp_path):
    graph = load(tmp_path, nodes=NODES, feature_columns=["y"])
    np.testing.assert_array_equal(graph.features, [[5], [6], [7], [8]])
    assert load(tmp_path, nodes=NODES, feature_columns=[]).features is None
    assert graph.targets.labels is None


def test_mostly_zero_features_are_held_sparse(tmp_path):
    nodes = pd.DataFrame({"id": ["a", "b", "c", "d"]} | {f"x{i}": [0, 0, 0, int(i == 0)] for i in range(5)})
    graph = load(tmp_path, nodes=nodes)
    assert graph.features.nnz == 1
    assert graph.features.shape == (4, 5)


def test_saved_index_is_no_feature(tmp_path):
    NODES.to_csv(tmp_path / "nodes.csv")
    source = OwnSettings(edges=write(EDGES, tmp_path / "e.csv"), nodes=str(tmp_path / "nodes.csv"), id_column="id")
    assert Own(source).load(RawFiles(tmp_path), "mine").num_features == 2


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("labels", [[2, 10, None, 2], ["2", "10", None, "2"]])
def test_node_without_a_label_is_unlabelled(tmp_path, suffix, labels):
    graph = load(tmp_path, nodes=NODES.assign(label=labels), suffix=suffix, label_column="label", random_splits=0)
    assert [float(name) for name in graph.targets.classes] in ([2, 10], [10, 2])
    named = [None if label < 0 else float(graph.targets.classes[label]) for label in graph.targets.labels]
    assert named == [2, 10, None, 2]
    assert graph.targets.splits is None


def test_labels_without_splits_get_stratified_ones(tmp_path):
    labels = [i % 2 if i < 16 else None for i in range(20)]
    edges = pd.DataFrame({"s": range(19), "t": range(1, 20)})
    nodes = pd.DataFrame({"id": range(20), "label": labels})
    graph = load(tmp_path, edges, nodes, label_column="label", random_splits=3)
    assert graph.targets.num_splits == 3
    for codes in graph.targets.splits:
        for label in (0, 1):
            assert np.bincount(codes[graph.targets.labels == label], minlength=4).tolist() == [0, 4, 2, 2]
        assert (codes[graph.targets.labels < 0] == 0).all()


def test_isolated_node_of_the_node_table_stays(tmp_path):
    nodes = pd.concat([NODES, pd.DataFrame({"id": ["alone"], "x": [0.0], "y": [0]})])
    graph = load(tmp_path, nodes=nodes)
    assert graph.ids[-1] == "alone"
    assert graph.adjacency[[4]].nnz == 0


def with_cell(frame, column, row, value):
    changed = frame.astype({column: object}).copy()
    changed.loc[row, column] = value
    return changed


BAD = {
    "unknown id": (
        {"edges": with_cell(EDGES, "to", 1, "zz"), "nodes": NODES},
        ["edges.csv", "'to'", "row 2", "'zz'", "'id'"],
    ),
    "missing id": ({"edges": with_cell(EDGES, "from", 2, None)}, ["edges.csv", "'from'", "row 3", "missing"]),
    "missing node id": ({"nodes": with_cell(NODES, "id", 1, None)}, ["nodes.csv", "'id'", "row 2"]),
    "duplicate id": ({"nodes": with_cell(NODES, "id", 1, "d")}, ["nodes.csv", "'id'", "'d'", "twice"]),
    "NaN feature": ({"nodes": with_cell(NODES, "x", 1, None)}, ["nodes.csv", "'x'", "'b'"]),
    "infinite feature": ({"nodes": with_cell(NODES, "x", 2, np.inf)}, ["nodes.csv", "'x'", "'a'", "'inf'"]),
    "too large feature": ({"nodes": with_cell(NODES, "x", 2, 1e300)}, ["nodes.csv", "'x'", "'a'", "1e+300"]),
    "text feature": (
        {"nodes": with_cell(NODES, "x", 3, "big"), "feature_columns": ["x"]},
        ["nodes.csv", "'x'", "'c'", "'big'"],
    ),
    "misspelt source": ({"source_column": "fron"}, ["edges.csv", "'fron'", "did you mean 'from'?"]),
    "misspelt weight": ({"weight_column": "v"}, ["edges.csv", "'v'"]),
    "misspelt id": ({"nodes": NODES, "id_column": "idd"}, ["nodes.csv", "'idd'", "did you mean 'id'?"]),
    "misspelt label": ({"nodes": NODES, "label_column": "labels"}, ["nodes.csv", "did you mean 'label'?"]),
    "misspelt feature": ({"nodes": NODES, "feature_columns": ["xx"]}, ["nodes.csv", "'xx'"]),
    "misspelt split": (
        {"nodes": NODES, "label_column": "label", "split_columns": "splits"},
        ["nodes.csv", "did you mean 'split'?"],
    ),
    "same column twice": ({"source_column": "to", "target_column": "to"}, ["edges.csv", "'to'"]),
    "negative weight": ({"edges": with_cell(EDGES, "w", 1, -2), "weight_column": "w"}, ["'w'", "row 2", "'-2"]),
    "zero weight": ({"edges": with_cell(EDGES, "w", 0, 0), "weight_column": "w"}, ["'w'", "row 1", "positive"]),
    "missing weight": ({"edges": with_cell(EDGES, "w", 2, None), "weight_column": "w"}, ["'w'", "row 3"]),
    "one class": ({"nodes": NODES.assign(label="red"), "label_column": "label"}, ["nodes.csv", "'label'", "'red'"]),
    "no labels": ({"nodes": NODES.assign(label=None), "label_column": "label"}, ["nodes.csv", "'label'", "no labels"]),
    "wrong part": (
        {"nodes": with_cell(NODES, "split", 2, "valid"), **LABELLED},
        ["'split'", "'a'", "did you mean 'val'?"],
    ),
    "empty part": ({"nodes": with_cell(NODES, "split", 3, None), **LABELLED}, ["nodes.csv", "'split'", "'test'"]),
    "one training class": (
        {"nodes": with_cell(NODES, "split", 0, "val"), **LABELLED},
        ["'split'", "'train'", "one class"],
    ),
    "split without label": ({"nodes": with_cell(NODES, "label", 2, None), **LABELLED}, ["'split'", "'a'", "no label"]),
    "too few for splits": ({"nodes": NODES, "label_column": "label"}, ["nodes.csv", "'label'", "4 labelled nodes"]),
    "empty edges": ({"edges": EDGES.iloc[:0]}, ["edges.csv has no rows"]),
    "empty nodes": ({"nodes": NODES.iloc[:0]}, ["nodes.csv has no rows"]),
    "one column": ({"edges": EDGES[["from"]]}, ["edges.csv has one column", "'from'"]),
}


@pytest.mark.parametrize("case", BAD)
def test_bad_table_is_one_line_that_names_the_place(tmp_path, case):
    source, parts = BAD[case]
    with pytest.raises(UserError) as caught:
        load(tmp_path, **source)
    message = str(caught.value)
    assert "\n" not in message
    for part in parts:
        assert part in message


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("none.csv", None, r"there is no file .*none\.csv"),
        ("edges.txt", b"a,b\n1,2\n", r"edges\.txt: tables are read from"),
        ("edges.csv", b"", r"edges\.csv cannot be read as a table"),
        ("edges.csv", b"1,2\n2,3\n", r"edges\.csv starts with numbers"),
        ("edges.csv", b",s,t\n0,a,b\n", r"edges\.csv: the first column has no name"),
        ("edges.csv", b"s,t\na,b,c\n", r"edges\.csv cannot be read as a table"),
        ("edges.csv", b"s,t\na,b\nc,d,e\n", r"edges\.csv cannot be read as a table"),
        ("edges.csv", b"s,t\n\xff\xfe,b\n", r"edges\.csv cannot be read as a table"),
        ("edges.csv.gz", b"s,t\na,b\n", r"edges\.csv\.gz cannot be read as a table"),
        ("edges.parquet", b"s,t\na,b\n", r"edges\.parquet cannot be read as a table"),
    ],
)
def test_file_that_is_no_table_is_one_line(tmp_path, name, content, message):
    if content is not None:
        (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        Own(OwnSettings(edges=str(tmp_path / name))).load(RawFiles(tmp_path), "mine")
    assert "\n" not in str(caught.value)


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"label_column": "label"}, "set nodes"),
        ({"nodes": "n.csv", "split_columns": ["split"]}, "set label_column"),
        ({"nodes": "n.csv", "label_column": "y", "feature_columns": ["x", "y"]}, "must not be a feature column"),
        ({"train": 0.8, "val": 0.2}, "leave a share"),
        ({"weigth_column": "w"}, "weigth_column"),
    ],
)
def test_settings_that_do_not_fit_together_are_refused(source, message):
    with pytest.raises(ValidationError, match=message):
        OwnSettings(edges="e.csv", **source)


def test_relative_paths_start_at_the_current_directory(tmp_path, monkeypatch):
    write(EDGES, tmp_path / "edges.csv")
    monkeypatch.chdir(tmp_path)
    assert Own(OwnSettings(edges="edges.csv")).load(RawFiles(tmp_path), "mine").num_nodes == 4


def test_byte_order_mark_is_no_part_of_the_first_name(tmp_path):
    (tmp_path / "edges.csv").write_bytes("\ufeffs,t\na,b\n".encode())
    settings_with_name = OwnSettings(edges=str(tmp_path / "edges.csv"), source_column="s")
    assert Own(settings_with_name).load(RawFiles(tmp_path), "mine").ids.tolist() == ["a", "b"]
