"""Archives, tables and names at the edges: a graph, or one line that says what to do."""

import io
import logging
import zipfile

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from faults_project import PROJECT, one_line
from kedro.logging import RichHandler
from rich.console import Console

from figure_kedro.datasets.sources import SOURCES, RawFiles
from figure_kedro.graph.csr import checked_csr
from figure_kedro.reporting.charts import confusion_matrix_figure
from figure_kedro.reporting.pictures import tsne_figure


def archive(**changes):
    n = 6
    masks = np.zeros((2, n), dtype=bool)
    arrays = {
        "edges": np.array([[0, 1], [1, 2], [3, 4]]),
        "edges_directed": np.array(False),
        "node_labels": np.array([0, 1, 0, 1, 0, 1]),
        "node_features_data": np.ones(2, np.float32),
        "node_features_indices": np.array([0, 1]),
        "node_features_indptr": np.array([0, 1, 2, 2, 2, 2, 2]),
        "node_features_shape": np.array([n, 2]),
    }
    for number, part in enumerate(("train", "val", "test")):
        arrays[f"{part}_masks"] = masks.copy()
        arrays[f"{part}_masks"][:, 2 * number : 2 * number + 2] = True
    return {name: array for name, array in (arrays | changes).items() if array is not None}


def load(path):
    return SOURCES.build(SOURCES.parse({"kind": "npz_archive", "path": str(path)})).load(RawFiles(path.parent), "toy")


def test_the_archive_that_the_others_are_changes_of_is_read(tmp_path):
    np.savez(tmp_path / "a.npz", **archive())
    graph = load(tmp_path / "a.npz")
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.targets.num_splits) == (6, 3, 2, 2)


@pytest.mark.parametrize(
    "changes",
    [
        {"edges": None},
        {"edges": np.arange(6)},
        {"edges": np.zeros((2, 3), dtype=int)},
        {"edges": np.array([[0.0, 1.5]])},
        {"edges": np.array([[0, 99]])},
        {"edges": np.array([["a", "b"]])},
        {"edges": np.array(3)},
        {"edges_directed": np.array([True, False])},
        {"edges_directed": np.array("yes")},
        {"node_labels": np.zeros((6, 1), dtype=int)},
        {"node_labels": np.array(["a"] * 6)},
        {"node_labels": np.array([0.0, np.inf, 0, 1, 0, 1])},
        {"node_labels": np.array([0, 1])},
        {"train_masks": np.zeros((2, 5), dtype=bool)},
        {"train_masks": np.zeros((2, 6))},
        {"train_masks": np.zeros((3, 6), dtype=bool)},
        {"train_masks": np.zeros((1, 2, 6), dtype=bool)},
        {"node_features_indices": np.array([0, 2])},
        {"node_features_indices": np.array([0, -1])},
        {"node_features_indices": np.array([0.0, 1.0])},
        {"node_features_indptr": np.array([0, 2, 1, 2, 2, 2, 2])},
        {"node_features_indptr": np.array([0, 1, 2])},
        {"node_features_indptr": np.array([0, 1, 2, 2, 2, 2, 10**9])},
        {"node_features_shape": np.array([6, 2, 1])},
        {"node_features_shape": np.array([10**12, 2])},
        {"node_features_shape": np.array([6, -2])},
        {"node_features_data": np.ones(3, np.float32)},
        {"node_features_data": np.array([1, np.nan], np.float32)},
        {"node_features_data": np.array([1j, 2])},
        {"node_features_data": None, "node_features": np.ones((5, 2))},
        {"node_features_data": None, "node_features": np.ones(6)},
        {"node_features_data": None, "node_features": np.array([["a"]] * 6)},
        {"node_features_data": None, "node_features": np.full((6, 1), np.inf)},
    ],
)
def test_an_array_of_another_rank_type_or_length_than_described_is_one_line(tmp_path, changes):
    np.savez(tmp_path / "a.npz", **archive(**changes))
    one_line(load, tmp_path / "a.npz")


def packed(path, name, content):
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr(name, content)


def header(text):
    described = text.encode()
    return b"\x93NUMPY\x01\x00" + len(described).to_bytes(2, "little") + described


def test_archives_that_lie_or_hold_objects_are_one_line(tmp_path):
    path = tmp_path / "a.npz"
    np.savez(path, **archive(edges=np.array([{"a": 1}], dtype=object)))
    assert "plain arrays" in one_line(load, path)
    for text in (
        "{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,)}\n",
        "{'descr': '<f8', 'fortran_order': False, 'shape': (-1,)}\n",
        "{'descr': '|O', 'fortran_order': False, 'shape': (1,)}\n",
        "{'descr': [('a', '<f8')], 'fortran_order': False, 'shape': (1,)}\n",
        "__import__('os').abort()\n",
        "{'descr': '<f8'",
    ):
        packed(path, "edges.npy", header(text) + b"\0" * 64)
        one_line(load, path)
    packed(path, "edges.npy", b"no array")
    one_line(load, path)
    for content in (b"", b"PK", b"PK\x05\x06" + b"\0" * 18, b"\x93NUMPY"):
        path.write_bytes(content)
        one_line(load, path)


def test_an_archive_that_unpacks_to_more_than_memory_is_refused(tmp_path, monkeypatch):
    np.savez_compressed(tmp_path / "a.npz", **archive(node_features_data=None, node_features=np.zeros((6, 10_000))))
    monkeypatch.setattr("figure_kedro.memory.free_memory", lambda: 100_000)
    assert "GB of memory" in one_line(load, tmp_path / "a.npz")


@pytest.mark.parametrize(
    ("data", "indices", "indptr"),
    [
        (np.ones(2), np.array([0, 3]), np.array([0, 1, 2])),
        (np.ones(2), np.array([-1, 0]), np.array([0, 1, 2])),
        (np.ones(2), np.array([0, 1]), np.array([0, 2, 1])),
        (np.ones(2), np.array([0, 1]), np.array([1, 1, 2])),
        (np.ones(2), np.array([0, 1]), np.array([0, 1, 3])),
        (np.ones(2), np.array([0, 1]), np.array([0, 2])),
        (np.ones(2), np.array([0]), np.array([0, 1, 2])),
        (np.ones((2, 1)), np.array([0, 1]), np.array([0, 1, 2])),
        (np.ones(2), np.array([0.0, 1.0]), np.array([0, 1, 2])),
        (np.array(["a", "b"]), np.array([0, 1]), np.array([0, 1, 2])),
    ],
)
def test_positions_that_make_no_matrix_never_reach_compiled_code(data, indices, indptr):
    assert "the thing" in one_line(checked_csr, data, indices, indptr, (2, 3), "the thing")


def test_positions_that_make_a_matrix_do():
    matrix = sp.random_array((5, 7), density=0.4, format="csr", rng=np.random.default_rng(0))
    made = checked_csr(matrix.data, matrix.indices, matrix.indptr, (5, 7), "it")
    assert (made != matrix).nnz == 0
    assert checked_csr(np.ones(0), np.zeros(0, int), np.zeros(3, int), (2, 3), "it").nnz == 0


def own(**settings):
    return SOURCES.build(SOURCES.parse({"kind": "own", **settings})).load(RawFiles("."), "mine")


def tables(tmp_path, edges, nodes):
    edges.to_parquet(tmp_path / "e.parquet")
    nodes.to_parquet(tmp_path / "n.parquet")
    return {"edges": str(tmp_path / "e.parquet"), "nodes": str(tmp_path / "n.parquet"), "label_column": "label"}


@pytest.mark.parametrize("label", [[1.0, np.inf, 1.0, np.inf] * 5, [[1], [2], [1], [2]] * 5, [{"a": 1}] * 20])
def test_labels_of_infinity_or_lists_are_a_class_or_one_line(tmp_path, label):
    ids = np.arange(20)
    named = tables(tmp_path, pd.DataFrame({"a": ids, "b": (ids + 1) % 20}), pd.DataFrame({"id": ids, "label": label}))
    if isinstance(label[0], float):
        assert own(**named).targets.classes == ("1", "inf")
    else:
        assert "lists" in one_line(own, **named)


def test_ids_that_are_lists_or_longer_than_a_page_are_one_line(tmp_path):
    pd.DataFrame({"a": [[1], [2]], "b": [[2], [1]]}).to_parquet(tmp_path / "e.parquet")
    assert "lists" in one_line(own, edges=str(tmp_path / "e.parquet"))
    (tmp_path / "e.csv").write_text("a,b\nx," + "y" * 20_000 + "\n")
    assert "20000 characters" in one_line(own, edges=str(tmp_path / "e.csv"))


HOSTILE = ["[/x]", "[bold]", "<script>alert(1)</script>", "a|b", "$x_{$", "_hidden", "`rm`", "\\", "[link=x]"]


def test_markup_in_names_is_shown_and_not_obeyed_by_the_log():
    text = (PROJECT / "conf" / "logging.yml").read_text()
    assert "markup: false" in text
    console = Console(file=io.StringIO(), width=200)
    handler = RichHandler(console=console, markup=False, rich_tracebacks=False)
    for name in HOSTILE:
        handler.emit(logging.LogRecord("figure_kedro", logging.WARNING, "", 0, "column %s", (name,), None))
        assert name in console.file.getvalue()


def test_markup_in_names_of_classes_is_drawn_and_not_obeyed():
    labels = np.arange(18) % len(HOSTILE)
    points = np.random.default_rng(0).standard_normal((18, 3)).astype(np.float32)
    figure = tsne_figure({"A": points}, labels, 0, HOSTILE)
    figure.savefig(io.BytesIO(), format="png")
    assert len(figure.legends[0].get_texts()) == len(HOSTILE)
    matrix = confusion_matrix_figure(labels, labels, HOSTILE, "t", "all nodes")
    matrix.savefig(io.BytesIO(), format="png")
    assert len(matrix.axes[0].get_xticklabels()) == len(HOSTILE)
