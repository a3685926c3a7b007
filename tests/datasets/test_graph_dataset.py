"""Graphs and matrices come back from disk as they were saved, without pickle."""

import itertools
import json

import numpy as np
import pytest
import scipy.sparse as sp
from kedro.io import DatasetError

from figure_kedro.datasets.graph_dataset import GraphDataset, SparseMatrixDataset
from figure_kedro.datasets.source_dataset import SourceDataset
from figure_kedro.errors import UserError
from figure_kedro.filters import normalised_adjacency
from figure_kedro.filters.structural import FeatureSettings, with_structural_features
from figure_kedro.graph import graph_from_edges

IDS = {
    "text": np.array(["z", "a", "", "ä", "10", "b"], dtype=object),
    "fixed-text": np.array(["z", "a", "c", "ä", "10", "b"]),
    "numbers": np.array([7, -3, 100, 0, 5, 2**40]),
}
FEATURES = {
    "dense": np.arange(12, dtype=np.float32).reshape(6, 2),
    "sparse": sp.csr_array(np.eye(6, 4, dtype=np.float32)),
    "featureless": None,
}
LABELS = {"labelled": [0, 1, 2, 0, 1, 2], "partly": [0, 1, 2, 0, 1, -1], "unlabelled": None}
SPLITS = {"split": np.array([[1, 1, 2, 3, 3, 0], [3, 2, 1, 1, 2, 0]], dtype=np.int8), "unsplit": None}


def make_graph(ids="text", weighted=False, directed=False, features="dense", labels="partly", splits="split"):
    return graph_from_edges(
        np.array([0, 1, 2, 4]),
        np.array([1, 2, 0, 0]),
        name="small",
        ids=IDS[ids],
        weights=np.array([0.5, 2, 3, 1]) if weighted else None,
        directed=directed,
        features=FEATURES[features],
        labels=LABELS[labels],
        splits=SPLITS[splits],
        generated={"seed": 1},
    )


COMBINATIONS = [
    choice
    for choice in itertools.product(IDS, (False, True), (False, True), FEATURES, LABELS, SPLITS)
    if choice[4:] != ("unlabelled", "split")
]


@pytest.mark.parametrize(("ids", "weighted", "directed", "features", "labels", "splits"), COMBINATIONS)
def test_graph_comes_back_as_it_was_saved(tmp_path, ids, weighted, directed, features, labels, splits):
    graph = make_graph(ids, weighted, directed, features, labels, splits)
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(graph)
    loaded = dataset.load()
    assert loaded.checksum() == graph.checksum()
    assert (loaded.name, loaded.directed, loaded.classes) == (graph.name, graph.directed, graph.classes)
    assert (loaded.weighted, loaded.generated) == (weighted, {"seed": 1})
    assert loaded.ids.tolist() == IDS[ids].tolist()
    assert (loaded.adjacency != graph.adjacency).nnz == 0
    for name in ("features", "labels", "splits"):
        ours, theirs = getattr(graph, name), getattr(loaded, name)
        assert type(theirs) is type(None) if ours is None else sp.issparse(theirs) == sp.issparse(ours)
        if ours is not None:
            assert theirs.dtype == ours.dtype
            np.testing.assert_array_equal(*(a.toarray() if sp.issparse(a) else a for a in (ours, theirs)))


def test_files_hold_plain_arrays_and_text(tmp_path):
    GraphDataset(filepath=str(tmp_path / "graph")).save(make_graph(features="sparse"))
    for path in (tmp_path / "graph").iterdir():
        if path.name == "description.json":
            assert json.loads(path.read_text())["num_features"] == 4
        else:
            assert path.suffix == ".npy"
            assert not np.load(path, allow_pickle=False).dtype.hasobject


def test_description_records_the_checksum(tmp_path):
    graph = make_graph()
    GraphDataset(filepath=str(tmp_path / "graph")).save(graph)
    assert json.loads((tmp_path / "graph" / "description.json").read_text())["checksum"] == graph.checksum()


@pytest.mark.parametrize("features", FEATURES)
def test_graph_mapped_from_disk_can_be_computed_with(tmp_path, features):
    graph = make_graph(features=features, directed=True)
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(graph)
    settings = FeatureSettings(structural="degrees")
    computed = [with_structural_features(g, settings).checksum() for g in (graph, dataset.load())]
    assert computed[0] == computed[1]
    operators = [normalised_adjacency(g.adjacency, self_loops=True) for g in (graph, dataset.load())]
    assert (operators[0] != operators[1]).nnz == 0


def test_graph_can_be_saved_over_the_one_it_was_loaded_from(tmp_path):
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(make_graph())
    dataset.save(dataset.load())
    assert dataset.load().checksum() == make_graph().checksum()


def test_nothing_of_an_older_graph_remains(tmp_path):
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(make_graph(features="sparse"))
    dataset.save(make_graph(features="featureless", labels="unlabelled", splits="unsplit"))
    loaded = dataset.load()
    assert (loaded.features, loaded.labels, loaded.splits) == (None, None, None)


@pytest.fixture
def full_disk(monkeypatch):
    """The third file of a folder cannot be written."""
    write, written = np.save, []

    def save(path, array, **options):
        written.append(path)
        if len(written) == 3:
            raise OSError("no space left on device")
        write(path, array, **options)

    def fill():
        monkeypatch.setattr(np, "save", save)

    return fill


def test_failing_save_leaves_nothing(tmp_path, full_disk):
    full_disk()
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    with pytest.raises(DatasetError, match="no space"):
        dataset.save(make_graph())
    assert list(tmp_path.iterdir()) == []
    assert not dataset.exists()


def test_failing_save_leaves_the_older_graph_whole(tmp_path, full_disk):
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(make_graph())
    full_disk()
    with pytest.raises(DatasetError, match="no space"):
        dataset.save(make_graph(directed=True))
    assert [path.name for path in tmp_path.iterdir()] == ["graph"]
    assert dataset.load().checksum() == make_graph().checksum()


def test_dataset_exists_once_it_is_saved(tmp_path):
    for dataset, data in (
        (GraphDataset(filepath=str(tmp_path / "a" / "graph")), make_graph()),
        (SparseMatrixDataset(filepath=str(tmp_path / "b" / "matrix")), sp.csr_array((2, 2))),
    ):
        assert not dataset.exists()
        dataset.save(data)
        assert dataset.exists()


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (4, 1)])
@pytest.mark.parametrize("density", [0.0, 0.4])
def test_matrix_comes_back_as_it_was_saved(tmp_path, shape, density):
    matrix = sp.csr_array(sp.random_array(shape, density=density, rng=np.random.default_rng(0), dtype=np.float32))
    dataset = SparseMatrixDataset(filepath=str(tmp_path / "matrix"))
    dataset.save(matrix)
    loaded = dataset.load()
    assert (loaded.shape, loaded.dtype) == (shape, np.float32)
    np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())
    np.testing.assert_array_equal(loaded @ np.ones(shape[1]), matrix @ np.ones(shape[1]))


def test_source_gives_its_graph_and_cannot_be_written(tmp_path):
    settings = {"kind": "csbm", "nodes": 30, "degree": 4}
    dataset = SourceDataset(name="drawn", source=settings, filepath=str(tmp_path / "01_raw"))
    graph = dataset.load()
    assert (graph.name, graph.num_nodes) == ("drawn", 30)
    with pytest.raises(DatasetError, match="only ever read"):
        dataset.save(graph)
    assert list(tmp_path.iterdir()) == []


def test_mistake_in_a_source_is_the_cause_of_the_error(tmp_path):
    settings = {"kind": "own", "edges": str(tmp_path / "nowhere.csv")}
    with pytest.raises(DatasetError) as error:
        SourceDataset(name="own", source=settings, filepath=str(tmp_path)).load()
    assert isinstance(error.value.__cause__, UserError)
