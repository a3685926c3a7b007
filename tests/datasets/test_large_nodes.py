"""A table of nodes that is larger than memory gives the nodes that it gives in memory, bit for bit, or one line."""

import logging

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from figure_kedro.datasets.sources import large_nodes, large_own
from figure_kedro.errors import UserError
from figure_kedro.memory import is_mapped
from own_tables import load, load_large, write

ROWS = 50
"""More than three blocks of sixteen."""


def tables(folder, nodes, suffix=".parquet", **source):
    """Both tables of a ring of the nodes, and what their columns mean."""
    ids = nodes["id"].to_numpy()
    edges = pd.DataFrame({"source": ids, "target": np.roll(ids, 1)})
    written = {"edges": write(edges, folder / "edges.parquet"), "nodes": write(nodes, folder / f"nodes{suffix}")}
    return {**written, "source_column": "source", "target_column": "target", "id_column": "id", **source}


def assert_same(one, other):
    assert one.checksum == other.checksum, "ids, edges and features"
    assert one.targets.checksum == other.targets.checksum
    assert one.targets.classes == other.targets.classes
    assert one.ids.tolist() == other.ids.tolist()
    assert one.feature_names == other.feature_names
    assert sp.issparse(one.features) == sp.issparse(other.features)


def message(way, folder, **source):
    with pytest.raises(UserError) as caught:
        way(folder, **source)
    return str(caught.value)


@pytest.fixture(autouse=True)
def never_whole(monkeypatch):
    """No table of nodes is read whole by the way that reads it in blocks."""

    def whole(settings):
        raise AssertionError("the table is read whole")

    for module in (large_own, large_nodes):
        monkeypatch.setattr(module, "read_nodes_table", whole)


@pytest.fixture
def nodes():
    rng = np.random.default_rng(0)
    frame = pd.DataFrame({"id": [f"n{number}" for number in rng.permutation(ROWS)]})
    frame["size"], frame["count"] = rng.normal(size=ROWS), rng.integers(100, size=ROWS)
    frame["kind"] = rng.choice(["x", "y", "z"], ROWS)
    return frame


numbers = st.sampled_from(
    [st.integers(-(10**9), 10**9), st.floats(-1e6, 1e6), st.booleans(), st.sampled_from([0, 0, 0, 0, 0, 0, 1.5])]
)
labels = st.sampled_from(
    [st.sampled_from(["a", "b", "NA", None]), st.integers(0, 12), st.sampled_from([1.0, 2.5, np.nan]), st.booleans()]
)
node_ids = st.sampled_from(
    [
        st.integers(-(10**12), 10**12),
        st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters='",'), min_size=1),
        st.floats(-1000, 1000).map(lambda number: number + 0.0),
        st.integers(-1000, 1000).map(float),
    ]
)


def told(way, folder, source):
    """The graph, or what is said instead of it."""
    try:
        return way(folder, **source)
    except UserError as error:
        return str(error)


@settings(max_examples=12, deadline=None, suppress_health_check=list(HealthCheck))
@given(st.data())
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_of_any_type_give_the_same_graph_or_the_same_line(tmp_path, suffix, data):
    rows = data.draw(st.integers(2, ROWS))
    frame = pd.DataFrame({"id": data.draw(st.lists(data.draw(node_ids), min_size=rows, max_size=rows, unique_by=str))})
    for number in range(data.draw(st.integers(0, 3))):
        frame[f"f{number}"] = data.draw(st.lists(data.draw(numbers), min_size=rows, max_size=rows))
    frame["kind"] = data.draw(st.lists(data.draw(labels), min_size=rows, max_size=rows))
    label = {"label_column": "kind", "random_splits": data.draw(st.integers(0, 2))}
    source = tables(tmp_path, frame, suffix, **data.draw(st.sampled_from([{}, label])))
    large, whole = (told(way, tmp_path, source) for way in (load_large, load))
    if isinstance(whole, str):
        assert large == whole
    else:
        assert_same(large, whole)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_features_and_labels_lie_in_files_and_are_the_same(tmp_path, nodes, suffix):
    source = tables(tmp_path, nodes, suffix, label_column="kind")
    large = load_large(tmp_path, **source)
    assert_same(large, load(tmp_path, **source))
    assert is_mapped(large.features)
    assert is_mapped(large.targets.labels)
    assert large.feature_names == ("size", "count")


def test_a_small_table_of_edges_beside_it_changes_nothing(tmp_path, nodes, caplog):
    caplog.set_level(logging.INFO)
    wide = nodes.join(pd.DataFrame(np.random.default_rng(1).normal(size=(ROWS, 60))).add_prefix("w"))
    source = tables(tmp_path, wide, label_column="kind")
    assert_same(load_large(tmp_path, limit=30_000, **source), load(tmp_path, **source))
    first, second = (text for text in caplog.messages if "rows, which would take" in text)
    assert "edges.parquet" in first
    assert first.endswith("read whole")
    assert "nodes.parquet" in second
    assert "read in blocks" in second


def test_lists_beside_numbers_are_the_same_features(tmp_path, nodes):
    nodes["words"] = list(np.random.default_rng(1).normal(size=(ROWS, 4)))
    source = tables(tmp_path, nodes, label_column="kind")
    large = load_large(tmp_path, **source)
    assert_same(large, load(tmp_path, **source))
    assert large.feature_names == ("size", "count", *(f"words[{position}]" for position in range(4)))


def test_mostly_zeros_become_the_same_sparse_features(tmp_path, nodes):
    words = pd.DataFrame((np.random.default_rng(1).random((ROWS, 30)) < 0.1).astype(int)).add_prefix("w")
    source = tables(tmp_path, nodes.join(words), ".csv", label_column="kind", feature_columns="w*")
    large, whole = load_large(tmp_path, **source), load(tmp_path, **source)
    assert_same(large, whole)
    for name in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(large.features, name), getattr(whole.features, name), strict=True)


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
@pytest.mark.parametrize("masks", [True, False])
def test_splits_in_columns_are_the_same(tmp_path, nodes, suffix, masks):
    parts = np.random.default_rng(1).choice(["train", "val", "test", ""], size=(2, ROWS))
    for number, part in enumerate(parts):
        if masks:
            for name in ("train", "val", "test"):
                nodes[f"{name}_{number}"] = part == name
        else:
            nodes[f"split_{number}"] = part
    columns = "t*_0+val_0+t*_1+val_1" if masks else "split_*"
    source = tables(tmp_path, nodes, suffix, label_column="kind", split_columns=columns)
    large = load_large(tmp_path, **source)
    assert large.targets.splits.shape == (2, ROWS)
    assert_same(large, load(tmp_path, **source))


def test_a_column_with_text_in_a_late_row_is_no_feature_both_ways(tmp_path, nodes, caplog):
    nodes["late"] = [*map(str, range(ROWS - 1)), "unknown"]
    source = tables(tmp_path, nodes, ".csv", label_column="kind")
    large = load_large(tmp_path, **source)
    assert large.feature_names == ("size", "count")
    assert "columns without numbers or without a name are no features: late" in caplog.text
    assert_same(large, load(tmp_path, **source))


def change(**columns):
    """Other values for some rows of some columns."""

    def changed(frame):
        for name, values in columns.items():
            column = frame[name].astype(object).tolist() if name in frame else [None] * len(frame)
            for row, value in values.items():
                column[row] = value
            frame[name] = column
        return frame

    return changed


@pytest.mark.parametrize(
    ("changed", "source", "expected"),
    [
        (change(id={5: "n1", 2: "n2", 30: "n1", 45: "n2"}), {}, "is there twice"),
        (change(id={40: None}), {}, "row 41: the id is missing"),
        (change(size={45: None}), {}, "has 'nan', which is no finite number"),
        (change(count={30: "many"}, size={45: None}), {"feature_columns": "size+count"}, "column 'size': node"),
        (change(count={45: "many"}), {"feature_columns": "size+count"}, "has 'many', which is no finite number"),
        (lambda frame: frame.assign(kind="x"), {}, "there is only the class 'x'"),
        (change(part={0: "train", 1: "val", 40: "tset"}), {"split_columns": "part"}, "is in 'tset'"),
        (change(part={0: "train", 1: "val", 2: "test"}), {"split_columns": "part"}, "in 'train' have one class"),
        (change(kind={40: None}, part={40: "val"}), {"split_columns": "part"}, "is in 'val' but has no label"),
        (lambda frame: frame, {"label_column": "knd"}, "has no column 'knd'; did you mean 'kind'"),
        (lambda frame: frame.assign(code=frame["kind"].map(ord)), {}, "'code' (like a copy of the label)"),
        (lambda frame: frame.assign(timestamp=1), {}, "'timestamp' (like a time)"),
        (lambda frame: frame, {"ignore": "nothing"}, "have no column 'nothing' to ignore"),
    ],
    ids=lambda value: value.replace(" ", "_") if isinstance(value, str) else "",
)
def test_a_mistake_is_the_same_line_both_ways(tmp_path, nodes, changed, source, expected):
    source = {"label_column": "kind", **source}
    ring = tables(tmp_path, nodes, ".csv")
    written = {**ring, "nodes": write(changed(nodes), tmp_path / "changed.csv"), **source}
    messages = [message(way, tmp_path, **written) for way in (load_large, load)]
    assert messages[0] == messages[1]
    assert expected in messages[0]


def test_a_column_that_looks_like_the_label_at_first_is_a_feature_both_ways(tmp_path, nodes):
    nodes["code"] = nodes["kind"].map(ord)
    nodes.loc[ROWS - 1, "code"] = {"x": ord("y")}.get(nodes["kind"].iloc[-1], ord("x"))
    source = tables(tmp_path, nodes, label_column="kind")
    assert_same(load_large(tmp_path, **source), load(tmp_path, **source))


def test_an_end_that_is_no_node_is_told_and_a_node_without_edges_is_kept(tmp_path, nodes):
    source = tables(tmp_path, nodes, label_column="kind")
    more = pd.concat([nodes, nodes.iloc[:1].assign(id="alone")], ignore_index=True)
    large = load_large(tmp_path, **{**source, "nodes": write(more, tmp_path / "more.parquet")})
    assert large.ids[-1] == "alone"
    fewer = write(nodes.iloc[:-1], tmp_path / "fewer.parquet")
    messages = [message(way, tmp_path, **{**source, "nodes": fewer}) for way in (load_large, load)]
    assert messages[0] == messages[1]
    assert f"there is no node '{nodes['id'].iloc[-1]}'" in messages[0]


def test_whole_numbers_in_the_nodes_match_their_text_in_the_edges(tmp_path):
    edges = write(pd.DataFrame({"a": ["3", "2", "10"], "b": ["2", "10", "3"]}), tmp_path / "edges.parquet")
    for name, ids in (("numbers", [10, 3, 2]), ("text", ["10", "3", "2"])):
        nodes = write(pd.DataFrame({"id": ids}), tmp_path / f"{name}.parquet")
        assert_same(*(way(tmp_path, edges=edges, nodes=nodes) for way in (load_large, load)))


def test_categories_are_read_whole_and_the_log_says_so(tmp_path, nodes, monkeypatch, caplog):
    monkeypatch.undo()
    nodes["colour"] = ["red", "blue"] * (ROWS // 2)
    source = tables(tmp_path, nodes, label_column="kind", one_hot="colour")
    assert_same(load_large(tmp_path, **source), load(tmp_path, **source))
    assert "nodes.parquet: it has categories (one_hot), and is read whole all the same" in caplog.text
