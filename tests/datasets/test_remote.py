"""A data folder on another storage: what one machine publishes another one finds, whole or not at all."""

import json
import sys
import uuid

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from kedro.io import DataCatalog
from kedro.pipeline import node

from examples import example_graph
from figure_kedro.datasets.files.data_folder import (
    check_storage,
    fetch,
    fetch_records,
    is_there,
    local_folder,
    publish,
    saved,
    shown,
)
from figure_kedro.datasets.files.remote import LISTINGS, Remote, key_of
from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.datasets.graph_dataset import GraphDataset
from figure_kedro.datasets.run_index import RunIndex
from figure_kedro.datasets.sealed import TextDataset
from figure_kedro.datasets.typed_json import MethodSettingsDataset
from figure_kedro.errors import UserError
from figure_kedro.estimator import FiGURe
from figure_kedro.methods.kinds.figure import FigureSettings
from figure_kedro.turns import Turns
from storage_server import new_bucket

KEY = "toy-k1"
WEIGHTS = "06_models/toy/k1/weights"


@pytest.fixture(params=["memory", "s3"])
def address(request):
    if request.param == "memory":
        return f"memory://{uuid.uuid4().hex}/project"
    request.getfixturevalue("s3_server")
    return f"{new_bucket()}/project"


@pytest.fixture
def machines(tmp_path, address):
    """Two machines that share a storage."""
    return Remote(address, tmp_path / "first"), Remote(address, tmp_path / "second")


@pytest.fixture
def folder_on(tmp_path, monkeypatch, address):
    """The mirror of the data folder on a machine of that name."""

    def folder(name):
        monkeypatch.setenv("FIGURE_REMOTE_CACHE", str(tmp_path / name))
        return local_folder(tmp_path, address)

    return folder


def write(machine, name, text):
    path = machine.folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def files_of(machine):
    found = sorted(path for path in machine.folder.rglob("*") if path.is_file() and LISTINGS not in path.parts)
    return {machine.name(path): path.read_text() for path in found}


def test_a_graph_that_one_machine_publishes_another_one_reads(folder_on):
    graph = example_graph().without_targets()
    place = "03_primary/toy/k1/graph"
    GraphDataset(filepath=str(folder_on("first") / place)).save(graph)
    publish(folder_on("first") / place)
    there = folder_on("second") / place
    assert not there.exists()
    assert is_there(there)
    fetch(there)
    found = GraphDataset(filepath=str(there)).load()
    assert found.checksum == graph.checksum
    assert np.array_equal(found.features, graph.features)


def test_a_dataset_that_no_run_asks_for_is_fetched_when_it_is_loaded(folder_on):
    for dataset, data in ((TextDataset, "a page"), (MethodSettingsDataset, FigureSettings(dim=7))):
        place = f"06_models/toy/k{len(str(data))}/file"
        dataset(filepath=str(folder_on("first") / place)).save(data)
        publish(folder_on("first") / place)
        assert dataset(filepath=str(folder_on("second") / place)).load() == data


def test_what_is_not_listed_is_not_there(machines):
    first, second = machines
    write(first, WEIGHTS, "whole")
    first._put(WEIGHTS)  # and then the machine dies
    second.fetch(KEY)
    assert files_of(second) == {}
    first.publish(KEY)
    second.fetch(KEY)
    assert files_of(second) == {WEIGHTS: "whole"}


def test_what_is_not_finished_and_links_are_not_published(machines):
    first, second = machines
    for name in (".part.abc123.part", ".propagated.0123456789ab.part/block.npy", ".graph-ab12cd34/ids.npy"):
        write(first, f"05_model_input/toy/k1/{name}", "half")
    write(first, "05_model_input/toy/k1/.digests/bank.json", "sealed")
    write(first, "runs/toy/figure-4-k1/manifest.json", "{}")
    (first.folder / "runs/toy/figure-4-k1/weights").symlink_to("../../../06_models/toy/k1/weights")
    first.publish(KEY)
    second.fetch(KEY)
    assert set(files_of(second)) == {"05_model_input/toy/k1/.digests/bank.json", "runs/toy/figure-4-k1/manifest.json"}


def test_a_file_that_is_newer_than_its_listing_is_taken(machines):
    first, second = machines
    write(first, WEIGHTS, "epoch 1")
    first.publish_file(KEY, WEIGHTS)
    write(first, WEIGHTS, "epoch 2")
    first._put(WEIGHTS)  # and then the machine dies before it lists it
    second.fetch(KEY)
    assert files_of(second) == {WEIGHTS: "epoch 2"}


def test_what_was_made_here_stays_until_somebody_publishes_something_newer(machines):
    first, second = machines
    write(first, WEIGHTS, "epoch 1")
    first.publish(KEY)
    second.fetch(KEY)
    write(second, WEIGHTS, "epoch 2, not published")
    second.fetch(KEY)
    assert files_of(second) == {WEIGHTS: "epoch 2, not published"}
    write(first, WEIGHTS, "epoch 3")
    first.publish(KEY)
    second.fetch(KEY)
    assert files_of(second) == {WEIGHTS: "epoch 3"}


def test_a_removed_file_is_removed_there_and_one_that_was_never_fetched_is_not(machines):
    first, second = machines
    for name in ("a", "b"):
        write(first, f"06_models/toy/k1/{name}", name)
    first.publish(KEY)
    second.fetch(KEY, lambda name: name.endswith("/a"))
    (second.folder / "06_models/toy/k1/a").unlink()
    write(second, "06_models/toy/k1/c", "c")
    second.publish(KEY)
    assert {name[-1] for name in second.listing(KEY)} == {"b", "c"}
    assert not second._files[0].exists(f"{second._files[1]}/06_models/toy/k1/a")


@pytest.mark.parametrize("name", ["../../../outside", "06_models/toy/k1/../../../outside", "06_models/toy/k2/weights"])
def test_a_listing_that_names_a_file_elsewhere_is_not_obeyed(machines, name):
    first, second = machines
    files, root = first._files
    files.pipe_file(f"{root}/{LISTINGS}/{KEY}.json", json.dumps({"format": 1, "files": {name: "0"}}).encode())
    second.fetch(KEY)
    assert files_of(second) == {}


def test_a_damaged_listing_counts_as_none(machines):
    first, second = machines
    files, root = first._files
    files.pipe_file(f"{root}/{LISTINGS}/{KEY}.json", b"[1,")
    second.fetch(KEY)
    write(first, WEIGHTS, "whole")
    first.publish(KEY)
    second.fetch(KEY)
    assert files_of(second) == {WEIGHTS: "whole"}


class Killed(CheckpointFile):
    """The machine dies after the third checkpoint."""

    saves = 0

    def save(self, tensors, description):
        super().save(tensors, description)
        self.saves += 1
        if self.saves == 3:
            raise KeyboardInterrupt


def test_training_that_dies_on_one_machine_goes_on_on_another_to_the_same_bits(folder_on, one_thread):
    training = {"max_epochs": 8, "threads": 1, "device": "cpu", "checkpoint_seconds": 1e-9}
    settings, graph = FigureSettings(dim=4, training=training), example_graph()
    undisturbed = FiGURe(settings=settings, progress=False).fit(graph)
    place = "06_models/toy/k1/checkpoint.safetensors"
    with pytest.raises(KeyboardInterrupt):
        FiGURe(settings=settings, progress=False).fit(graph, checkpoints=Killed(folder_on("first") / place))
    fetch(folder_on("second") / place)
    stored = CheckpointFile(folder_on("second") / place)
    assert len(stored.load()[1]["record"]["losses"]) == 3
    resumed = FiGURe(settings=settings, progress=False).fit(graph, checkpoints=stored)
    assert resumed.record_.losses == undisturbed.record_.losses
    for ours, theirs in zip(resumed.model_.parameters(), undisturbed.model_.parameters(), strict=True):
        assert ours.equal(theirs)


def test_a_storage_that_is_away_does_not_end_the_training(folder_on, monkeypatch, caplog):
    path = folder_on("first") / "06_models/toy/k1/checkpoint.safetensors"
    monkeypatch.setattr(Remote, "_put", lambda self, name: (_ for _ in ()).throw(UserError("the storage is away")))
    path.parent.mkdir(parents=True)
    path.write_text("x")
    saved(path)
    assert "is not published: the storage is away" in caplog.text


def test_what_could_not_be_published_is_published_by_the_next_turn(folder_on, monkeypatch):
    catalog = DataCatalog({"page": TextDataset(filepath=str(folder_on("first") / "08_reporting/toy/k1/page.html"))})
    makes = node(lambda: "a page", None, "page", name="makes")

    def away(self, name):
        raise UserError("the storage is away")

    with monkeypatch.context() as broken:
        broken.setattr(Remote, "_put", away)
        turns = Turns(catalog)
        turns.take(makes)
        catalog.save("page", "a page")
        with pytest.raises(UserError, match=r"the storage is away; .* the same command publishes it"):
            turns.end()
    assert list((folder_on("first") / "locks").iterdir()) == []
    turns = Turns(catalog)
    turns.take(makes)
    turns.end()
    fetch(folder_on("second") / "08_reporting/toy/k1")
    assert (folder_on("second") / "08_reporting/toy/k1/page.html").read_text() == "a page"


def test_runs_of_other_machines_are_found_without_their_large_files(folder_on):
    first = folder_on("first")
    for name in ("08_reporting/toy/k1/summary.json", "07_model_output/toy/k1/embeddings/A.parquet"):
        (first / name).parent.mkdir(parents=True)
        (first / name).write_text("{}")
    embeddings = "07_model_output/toy/k1/embeddings"
    RunIndex(first / "runs/toy/figure-4-k1", "k1", {"embeddings": first / embeddings}).write()
    second = folder_on("second")
    fetch_records(second)
    assert (second / "08_reporting/toy/k1/summary.json").exists()
    assert not (second / embeddings).exists()
    found = RunIndex.read(second / "runs/toy/figure-4-k1").existing()
    assert [shown(path) for path in found.values()] == [f"{shown(second)}/{embeddings}"]


def test_a_folder_of_this_machine_is_as_ever(tmp_path):
    assert local_folder(tmp_path, "data") == tmp_path / "data"
    fetch(tmp_path / "06_models/toy/k1")
    publish(tmp_path / "06_models/toy/k1")
    saved(tmp_path / "06_models/toy/k1/checkpoint")
    check_storage(tmp_path)
    assert list(tmp_path.iterdir()) == []
    assert not is_there(tmp_path / "06_models/toy/k1")


@given(
    st.from_regex(r"\A[A-Za-z0-9_-]{1,20}\Z"),
    st.from_regex(r"\A[0-9a-f]{10}\Z"),
    st.sampled_from(["03_primary/{}/{}", "08_reporting/{}/{}/a/b.csv", "runs/{}/figure-512-{}/manifest.json"]),
)
def test_every_file_of_a_key_belongs_to_the_lock_of_the_key(dataset, key, place):
    assert key_of(place.format(dataset, key)) == f"{dataset}-{key}"


def said(function, *arguments):
    with pytest.raises(UserError) as caught:
        function(*arguments)
    assert "\n" not in str(caught.value)
    return str(caught.value)


def test_a_bucket_that_is_not_there_is_one_line(s3_server, tmp_path):
    assert "make the bucket" in said(Remote("s3://no-such-bucket-here/x", tmp_path).check)


def test_no_permission_is_one_line(s3_server, tmp_path):
    import requests

    remote = Remote(f"{new_bucket()}/x", tmp_path)
    requests.post(f"{s3_server}/moto-api/reset-auth", data="0", timeout=60)  # from now on the server asks who it is
    try:
        assert "there is no permission to use s3://" in said(remote.check)
    finally:
        requests.post(f"{s3_server}/moto-api/reset-auth", data="inf", timeout=60)


def test_a_missing_package_is_one_line_that_names_it(tmp_path, monkeypatch):
    monkeypatch.setitem(sys.modules, "s3fs", None)
    line = said(Remote("s3a://bucket/x", tmp_path).check)
    assert "Install s3fs" in line
    assert "pip install 'figure_kedro[s3]'" in line
