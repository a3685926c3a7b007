"""Published graphs have the counts that their publishers and papers state."""

import shutil
from functools import cache

import numpy as np
import pytest

from figure_kedro.datasets.sources import SOURCES, RawFiles
from figure_kedro.errors import UserError
from figure_kedro.graph.splits import TEST, TRAIN, VAL
from figure_kedro.graph.twins import ALONE, twin_groups

# nodes, undirected edges, features, classes, train/val/test of split 0, edge homophily
COUNTS = {
    "cora": (2708, 5278, 1433, 7, (1192, 796, 497), 0.8100),
    "citeseer": (3327, 4552, 3703, 6, (1596, 1065, 666), 0.7355),
    "pubmed": (19717, 44324, 500, 3, (9463, 6310, 3944), 0.8024),
    "chameleon": (2277, 31371, 2325, 5, (1092, 729, 456), 0.2299),
    "squirrel": (5201, 198353, 2089, 5, (2496, 1664, 1041), 0.2221),
    "minesweeper": (10000, 39402, 7, 2, (5000, 2500, 2500), 0.6828),
}
KINDS = {"chameleon": "wikipedia", "squirrel": "wikipedia", "minesweeper": "heterophilous"}


@pytest.fixture(scope="module")
def raw(mirror, tmp_path_factory):
    return RawFiles(tmp_path_factory.mktemp("01_raw"), mirror)


def load(raw, **source):
    return SOURCES.build(SOURCES.parse(source)).load(raw, "graph")


@cache
def published(raw, name):
    return load(raw, kind=KINDS.get(name, "planetoid"), name=name)


def homophily(graph):
    """Share of distinct undirected edges that join equal labels."""
    edges = graph.adjacency.tocoo()
    pairs = np.stack([np.minimum(edges.row, edges.col), np.maximum(edges.row, edges.col)]).astype(np.int64)
    source, target = np.divmod(np.unique(pairs[0] * graph.num_nodes + pairs[1]), graph.num_nodes)
    return (graph.targets.labels[source] == graph.targets.labels[target]).mean()


def sizes(codes):
    return tuple(int((codes == part).sum()) for part in (TRAIN, VAL, TEST))


@pytest.mark.parametrize("name", COUNTS)
def test_published_graph_has_its_counts(raw, name):
    graph = published(raw, name)
    nodes, edges, features, classes, parts, share = COUNTS[name]
    assert (graph.num_nodes, graph.num_edges) == (nodes, edges)
    assert (graph.num_features, graph.targets.num_classes, graph.targets.num_splits) == (features, classes, 10)
    assert len(np.unique(graph.targets.labels)) == classes
    assert not graph.directed
    smaller = {4, 5} if name == "citeseer" else set()  # published so
    for index, codes in enumerate(graph.targets.splits):
        assert sizes(codes) == ((1017, 679, 424) if index in smaller else parts)
    assert round(homophily(graph), 4) == share


@pytest.mark.parametrize(("name", "published_edges", "loops"), [("chameleon", 36101, 50), ("squirrel", 217073, 140)])
def test_links_between_pages_may_keep_their_direction(raw, name, published_edges, loops):
    graph, undirected = load(raw, kind="wikipedia", name=name, directed=True), published(raw, name)
    assert graph.directed
    assert graph.num_edges == published_edges - loops
    symmetrised = graph.adjacency.maximum(graph.adjacency.T)
    assert (symmetrised != undirected.adjacency).nnz == 0
    assert (graph.features != undirected.features).nnz == 0
    np.testing.assert_array_equal(graph.targets.splits, undirected.targets.splits)
    np.testing.assert_array_equal(graph.targets.labels, undirected.targets.labels)


# nodes, undirected edges, directed edges without the 50 and 140 self-loops, features
FILTERED = {
    "chameleon_filtered": (890, 8854, 13584 - 50, 2325),
    "squirrel_filtered": (2223, 46998, 65718 - 140, 2089),
}


@pytest.mark.parametrize("name", FILTERED)
def test_filtered_graph_has_its_counts(raw, name):
    if not (raw.mirror.resolve().parent / "extra" / f"{name}.npz").is_file():
        pytest.skip(f"no {name}.npz in the folder extra beside the raw mirror")
    nodes, undirected, directed, features = FILTERED[name]
    graphs = [load(raw, kind="filtered_wikipedia", name=name, directed=kept) for kept in (False, True)]
    for graph, edges in zip(graphs, (undirected, directed), strict=True):
        assert (graph.num_nodes, graph.num_edges, graph.num_features) == (nodes, edges, features)
        assert (graph.targets.num_classes, graph.targets.num_splits) == (5, 10)
        assert len(np.unique(graph.targets.labels)) == 5
        for codes in graph.targets.splits:
            assert sum(sizes(codes)) == nodes
    assert [graph.directed for graph in graphs] == [False, True]
    plain, oriented = (graph.adjacency for graph in graphs)
    assert (oriented.maximum(oriented.T) != plain).nnz == 0
    np.testing.assert_array_equal(*(graph.targets.splits for graph in graphs))


@pytest.mark.parametrize("name", ["chameleon", "squirrel"])
def test_filtered_graph_has_few_of_the_twins_that_the_published_one_has(raw, name):
    if not (raw.mirror.resolve().parent / "extra" / f"{name}_filtered_directed.npz").is_file():
        pytest.skip("no folder extra beside the raw mirror")
    whole = load(raw, kind="wikipedia", name=name, directed=True)
    filtered = load(raw, kind="filtered_wikipedia", name=f"{name}_filtered", directed=True)
    share = [(twin_groups(graph) != ALONE).mean() for graph in (whole, filtered)]
    assert share[0] > 0.4
    assert share[1] < share[0] / 5


def test_filtered_graph_that_is_tampered_with_is_refused(tmp_path):
    (tmp_path / "extra").mkdir()
    (tmp_path / "pyg_raw").mkdir()
    write_archive(tmp_path / "extra" / "chameleon_filtered.npz")
    with pytest.raises(UserError, match=r"chameleon_filtered\.npz"):
        load(RawFiles(tmp_path / "01_raw", tmp_path / "pyg_raw"), kind="filtered_wikipedia", name="chameleon_filtered")


@pytest.mark.parametrize("name", COUNTS)
def test_archive_of_plain_arrays_holds_the_same_graph(raw, name):
    if not (raw.mirror.resolve().parent / f"{name}.npz").is_file():
        pytest.skip(f"no {name}.npz beside the raw mirror")
    graph, archived = published(raw, name), load(raw, kind="npz_archive", file=f"{name}.npz")
    assert (graph.adjacency != archived.adjacency).nnz == 0
    np.testing.assert_array_equal(graph.targets.labels, archived.targets.labels)
    np.testing.assert_array_equal(graph.targets.splits, archived.targets.splits)
    dense = [g.features if isinstance(g.features, np.ndarray) else g.features.toarray() for g in (graph, archived)]
    np.testing.assert_array_equal(*dense)


def test_reading_leaves_only_the_raw_files_behind(raw):
    published(raw, "cora")
    left = [path.name for path in (raw.folder / "cora").rglob("*") if path.is_file()]
    assert len(left) == 18
    assert all(name.startswith(("ind.cora.", "cora_split_")) for name in left)


def test_tampered_pickle_is_refused_before_it_is_opened(mirror, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    shutil.copytree(mirror / "cora", tmp_path / "mirror" / "cora")
    pickled = tmp_path / "mirror" / "cora" / "geom-gcn" / "raw" / "ind.cora.graph"
    pickled.chmod(0o644)
    pickled.write_bytes(b"cos\nsystem\n(S'touch opened'\ntR.")
    raw = RawFiles(tmp_path / "01_raw", tmp_path / "mirror")
    with pytest.raises(UserError, match=r"ind\.cora\.graph"):
        published(raw, "cora")
    assert not (tmp_path / "opened").exists()
    assert not list((tmp_path / "01_raw").rglob("*ind.cora.graph*"))


@pytest.mark.parametrize(
    ("labels", "directed", "expected"),
    [
        ("subject", False, (1157799, 40, (90941, 29799, 48603), 0.6542)),
        ("year", True, (1166243, 5, (84671, 42335, 42337), 0.2182)),
    ],
)
def test_arxiv_archive_has_its_counts(raw, labels, directed, expected):
    if not (raw.mirror.resolve().parent / "ogbn_arxiv_no_features.npz").is_file():
        pytest.skip("no ogbn_arxiv_no_features.npz beside the raw mirror")
    graph = load(raw, kind="npz_archive", labels=labels, directed=directed)
    edges, classes, parts, share = expected
    assert (graph.num_nodes, graph.num_edges, graph.num_features) == (169343, edges, 0)
    assert graph.targets.num_classes == classes
    assert {sizes(codes) for codes in graph.targets.splits} == {parts}
    assert round(homophily(graph), 4) == share


def test_archive_without_labels_by_year_says_so(tmp_path):
    write_archive(tmp_path / "tiny.npz")
    with pytest.raises(UserError, match=r"tiny\.npz has no array 'year_labels'"):
        load(RawFiles(tmp_path), kind="npz_archive", path=str(tmp_path / "tiny.npz"), labels="year")


def test_archive_with_undirected_edges_cannot_be_directed(tmp_path):
    write_archive(tmp_path / "tiny.npz")
    with pytest.raises(UserError, match="undirected edges"):
        load(RawFiles(tmp_path), kind="npz_archive", path=str(tmp_path / "tiny.npz"), directed=True)


def test_archive_with_a_pickled_array_is_refused(tmp_path):
    write_archive(tmp_path / "tiny.npz", node_labels=np.array([0, 1, None]))
    with pytest.raises(UserError, match="plain arrays"):
        load(RawFiles(tmp_path), kind="npz_archive", path=str(tmp_path / "tiny.npz"))


def test_archive_that_is_nowhere_is_one_line(tmp_path):
    with pytest.raises(UserError, match=r"ogbn_arxiv_no_features\.npz is missing.*raw_mirror"):
        load(RawFiles(tmp_path), kind="npz_archive")


@pytest.mark.parametrize(("kind", "nodes"), [("minesweeper_generated", 10000), ("csbm", 1000)])
def test_generated_graphs_need_no_file(tmp_path, kind, nodes):
    graph = load(RawFiles(tmp_path / "nothing"), kind=kind)
    assert (graph.name, graph.num_nodes, graph.targets.num_splits) == ("graph", nodes, 10)
    assert not (tmp_path / "nothing").exists()


def write_archive(path, **replaced):
    masks = dict(zip(("train_masks", "val_masks", "test_masks"), np.eye(3, dtype=bool)[:, None, :], strict=True))
    arrays = {"edges": np.array([[0, 1], [1, 2]]), "edges_directed": np.array(False), "node_labels": np.arange(3)}
    np.savez(path, **(arrays | masks | replaced))
