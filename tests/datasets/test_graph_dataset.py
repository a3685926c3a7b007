"""Graphs, targets and operators come back from disk as they were saved, without pickle."""

import dataclasses
import itertools
import json

import numpy as np
import pytest
import scipy.sparse as sp
from kedro.io import DatasetError

from figure_kedro.datasets.files.array_folder import write_description
from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset, TargetsDataset
from figure_kedro.datasets.source_dataset import SourceDataset
from figure_kedro.errors import UserError
from figure_kedro.estimator import FiGURe
from figure_kedro.features import STRUCTURAL, structural_features
from figure_kedro.filters import BANKS, Operator, normalised_adjacency
from figure_kedro.graph import graph_from_edges
from figure_kedro.methods.kinds.figure import FigureSettings

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


def came_back(dataset, data):
    dataset.save(data)
    return dataset.load()


COMBINATIONS = [
    choice
    for choice in itertools.product(IDS, (False, True), (False, True), FEATURES, LABELS, SPLITS)
    if choice[4:] != ("unlabelled", "split")
]


@pytest.mark.parametrize(("ids", "weighted", "directed", "features", "labels", "splits"), COMBINATIONS)
def test_graph_comes_back_as_it_was_saved(tmp_path, ids, weighted, directed, features, labels, splits):
    graph = make_graph(ids, weighted, directed, features, labels, splits)
    loaded = came_back(GraphDataset(filepath=str(tmp_path / "graph")), graph)
    assert (loaded.checksum, loaded.structure_checksum) == (graph.checksum, graph.structure_checksum)
    assert (loaded.name, loaded.directed) == (graph.name, graph.directed)
    assert (loaded.weighted, loaded.generated) == (weighted, {"seed": 1})
    assert loaded.ids.tolist() == IDS[ids].tolist()
    assert (loaded.adjacency != graph.adjacency).nnz == 0
    targets = came_back(TargetsDataset(filepath=str(tmp_path / "targets")), graph.targets)
    assert targets.checksum == graph.targets.checksum
    assert (targets.classes, targets.metric) == (graph.targets.classes, graph.targets.metric)
    pairs = [(graph.features, loaded.features)]
    pairs += [(getattr(graph.targets, name), getattr(targets, name)) for name in ("labels", "splits")]
    for ours, theirs in pairs:
        assert type(theirs) is type(None) if ours is None else sp.issparse(theirs) == sp.issparse(ours)
        if ours is not None:
            assert theirs.dtype == ours.dtype
            np.testing.assert_array_equal(*(a.toarray() if sp.issparse(a) else a for a in (ours, theirs)))


def test_twins_come_back_with_the_targets(tmp_path):
    targets = make_graph(labels="labelled").targets
    twins = np.arange(len(targets.labels)) // 2 - 1
    loaded = came_back(TargetsDataset(filepath=str(tmp_path / "some")), dataclasses.replace(targets, twins=twins))
    np.testing.assert_array_equal(loaded.twins, twins)
    assert came_back(TargetsDataset(filepath=str(tmp_path / "none")), targets).twins is None


def test_a_stored_checksum_is_the_one_that_would_be_computed(tmp_path):
    loaded = came_back(GraphDataset(filepath=str(tmp_path / "graph")), make_graph(directed=True, features="sparse"))
    told = (loaded.structure_checksum, loaded.checksum)
    del vars(loaded)["structure_checksum"], vars(loaded)["checksum"]
    assert (loaded.structure_checksum, loaded.checksum) == told


def test_a_stored_graph_knows_nothing_of_its_targets(tmp_path):
    loaded = came_back(GraphDataset(filepath=str(tmp_path / "graph")), make_graph(labels="labelled"))
    assert (loaded.targets.labels, loaded.targets.splits, loaded.targets.classes) == (None, None, ())
    assert not {"labels", "splits"} & {path.stem for path in (tmp_path / "graph").iterdir()}


def test_a_graph_is_read_once_until_it_is_released(tmp_path):
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    first = came_back(dataset, make_graph())
    assert dataset.load() is first
    dataset.release()
    assert dataset.load() is not first


def test_files_hold_plain_arrays_and_text(tmp_path):
    graph = make_graph(features="sparse")
    GraphDataset(filepath=str(tmp_path / "graph")).save(graph)
    TargetsDataset(filepath=str(tmp_path / "targets")).save(graph.targets)
    for path in (tmp_path / "targets").glob("*.npy"):
        assert not np.load(path, allow_pickle=False).dtype.hasobject
    for path in (tmp_path / "graph").iterdir():
        if path.name == "description.json":
            assert json.loads(path.read_text())["num_features"] == 4
        else:
            assert path.suffix == ".npy"
            assert not np.load(path, allow_pickle=False).dtype.hasobject


def test_description_records_the_checksum(tmp_path):
    graph = make_graph()
    GraphDataset(filepath=str(tmp_path / "graph")).save(graph)
    assert json.loads((tmp_path / "graph" / "description.json").read_text())["checksum"] == graph.checksum


@pytest.mark.parametrize("features", FEATURES)
def test_graph_mapped_from_disk_can_be_computed_with(tmp_path, features):
    graph = make_graph(features=features, directed=True)
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(graph)
    settings = STRUCTURAL.parse({"structural": "degrees"})
    computed = [structural_features(g, settings).checksum for g in (graph, dataset.load())]
    assert computed[0] == computed[1]
    operators = [normalised_adjacency(g.adjacency, self_loops=True) for g in (graph, dataset.load())]
    assert (operators[0] != operators[1]).nnz == 0


def test_graph_can_be_saved_over_the_one_it_was_loaded_from(tmp_path):
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(make_graph())
    dataset.save(dataset.load())
    assert dataset.load().checksum == make_graph().checksum


def test_nothing_of_an_older_graph_remains(tmp_path):
    dataset, targets = GraphDataset(filepath=str(tmp_path / "graph")), TargetsDataset(filepath=str(tmp_path / "t"))
    bare = make_graph(features="featureless", labels="unlabelled", splits="unsplit")
    for graph in (make_graph(features="sparse"), bare):
        dataset.save(graph)
        targets.save(graph.targets)
    assert dataset.load().features is None
    assert (targets.load().labels, targets.load().splits) == (None, None)


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
    assert dataset.load().checksum == make_graph().checksum


def operator(matrix):
    return Operator(matrix, BANKS.parse({"bank": "chebyshev", "size": 7, "self_loops": False}), symmetric=False)


def test_dataset_exists_once_it_is_saved(tmp_path):
    for dataset, data in (
        (GraphDataset(filepath=str(tmp_path / "a" / "graph")), make_graph()),
        (TargetsDataset(filepath=str(tmp_path / "b" / "targets")), make_graph().targets),
        (OperatorDataset(filepath=str(tmp_path / "c" / "operator")), operator(sp.csr_array((2, 2)))),
    ):
        assert not dataset.exists()
        dataset.save(data)
        assert dataset.exists()


@pytest.mark.parametrize("version", [1, 99])
def test_folder_of_another_format_is_refused_in_one_line(tmp_path, version):
    for dataset, data in (
        (GraphDataset(filepath=str(tmp_path / "graph")), make_graph()),
        (TargetsDataset(filepath=str(tmp_path / "targets")), make_graph().targets),
        (OperatorDataset(filepath=str(tmp_path / "operator")), operator(sp.csr_array((2, 2)))),
    ):
        dataset.save(data)
        path = dataset._filepath / "description.json"
        path.write_text(json.dumps(json.loads(path.read_text()) | {"format": version}))
        with pytest.raises(UserError, match=f"has format {version}, and this program reads") as error:
            dataset.read()
        assert "\n" not in str(error.value)


@pytest.mark.parametrize("shape", [(3, 3), (2, 5), (4, 1)])
@pytest.mark.parametrize("density", [0.0, 0.4])
def test_matrix_comes_back_as_it_was_saved(tmp_path, shape, density):
    matrix = sp.csr_array(sp.random_array(shape, density=density, rng=np.random.default_rng(0), dtype=np.float32))
    loaded = came_back(OperatorDataset(filepath=str(tmp_path / "matrix")), operator(matrix)).matrix
    assert (loaded.shape, loaded.dtype) == (shape, np.float32)
    np.testing.assert_array_equal(loaded.toarray(), matrix.toarray())
    np.testing.assert_array_equal(loaded @ np.ones(shape[1]), matrix @ np.ones(shape[1]))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("bank", BANKS.names())
def test_operator_comes_back_with_its_filters(tmp_path, bank, directed):
    filters = BANKS.parse({"bank": bank, "size": 3, "self_loops": False})
    saved = Operator.of(make_graph(directed=directed), filters)
    loaded = came_back(OperatorDataset(filepath=str(tmp_path / "operator")), saved)
    assert loaded.filters == filters
    assert loaded.symmetric is not directed
    assert (loaded.bank.names, type(loaded.bank)) == (saved.bank.names, type(saved.bank))
    np.testing.assert_array_equal(loaded.matrix.toarray(), saved.matrix.toarray())


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


def test_names_of_features_are_kept_and_are_no_part_of_the_checksum(tmp_path):
    graph = make_graph().without_targets()
    named = dataclasses.replace(graph, feature_names=("colour", "size"))
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(named)
    assert dataset.load().feature_names == ("colour", "size")
    assert dataset.load().checksum == graph.checksum
    description = json.loads((tmp_path / "graph" / "description.json").read_text())
    own = ("format", "files", "digest", "feature_names")  # without the last one, as older versions wrote it
    kept = {name: value for name, value in description.items() if name not in own}
    write_description(tmp_path / "graph", kept, description["files"])
    assert GraphDataset(filepath=str(tmp_path / "graph")).load().feature_names is None


def test_features_that_differ_by_rounding_do_not_replace_those_that_an_earlier_run_left(tmp_path):
    """As those made from edges do on another number of cores: what was learnt from the first ones is taken up again."""
    rng = np.random.default_rng(0)
    graph = structural_features(graph_from_edges(*rng.integers(60, size=(2, 200)), num_nodes=60, name="mine"))
    rounded = dataclasses.replace(graph, features=graph.features * np.float32(1 + 1e-6))
    assert rounded.checksum != graph.checksum
    dataset, store = GraphDataset(filepath=str(tmp_path / "graph")), CheckpointFile(tmp_path / "checkpoint")
    seconds = []
    for prepared in (graph, rounded):
        dataset.save(prepared)
        assert dataset.load().checksum == graph.checksum
        settings = FigureSettings(dim=4, training={"max_epochs": 3, "threads": 1})
        seconds.append(FiGURe(settings=settings, progress=False).fit(dataset.load(), checkpoints=store).record_.seconds)
    assert seconds[0] == seconds[1], "not an epoch was trained again"


def test_other_features_replace_those_that_were_there(tmp_path):
    graph = graph_from_edges([0, 1], [1, 2], num_nodes=3, features=np.eye(3, dtype=np.float32), name="mine")
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    for factor in (1.0, 1.01, 2.0):
        dataset.save(dataclasses.replace(graph, features=factor * graph.features))
        assert dataset.load().features[0, 0] == np.float32(factor)
