"""One graph in every format that is read, and files that are none."""

import gzip

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from pydantic import ValidationError

from figure_kedro.datasets.files.content import content_digest
from figure_kedro.datasets.sources.kinds.own import Own, OwnSettings
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.errors import UserError
from figure_kedro.parameters import check_parameters

EDGES = pd.DataFrame({"from": ["b", "c", "ä"], "to": ["ä", "b", "d"]})
PARTS = ("train", "val", "test")
NODES = pd.DataFrame({"id": ["d", "b", "ä", "c"], "size": [1.5, 2.0, 3.0, 4.0], "kind": ["old", "new", None, "old"]})


def own(**source):
    return Own(OwnSettings(**{name: str(value) if name == "edges" else value for name, value in source.items()}))


def load(**source):
    return own(**source).load(RawFiles("."), "mine")


def assert_the_graph(graph):
    assert graph.ids.tolist() == ["d", "b", "ä", "c"]
    np.testing.assert_array_equal(graph.features, [[1.5], [2], [3], [4]])
    rows, columns = graph.adjacency.nonzero()
    named = {(graph.ids[u], graph.ids[v]) for u, v in zip(rows, columns, strict=True)}
    assert named == {("b", "ä"), ("ä", "b"), ("c", "b"), ("b", "c"), ("ä", "d"), ("d", "ä")}


@pytest.mark.parametrize("suffix", [".csv", ".tsv", ".csv.gz", ".tsv.gz"])
@pytest.mark.parametrize("separator", [",", "\t", ";", "|", " "])
def test_any_separator_is_found(tmp_path, separator, suffix):
    edges, nodes = tmp_path / f"edges{suffix}", tmp_path / f"nodes{suffix}"
    EDGES.to_csv(edges, sep=separator, index=False)
    NODES.to_csv(nodes, sep=separator, index=False)
    assert_the_graph(load(edges=edges, nodes=str(nodes)))


@pytest.mark.parametrize(("separator", "name"), [("\t", "tab"), (";", "semicolon"), ("~", "~"), ("|", "pipe")])
def test_a_separator_can_be_named_and_then_the_file_may_be_called_anything(tmp_path, separator, name):
    EDGES.to_csv(tmp_path / "edges.txt", sep=separator, index=False)
    NODES.to_csv(tmp_path / "nodes.dat", sep=separator, index=False)
    assert_the_graph(load(edges=tmp_path / "edges.txt", nodes=str(tmp_path / "nodes.dat"), separator=name))


def test_decimal_points_of_quoted_text_do_not_hide_the_separator(tmp_path):
    (tmp_path / "edges.csv").write_text('"from";"to";"note"\n"a";"b";"x, y"\n"b";"c";"z"\n')
    assert load(edges=tmp_path / "edges.csv").ids.tolist() == ["a", "b", "c"]


@pytest.mark.parametrize(("encoding", "given"), [("utf-16", None), ("utf-8-sig", None), ("latin-1", "latin-1")])
def test_text_has_an_encoding(tmp_path, encoding, given):
    EDGES.to_csv(tmp_path / "edges.csv", encoding=encoding, index=False)
    NODES.to_csv(tmp_path / "nodes.csv", encoding=encoding, index=False)
    assert_the_graph(load(edges=tmp_path / "edges.csv", nodes=str(tmp_path / "nodes.csv"), encoding=given))


def test_text_in_another_encoding_names_the_setting(tmp_path):
    EDGES.to_csv(tmp_path / "edges.csv", encoding="latin-1", index=False)
    with pytest.raises(UserError, match=r"cannot be read as a table: .*; set source\.encoding"):
        load(edges=tmp_path / "edges.csv")


def test_a_list_of_edges_with_comments_is_read_as_it_is_published(tmp_path):
    (tmp_path / "edges.txt").write_text("# Nodes: 3\n# From\tTo\n10\t20\n20\t30\n")
    graph = load(edges=tmp_path / "edges.txt", separator="tab")
    assert graph.ids.tolist() == [10, 20, 30]
    (tmp_path / "edges.txt").write_text("% a comment\n10 20\n20 30\n")
    assert load(edges=tmp_path / "edges.txt", separator="space", header=False).ids.tolist() == [10, 20, 30]


def test_empty_lines_before_the_names_are_passed_over(tmp_path):
    (tmp_path / "edges.csv").write_bytes(b"\r\n\r\nfrom,to\r\na,b\r\n\r\nb,c\r\n")
    assert load(edges=tmp_path / "edges.csv").ids.tolist() == ["a", "b", "c"]


def test_an_index_of_words_in_parquet_is_asked_about(tmp_path):
    EDGES.to_parquet(tmp_path / "edges.parquet")
    NODES.set_index("id").rename_axis(None).to_parquet(tmp_path / "nodes.parquet")
    with pytest.raises(UserError, match="the first column has no name; set id_column"):
        load(edges=tmp_path / "edges.parquet", nodes=str(tmp_path / "nodes.parquet"))


def test_without_a_line_of_names_columns_are_numbered(tmp_path):
    (tmp_path / "edges.csv").write_text("0.5,10,20\n2,20,30\n")
    source = {"source_column": "c2", "target_column": "c3", "weight_column": "c1"}
    graph = load(edges=tmp_path / "edges.csv", header=False, **source)
    assert graph.ids.tolist() == [10, 20, 30]
    assert graph.adjacency[0, 1] == 0.5


def test_a_folder_of_parquet_files_is_one_table_and_keyed_by_their_content(tmp_path):
    folder, nodes = tmp_path / "edges", tmp_path / "nodes.parquet"
    folder.mkdir()
    EDGES.iloc[:2].to_parquet(folder / "part-0.parquet", index=False)
    EDGES.iloc[2:].to_parquet(folder / "part-1.parquet", index=False)
    (folder / "_SUCCESS").write_text("")
    NODES.to_parquet(nodes, index=False)
    assert_the_graph(load(edges=folder, nodes=str(nodes)))

    def key():
        return check_parameters({"dataset": "mine", "source": {"kind": "own", "edges": str(folder)}}).key("graph")

    before, digest = key(), content_digest(str(folder))
    (folder / "_SUCCESS").write_text("more")
    assert key() == before
    EDGES.iloc[1:].to_parquet(folder / "part-1.parquet", index=False)
    assert key() != before
    assert content_digest(str(folder)) != digest


def test_lists_of_numbers_in_parquet_are_features(tmp_path):
    EDGES.to_parquet(tmp_path / "edges.parquet")
    nodes = NODES.assign(embedding=[[1.0, 2.0], [3.0, 4.0], [5.0, 6.0], [7.0, 8.0]])
    nodes.to_parquet(tmp_path / "nodes.parquet")
    graph = load(edges=tmp_path / "edges.parquet", nodes=str(tmp_path / "nodes.parquet"))
    np.testing.assert_array_equal(graph.features, [[1.5, 1, 2], [2, 3, 4], [3, 5, 6], [4, 7, 8]])


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_categories_become_columns_of_0_and_1_on_request(tmp_path, suffix):
    write = (lambda f, p: f.to_csv(p, index=False)) if suffix == ".csv" else (lambda f, p: f.to_parquet(p))
    write(EDGES, tmp_path / f"edges{suffix}")
    write(NODES, tmp_path / f"nodes{suffix}")
    graph = load(edges=tmp_path / f"edges{suffix}", nodes=str(tmp_path / f"nodes{suffix}"), one_hot="kind")
    np.testing.assert_array_equal(graph.features, [[1.5, 0, 1], [2, 1, 0], [3, 0, 0], [4, 0, 1]])  # size, new, old


@pytest.mark.parametrize("names", [{"edges": "edge_index", "features": "x", "labels": "y", "mask": "_mask"}, {}])
def test_an_archive_of_arrays_is_a_whole_graph(tmp_path, names):
    edges = np.array([[0, 1], [1, 2], [2, 3], [3, 4], [4, 5]])
    masks = np.zeros((3, 6), dtype=bool)
    masks[0, :4], masks[1, 4], masks[2, 5] = True, True, True
    arrays = {
        names.get("edges", "edges"): edges.T if names else edges,
        names.get("features", "node_features"): np.eye(6) + 1,
        names.get("labels", "node_labels"): np.arange(6) % 2,
    }
    path = tmp_path / "graph.npz"
    np.savez(path, **arrays)
    graph = load(edges=path, random_splits=2, train=0.3, val=0.3)
    assert (graph.num_nodes, graph.num_edges, graph.num_features, graph.targets.num_splits) == (6, 5, 6, 2)
    suffix = names.get("mask", "_masks")
    np.savez(path, **arrays, **{f"{part}{suffix}": mask for part, mask in zip(PARTS, masks, strict=True)})
    np.testing.assert_array_equal(load(edges=path).targets.splits, [[1, 1, 1, 1, 2, 3]])


def test_a_matrix_that_scipy_saved_is_a_graph(tmp_path):
    matrix = sp.csr_array(np.array([[0, 2.0, 0], [2, 0, 1], [0, 1, 0]]))
    sp.save_npz(tmp_path / "matrix.npz", matrix)
    graph = load(edges=tmp_path / "matrix.npz")
    np.testing.assert_array_equal(graph.adjacency.toarray(), matrix.toarray())


@pytest.mark.parametrize("suffix", [".graphml", ".graphml.gz"])
def test_graphml_has_edges_nodes_and_what_is_known_about_them(tmp_path, suffix):
    graph = nx.DiGraph()
    for row in NODES.dropna().itertuples():
        graph.add_node(row.id, size=row.size, label=row.kind)
    graph.add_node("ä", size=3.0)
    graph.add_edge("b", "ä", strength=2.0)
    graph.add_edge("c", "b", strength=1.0)
    nx.write_graphml(graph, tmp_path / f"graph{suffix}")
    source = {"edges": tmp_path / f"graph{suffix}", "label_column": "label", "random_splits": 0, "directed": True}
    read = load(**source, weight_column="strength")
    assert read.ids.tolist() == ["d", "b", "c", "ä"]
    np.testing.assert_array_equal(read.features[:, 0], [1.5, 2, 4, 3])
    assert read.targets.labels.tolist() == [1, 0, 1, -1]
    assert read.adjacency[1, 3] == 2
    assert read.adjacency[3, 1] == 0


def test_directions_that_graphml_has_are_not_dropped_in_silence(tmp_path, caplog):
    nx.write_graphml(nx.DiGraph([("a", "b"), ("b", "c"), ("a", "c")]), tmp_path / "g.graphml")
    load(edges=tmp_path / "g.graphml")
    assert "set source.directed=true to keep it" in caplog.text


@pytest.mark.parametrize("suffix", [".csv", ".npz", ".graphml"])
@pytest.mark.parametrize("directed", [True, False])
def test_edges_that_all_come_in_pairs_get_a_hint_where_their_direction_is_asked_for(tmp_path, caplog, suffix, directed):
    pairs, file = [("a", "b"), ("b", "a"), ("b", "c"), ("c", "b")], tmp_path / f"pairs{suffix}"
    if suffix == ".csv":
        pd.DataFrame(pairs, columns=["from", "to"]).to_csv(file, index=False)
    elif suffix == ".npz":
        np.savez(file, edges=np.array(pairs), ids=np.array(["a", "b", "c"]))
    else:
        nx.write_graphml(nx.DiGraph(pairs), file)
    load(edges=file, directed=directed)
    hint = f"{file}: every edge has its reverse, so the graph is symmetric; leave source.directed out"
    told = [record.getMessage() for record in caplog.records if record.levelname == "WARNING"]
    assert [line.replace(" (edges)", "") for line in told] == [hint] * directed


BOMB = b"""<?xml version="1.0"?><!DOCTYPE lolz [<!ENTITY a "ha"><!ENTITY b "&a;&a;&a;&a;">]>
<graphml xmlns="http://graphml.graphdrawing.org/xmlns">
<graph edgedefault="directed"><node id="&b;"/></graph></graphml>"""


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("g.graphml", BOMB, "declares XML entities"),
        ("g.graphml", BOMB.decode().replace('"1.0"', '"1.0" encoding="utf-16"').encode("utf-16"), "declares XML"),
        ("g.graphml", b"<graphml", "cannot be read as GraphML"),
        ("g.graphml", b"", "cannot be read as GraphML"),
        ("g.graphml", b"<a/>", "GraphML|holds no"),
        ("g.graphml.gz", b"no gz", "cannot be read as GraphML"),
        ("g.npz", b"PK no archive", "is not an npz archive"),
        ("data.pt", b"anything", "is a pickle, which may run any program"),
        ("data.pkl", b"anything", "is a pickle"),
        ("edges.csv.gz", gzip.compress(b"s,t\na,b\n" * 50, mtime=0)[:-12], "cannot be read as a table"),
        ("edges.xlsx", b"PK", "tables are read from .csv, .tsv"),
    ],
)
def test_a_file_that_holds_no_graph_is_one_line(tmp_path, name, content, message):
    (tmp_path / name).write_bytes(content)
    with pytest.raises(UserError, match=message) as caught:
        load(edges=tmp_path / name)
    assert "\n" not in str(caught.value)


def test_an_archive_of_objects_is_refused_and_never_unpickled(tmp_path):
    np.savez(tmp_path / "g.npz", edges=np.array([{"a": 1}], dtype=object))
    with pytest.raises(UserError, match="not an npz archive of plain arrays"):
        load(edges=tmp_path / "g.npz")


@pytest.mark.parametrize(
    ("arrays", "message"),
    [
        ({"node_features": np.ones((3, 2))}, "has no array 'edges'"),
        ({"edges": np.arange(6)}, r"edges \(m, 2\) or edge_index \(2, m\)"),
        ({"edges": np.array([[0, 9]]), "x": np.ones((3, 2))}, "ends at node number 9"),
        ({"edges": np.array([[0, 1]]), "y": np.array([0, 1]), "train_mask": np.ones(2, bool)}, "no array 'val_masks'"),
    ],
)
def test_an_archive_that_makes_no_graph_is_one_line(tmp_path, arrays, message):
    np.savez(tmp_path / "g.npz", **arrays)
    with pytest.raises(UserError, match=message):
        load(edges=tmp_path / "g.npz")


def test_a_folder_without_parquet_is_one_line(tmp_path):
    (tmp_path / "edges").mkdir()
    with pytest.raises(UserError, match="is a folder without Parquet files"):
        load(edges=tmp_path / "edges")


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ({"separator": "comma,"}, "a separator is one character"),
        ({"separator": "x"}, "a separator is one character"),
        ({"encoding": "utf-9"}, "there is no encoding 'utf-9'"),
        ({"edges": "g.npz", "label_column": "y"}, "have fixed names; leave label_column out"),
        ({"edges": "g.graphml", "nodes": "n.csv"}, "holds the nodes, too"),
    ],
)
def test_settings_that_fit_no_file_are_refused(source, message):
    with pytest.raises(ValidationError, match=message):
        OwnSettings(**{"edges": "e.csv", **source})


def test_lists_are_given_with_plus_signs():
    settings = OwnSettings(
        edges="e", nodes="n", label_column="y", split_columns="a+b", feature_columns="x*+C++", ignore=3
    )
    assert settings.split_columns == ("a", "b")
    assert settings.feature_columns == ("x*+C++",), "an empty name is none"
    assert settings.ignore == ("3",)
