"""Embeddings on disk, mapped for programs and as tables for people; or computed when they are asked for."""

import json

import numpy as np
import pandas as pd
import pytest

from figure_kedro.datasets import embeddings_dataset
from figure_kedro.datasets.embeddings_dataset import EmbeddingsDataset
from figure_kedro.datasets.files.unfinished import remove_abandoned
from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset
from figure_kedro.datasets.representation_dataset import RepresentationDataset
from figure_kedro.embeddings import Embeddings
from figure_kedro.estimator import Representation
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import graph_from_edges
from figure_kedro.methods.method import METHODS

NODES, WIDTH = 11, 3
IDS = {
    "text": np.array([f"node {10 - i}" for i in range(NODES)], dtype=object),
    "fixed-text": np.array([f"n{10 - i}" for i in range(NODES)]),
    "numbers": np.array([2**40, *range(NODES - 2, -1, -1)]),
}
FILTERS = BANKS.parse({"bank": "bernstein", "size": 12})  # B_10 stands before B_2 in an alphabetical order
NAMES = BANKS.build(FILTERS).names


def make_graph(ids="text"):
    rng = np.random.default_rng(0)
    source, target = rng.integers(0, NODES, size=(2, 20))
    features = rng.standard_normal((NODES, 4), dtype=np.float32)
    return graph_from_edges(source, target, name="small", ids=IDS[ids], features=features)


class Counted:
    """Embeddings that count how often each view is computed; all their entries differ."""

    def __init__(self, ids=IDS["text"], names=NAMES, offset=0.0):
        self.computed = dict.fromkeys(names, 0)
        self.views = {
            name: (offset + 100 * i + np.arange(len(ids) * WIDTH).reshape(-1, WIDTH)).astype(np.float32)
            for i, name in enumerate(names)
        }
        self.embeddings = Embeddings(tuple(names), ids, WIDTH, compute=self.compute, graph=make_graph)

    def compute(self):
        for name, view in self.views.items():
            self.computed[name] += 1
            yield view


@pytest.fixture
def make(tmp_path):
    def make(keep="auto"):
        places = {name: str(tmp_path / name) for name in ("graph", "operator", "encoder")}
        return EmbeddingsDataset(filepath=str(tmp_path / "out" / "embeddings"), keep=keep, **places)

    return make


@pytest.fixture
def trained(tmp_path):
    """A graph, its operator and a fitted method where the dataset looks for them."""
    graph = make_graph()
    operator = Operator.of(graph, FILTERS)
    encoder = Representation(filters=FILTERS, settings=METHODS.parse({"method": "untrained", "dim": WIDTH}))
    encoder.fit(graph, operator=operator)
    GraphDataset(filepath=str(tmp_path / "graph")).save(graph)
    OperatorDataset(filepath=str(tmp_path / "operator")).save(operator)
    RepresentationDataset(filepath=str(tmp_path / "encoder")).save(encoder)
    return encoder, graph


def files_in(folder):
    return [path for path in folder.rglob("*") if path.is_file()]


@pytest.mark.parametrize("ids", IDS)
def test_views_come_back_in_the_banks_order_and_mapped_from_disk(make, ids):
    counted = Counted(IDS[ids])
    make().save(counted.embeddings)
    loaded = make().load()
    assert tuple(loaded) == loaded.names == NAMES
    assert (loaded.width, len(loaded)) == (WIDTH, 12)
    assert loaded.ids.tolist() == IDS[ids].tolist()
    for name, view in counted.views.items():
        assert isinstance(loaded[name], np.memmap)
        assert loaded[name].dtype == np.float32
        np.testing.assert_array_equal(loaded[name], view)


def test_embeddings_that_were_just_saved_are_mapped_from_disk_too(make):
    dataset, counted = make(), Counted()
    dataset.save(counted.embeddings)
    loaded = dataset.load()
    assert all(isinstance(loaded[name], np.memmap) for name in NAMES)
    assert set(counted.computed.values()) == {1}
    assert dataset.load() is loaded


@pytest.mark.parametrize("rows", [1, 4, NODES, 1000])
@pytest.mark.parametrize("ids", IDS)
def test_embeddings_are_one_table_a_filter_under_the_users_ids(make, tmp_path, monkeypatch, ids, rows):
    monkeypatch.setattr(embeddings_dataset, "TABLE_ROWS", rows)
    counted = Counted(IDS[ids])
    make().save(counted.embeddings)
    folder = tmp_path / "out" / "embeddings"
    assert {path.stem for path in folder.glob("*.parquet")} == set(NAMES)
    for name, view in counted.views.items():
        table = pd.read_parquet(folder / f"{name}.parquet")
        assert list(table) == ["id", *(f"e{i}" for i in range(WIDTH))]
        assert table["id"].tolist() == IDS[ids].tolist()
        assert pd.api.types.is_integer_dtype(table["id"]) == (ids == "numbers")
        np.testing.assert_array_equal(table[["e0", "e1", "e2"]].to_numpy(np.float32), view)


@pytest.mark.parametrize("ids", IDS)
def test_ids_that_are_mapped_from_disk_stand_in_the_tables(make, tmp_path, ids):
    dataset = GraphDataset(filepath=str(tmp_path / "graph"))
    dataset.save(make_graph(ids))
    make().save(Counted(dataset.load().ids).embeddings)
    table = pd.read_parquet(tmp_path / "out" / "embeddings" / f"{NAMES[0]}.parquet")
    assert table["id"].tolist() == IDS[ids].tolist()


def test_files_hold_plain_arrays(make, tmp_path):
    make().save(Counted().embeddings)
    for path in (tmp_path / "out" / "embeddings").glob("*.npy"):
        assert not np.load(path, allow_pickle=False).dtype.hasobject


def test_nothing_of_an_earlier_run_with_more_filters_remains(make, tmp_path):
    dataset = make()
    dataset.save(Counted().embeddings)
    dataset.save(Counted(names=NAMES[:2], offset=0.5).embeddings)
    assert {path.stem for path in (tmp_path / "out" / "embeddings").glob("*.parquet")} == set(NAMES[:2])
    assert tuple(dataset.load()) == NAMES[:2]
    assert dataset.load()[NAMES[1]][0, 0] == 100.5


def test_failing_save_leaves_the_older_embeddings_whole(make, tmp_path):
    def fail():
        yield np.zeros((NODES, WIDTH), dtype=np.float32)
        raise RuntimeError("out of luck")

    make().save(Counted().embeddings)
    broken = Embeddings(NAMES, IDS["text"], WIDTH, compute=fail, graph=make_graph)
    with pytest.raises(Exception, match="out of luck"):
        make().save(broken)
    assert [path.name for path in (tmp_path / "out").iterdir()] == ["embeddings"]
    assert make().load()[NAMES[-1]][0, 0] == 1100


def test_embeddings_that_are_not_kept_are_computed_once_and_leave_no_file(make, tmp_path):
    dataset, counted = make("never"), Counted()
    dataset.save(counted.embeddings)
    assert files_in(tmp_path) == []  # nothing is computed before it is asked for
    assert set(counted.computed.values()) == {0}
    for _ in range(2):
        loaded = dataset.load()
        for name, view in counted.views.items():
            assert isinstance(loaded[name], np.memmap)
            np.testing.assert_array_equal(loaded[name], view)
    assert set(counted.computed.values()) == {1}
    dataset.release()
    assert files_in(tmp_path) == []


def test_embeddings_that_are_not_kept_take_the_place_of_earlier_ones(make, tmp_path):
    make().save(Counted().embeddings)
    dataset = make("never")
    dataset.save(Counted(offset=0.5).embeddings)
    assert files_in(tmp_path) == []
    assert dataset.load()[NAMES[0]][0, 0] == 0.5


@pytest.mark.parametrize("first", [NAMES, NAMES[:1]])
def test_embeddings_that_are_not_kept_can_be_saved_twice_in_a_run(make, first):
    dataset = make("never")
    dataset.save(Counted(ids=IDS["text"][:5], names=first).embeddings)
    assert dataset.load()[NAMES[0]].shape == (5, WIDTH)
    dataset.save(Counted(offset=0.5).embeddings)
    assert dataset.load()[NAMES[0]].shape == (NODES, WIDTH)
    assert dataset.load()[NAMES[0]][0, 0] == 0.5


@pytest.mark.parametrize(("keep", "kept"), [("auto", False), ("always", True), ("never", False)])
def test_many_numbers_are_kept_only_if_that_is_asked_for(make, tmp_path, monkeypatch, keep, kept):
    monkeypatch.setattr(embeddings_dataset, "STORED_NUMBERS", NODES * WIDTH * len(NAMES) - 1)
    make(keep).save(Counted().embeddings)
    assert (tmp_path / "out" / "embeddings").exists() == kept


def test_as_many_numbers_as_are_allowed_are_kept(make, tmp_path, monkeypatch):
    monkeypatch.setattr(embeddings_dataset, "STORED_NUMBERS", NODES * WIDTH * len(NAMES))
    make().save(Counted().embeddings)
    assert (tmp_path / "out" / "embeddings").exists()


@pytest.mark.parametrize("keep", ["auto", "never"])
def test_embeddings_without_files_are_computed_from_graph_operator_and_encoder(make, trained, tmp_path, keep):
    encoder, graph = trained
    before = set(files_in(tmp_path))
    dataset = make(keep)
    assert dataset.exists()
    loaded = dataset.load()
    assert tuple(loaded) == NAMES
    assert loaded.ids.tolist() == graph.ids.tolist()
    assert set(files_in(tmp_path)) == before
    for name, view in encoder.transform(graph).items():
        assert isinstance(loaded[name], np.memmap)
        np.testing.assert_allclose(loaded[name], view, rtol=1e-6, atol=1e-7)
    assert loaded.graph().checksum == graph.checksum
    dataset.release()
    assert set(files_in(tmp_path)) == before


def test_stored_embeddings_give_the_graph_that_was_embedded(make, trained):
    encoder, graph = trained
    make().save(encoder.embed(graph))
    assert make().load().graph().checksum == graph.checksum


def test_embeddings_that_must_be_kept_are_there_only_with_their_files(make, trained):
    encoder, graph = trained
    dataset = make("always")
    assert not dataset.exists()
    dataset.save(encoder.embed(graph))
    assert dataset.exists()


def test_without_files_and_without_a_model_there_are_no_embeddings(make):
    assert not make("never").exists()
    assert not make().exists()


def test_two_runs_do_not_share_the_files_of_embeddings_that_are_not_kept(make, tmp_path):
    first, second = make("never"), make("never")
    for dataset in (first, second):
        dataset.save(Counted().embeddings)
        dataset.load()[NAMES[0]]
    folders = list((tmp_path / "out").iterdir())
    assert len(folders) == 2
    assert remove_abandoned(tmp_path / "out", owned=True) == [], "both are in use"
    first.release()
    assert [folder.exists() for folder in folders].count(True) == 1


def test_a_preview_has_the_first_nodes_under_every_view_and_computes_nothing(make):
    dataset, counted = make("always"), Counted()
    dataset.save(counted.embeddings)
    before = dict(counted.computed)
    preview = dataset.preview(nrows=2, columns=2)
    assert preview["columns"] == ["view", "id", "e0", "e1"]
    assert len(preview["data"]) == len(preview["index"]) == 2 * len(NAMES)
    assert preview["data"][2] == [NAMES[1], IDS["text"][0], 100.0, 101.0]
    assert counted.computed == before
    json.dumps(preview)


def test_embeddings_that_are_not_kept_have_a_preview_that_says_so(make):
    dataset = make("never")
    dataset.save(Counted().embeddings)
    assert "not kept" in dataset.preview()["data"][0][0]
