"""A table of edges that is larger than memory gives the graph that it gives in memory, bit for bit, or one line."""

import gzip
import logging
import resource
import sys

import duckdb
import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.datasets.sources import edge_database, large_own
from figure_kedro.errors import UserError
from figure_kedro.memory import Memory, use_memory
from own_tables import load, load_large, write

text_ids = st.text(st.characters(codec="utf-8", exclude_categories=["C", "Z"], exclude_characters='",'), min_size=1)
whole_ids = st.integers(-(10**12), 10**12)
ids = st.sampled_from(
    [
        text_ids,
        whole_ids,
        whole_ids.map(float),
        st.floats(-100, 100),
        st.integers(0, 2**64 - 1).map(np.uint64),
        st.dates().map(pd.Timestamp),
        st.booleans(),
    ]
)


def assert_same(one, other):
    assert one.checksum == other.checksum, "ids, edges and features"
    assert one.targets.checksum == other.targets.checksum
    assert one.ids.tolist() == other.ids.tolist()
    assert (one.adjacency.indices.dtype, one.directed) == (other.adjacency.indices.dtype, other.directed)
    assert one.feature_names == other.feature_names


@pytest.fixture
def edges(tmp_path):
    """Forty pairs of twelve names, with repeated ones, loops and weights, in more blocks than one."""
    rng = np.random.default_rng(0)
    names = np.array([f"n{number}" for number in range(12)])
    frame = pd.DataFrame({"a": rng.choice(names, 40), "b": rng.choice(names, 40), "w": rng.uniform(1, 2, 40)})
    return write(frame, tmp_path / "edges.parquet")


@settings(max_examples=15, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(st.data())
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_ids_of_any_type_give_the_same_graph(tmp_path, suffix, data):
    kinds = [data.draw(ids), data.draw(ids)]
    rows = data.draw(st.integers(1, 40))
    columns = {
        name: data.draw(st.lists(kind, min_size=rows, max_size=rows))
        for name, kind in zip(("source", "target"), kinds, strict=True)
    }
    source = {
        "edges": write(pd.DataFrame(columns), tmp_path / f"edges{suffix}"),
        "directed": data.draw(st.booleans()),
        "source_column": "source",
        "target_column": "target",
    }
    assert_same(load_large(tmp_path, **source), load(tmp_path, **source))


@pytest.mark.parametrize("directed", [True, False])
@pytest.mark.parametrize("weight", ["w", None])
def test_weights_loops_and_repeated_edges_give_the_same_graph(tmp_path, edges, directed, weight):
    source = {"edges": edges, "directed": directed, "weight_column": weight}
    source |= {} if weight else {"ignore": ("w",)}
    assert_same(load_large(tmp_path, **source), load(tmp_path, **source))


def test_a_node_table_gives_order_features_labels_and_splits(tmp_path, edges):
    nodes = pd.DataFrame({"id": [f"n{number}" for number in (*range(11, -1, -1), 99)]})
    nodes["size"], nodes["class"] = np.arange(13.0), ["x", "y"] * 6 + ["y"]
    source = {"edges": edges, "nodes": write(nodes, tmp_path / "nodes.csv"), "label_column": "class", "ignore": ("w",)}
    large = load_large(tmp_path, **source)
    assert_same(large, load(tmp_path, **source))
    assert large.ids[-1] == "n99", "a node without an edge"
    assert large.adjacency.indptr[-1] == large.adjacency.indptr[-2]


def test_whole_numbers_in_one_table_match_their_text_in_the_other(tmp_path):
    edges = write(pd.DataFrame({"a": [1, 2, 3], "b": [2, 3, 1]}), tmp_path / "edges.parquet")
    nodes = write(pd.DataFrame({"id": ["3", "2", "1", "x"]}), tmp_path / "nodes.parquet")
    assert_same(*(way(tmp_path, edges=edges, nodes=nodes) for way in (load_large, load)))


def test_a_category_of_numbers_in_parquet_is_text_both_ways(tmp_path):
    frame = pd.DataFrame({"a": pd.Categorical([10, 9, 10]), "b": pd.Categorical([9, 10, 10])})
    edges = write(frame, tmp_path / "edges.parquet")
    assert_same(*(way(tmp_path, edges=edges) for way in (load_large, load)))


def test_a_folder_of_parquet_files_is_one_table(tmp_path):
    folder = tmp_path / "edges"
    folder.mkdir()
    for number in range(3):
        write(pd.DataFrame({"a": [f"n{number}"] * 20, "b": [f"n{k}" for k in range(20)]}), folder / f"{number}.parquet")
    assert_same(*(way(tmp_path, edges=str(folder)) for way in (load_large, load)))


def test_what_a_run_that_was_killed_has_left_is_removed(tmp_path, edges):
    left = tmp_path / "scratch" / ".edges.0123456789ab.part"
    left.mkdir(parents=True)
    load_large(tmp_path, edges=edges, ignore=("w",))
    assert not left.exists()


def test_the_log_says_which_way_is_taken(tmp_path, edges, caplog):
    caplog.set_level(logging.INFO)
    load_large(tmp_path, edges=edges, ignore=("w",))
    with use_memory(Memory(2**40, ScratchFolder(tmp_path / "scratch"))):
        load(tmp_path, edges=edges, ignore=("w",))
    first, second = (message for message in caplog.messages if "rows, which would take" in message)
    assert "about 40 rows" in first
    assert "read in blocks" in first
    assert "read whole" in second


@pytest.mark.parametrize("suffix", [".csv", ".csv.gz"])
def test_a_row_that_is_too_long_in_the_middle_is_one_line(tmp_path, suffix):
    lines = ["a,b", *(f"n{k},n{k + 1}" for k in range(100))]
    lines[60] += ",n5"
    path = tmp_path / f"edges{suffix}"
    (gzip.open if suffix.endswith("gz") else open)(path, "wt").write("\n".join(lines))
    messages = [_message(way, tmp_path, edges=str(path)) for way in (load_large, load)]
    assert all("line 61" in message and "\n" not in message for message in messages), messages


def test_a_row_that_is_too_short_in_the_middle_is_one_line_that_names_it(tmp_path):
    lines = ["a,b", *(f"n{k},n{k + 1}" for k in range(100))]
    lines[60] = "n5"
    (tmp_path / "edges.csv").write_text("\n".join(lines))
    messages = [_message(way, tmp_path, edges=str(tmp_path / "edges.csv")) for way in (load_large, load)]
    assert messages[0] == messages[1]
    assert messages[0].endswith("column 'b', row 60: the id is missing")


def test_a_weight_that_is_none_is_named_by_its_row(tmp_path):
    frame = pd.DataFrame({"a": np.arange(50), "b": np.arange(1, 51), "w": [1.0] * 40 + [-1.0] * 10})
    source = {"edges": write(frame, tmp_path / "edges.parquet"), "weight_column": "w"}
    messages = [_message(way, tmp_path, **source) for way in (load_large, load)]
    assert messages[0] == messages[1]
    assert "row 41" in messages[0]


def test_an_end_that_is_no_node_is_named_by_its_row(tmp_path, edges):
    nodes = write(pd.DataFrame({"id": [f"n{number}" for number in range(11)]}), tmp_path / "nodes.csv")
    source = {"edges": edges, "nodes": nodes, "ignore": ("w",)}
    messages = [_message(way, tmp_path, **source) for way in (load_large, load)]
    assert messages[0] == messages[1]
    assert "there is no node 'n11'" in messages[0]


@pytest.mark.parametrize("way", [load, load_large])
@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_a_file_that_shrinks_while_it_is_read_is_one_line(tmp_path, monkeypatch, way, suffix):
    frame = pd.DataFrame({"a": np.arange(1000), "b": np.arange(1, 1001)})
    path = tmp_path / f"edges{suffix}"
    write(frame, path)
    original = large_own.endpoint_columns

    def shrinking(*arguments):
        with path.open("r+b") as file:
            file.truncate(path.stat().st_size // 2)
        return original(*arguments)

    monkeypatch.setattr(large_own, "endpoint_columns", shrinking)
    monkeypatch.setattr("figure_kedro.graph.from_tables.endpoint_columns", shrinking)
    message = _message(way, tmp_path, edges=str(path))
    assert message == f"{path} has changed while it was read; run again when nobody writes to it"


def test_a_parquet_file_with_a_broken_middle_is_one_line(tmp_path):
    path = tmp_path / "edges.parquet"
    table = pa.table({"a": [f"n{k}" for k in range(5000)], "b": [f"n{k + 1}" for k in range(5000)]})
    pq.write_table(table, path, row_group_size=500, compression="zstd")
    content = bytearray(path.read_bytes())
    content[len(content) // 2 : len(content) // 2 + 200] = bytes(200)
    path.write_bytes(content)
    assert "cannot be read as a table" in _message(load_large, tmp_path, edges=str(path))


def test_a_disk_that_takes_no_more_is_one_line_and_nothing_is_left(tmp_path):
    rows = np.random.default_rng(0).integers(10**9, size=(20_000, 2))
    source = {"edges": write(pd.DataFrame(rows, columns=["a", "b"]).astype(str), tmp_path / "edges.parquet")}
    before = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, before[1]))
    try:
        message = _message(load_large, tmp_path, **source)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, before)
    assert message.startswith(f"{tmp_path / 'scratch'} cannot be written: file too large")
    assert not list((tmp_path / "scratch").glob("*"))


def test_a_full_disk_is_told_with_what_is_free(tmp_path, edges, monkeypatch):
    def full(self, table, block):
        with self._in_one_line():
            raise duckdb.IOException("IO Error: Could not write file: No space left on device")

    monkeypatch.setattr(edge_database.EdgeDatabase, "_insert", full)
    message = _message(load_large, tmp_path, edges=edges, ignore=("w",))
    assert "cannot be written: no space left on device" in message
    assert not list((tmp_path / "scratch").glob("*"))


def test_without_duckdb_it_says_what_to_install(tmp_path, edges, monkeypatch):
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert "pip install 'figure_kedro[large]'" in _message(load_large, tmp_path, edges=edges, ignore=("w",))


def _message(way, folder, **source):
    with pytest.raises(UserError) as caught:
        way(folder, **source)
    return str(caught.value)
