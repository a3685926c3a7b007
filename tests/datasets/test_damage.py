"""A stored file that is not what was written is never taken for it."""

import itertools
import json
import logging
import os
import signal
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pandas as pd
import pytest
import torch
from kedro.io import DatasetError

from examples import example_graph
from figure_kedro.datasets.classifier_dataset import ClassifierDataset
from figure_kedro.datasets.embeddings_dataset import EmbeddingsDataset
from figure_kedro.datasets.files.array_folder import DESCRIPTION, are_whole, read_arrays, write_arrays
from figure_kedro.datasets.files.content import digest_of, forget
from figure_kedro.datasets.files.sealed_file import DIGESTS, is_whole, read_sealed, write_sealed
from figure_kedro.datasets.files.tensor_file import CheckpointFile, read_tensors, write_tensors
from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset
from figure_kedro.datasets.representation_dataset import RepresentationDataset
from figure_kedro.datasets.run_folder import RunFolder
from figure_kedro.datasets.sealed import CSVDataset, JSONDataset, ParquetDataset
from figure_kedro.errors import DamagedFileError, UserError
from figure_kedro.estimator import Representation
from figure_kedro.evaluation.classifier import NoClassifier
from figure_kedro.filters import BANKS, Operator
from figure_kedro.machine_errors import find_user_error
from figure_kedro.methods.method import METHODS

ARRAYS = {"a": np.arange(50), "b": np.ones((20, 3), dtype=np.float32)}
DAMAGED = r"is damaged \(.*\); delete it, and it is made anew$"


def flipped(path, position, bit=0x01):
    content = bytearray(path.read_bytes())
    content[position] ^= bit
    path.write_bytes(content)
    forget()


@pytest.mark.parametrize("name", ["a.npy", "b.npy", DESCRIPTION])
def test_no_flipped_bit_of_an_array_folder_passes(tmp_path, name):
    write_arrays(tmp_path / "x", ARRAYS, {"name": "n", "directed": True})
    path = tmp_path / "x" / name
    whole = path.read_bytes()
    for position in range(len(whole)):
        flipped(path, position)
        with pytest.raises(UserError) as error:
            read_arrays(tmp_path / "x")
        assert "\n" not in str(error.value)
        path.write_bytes(whole)
    forget()
    np.testing.assert_array_equal(read_arrays(tmp_path / "x")[0]["a"], ARRAYS["a"])


@pytest.mark.parametrize("name", ["a.npy", DESCRIPTION])
@pytest.mark.parametrize("content", [None, b"", b"\x93NUMPY", b"[]", b"[" * 100_000, b"\xff\xfe"])
def test_a_cut_emptied_deleted_or_foreign_file_is_one_line(tmp_path, name, content):
    write_arrays(tmp_path / "x", ARRAYS, {})
    (tmp_path / "x" / name).unlink() if content is None else (tmp_path / "x" / name).write_bytes(content)
    forget()
    with pytest.raises(DamagedFileError, match=DAMAGED):
        read_arrays(tmp_path / "x")
    assert not are_whole(tmp_path / "x")


def test_a_damaged_folder_with_the_right_description_is_written_anew(tmp_path):
    write_arrays(tmp_path / "x", ARRAYS, {"name": "n"})
    flipped(tmp_path / "x" / "a.npy", -1)
    write_arrays(tmp_path / "x", ARRAYS, {"name": "n"})
    forget()
    np.testing.assert_array_equal(read_arrays(tmp_path / "x")[0]["a"], ARRAYS["a"])


def test_what_was_written_or_checked_by_a_process_is_not_read_again_for_its_digest(tmp_path, monkeypatch):
    write_arrays(tmp_path / "x", ARRAYS, {})
    monkeypatch.setattr("hashlib.file_digest", None)
    read_arrays(tmp_path / "x")
    write_arrays(tmp_path / "x", ARRAYS, {})
    assert are_whole(tmp_path / "x")


def test_no_flipped_bit_of_a_tensor_file_passes(tmp_path):
    path = tmp_path / "w"
    tensors, description = {"a": torch.arange(6.0).reshape(2, 3), "empty": torch.ones(0)}, {"record": [1.5, 2.5]}
    write_tensors(path, tensors, description)
    whole = path.read_bytes()
    for position in range(len(whole)):
        flipped(path, position)
        try:
            found, described = read_tensors(path)
        except DamagedFileError:
            continue
        # only the name of the digest itself, or space that means nothing, may change unnoticed
        assert described == description
        assert all(torch.equal(found[name], tensor) for name, tensor in tensors.items())
        path.write_bytes(whole)
    path.write_bytes(whole)
    assert torch.equal(read_tensors(path)[0]["a"], tensors["a"])


@pytest.mark.parametrize(
    "content",
    [
        b"",
        b"\xff" * 8,
        (2**62).to_bytes(8, "little") + b"{}",
        (2).to_bytes(8, "little") + b"{}",
        (76).to_bytes(8, "little") + b'{"a":{"dtype":"F32","shape":[100000000000],"data_offsets":[0,400000000000]}}',
        b"PK\x03\x04",
    ],
)
def test_a_tensor_file_that_lies_about_its_header_is_one_line(tmp_path, content):
    (tmp_path / "w").write_bytes(content)
    with pytest.raises(DamagedFileError, match=DAMAGED) as error:
        read_tensors(tmp_path / "w")
    assert "\n" not in str(error.value)


def test_a_model_whose_weights_do_not_fit_its_settings_is_one_line(tmp_path):
    fitted = Representation(settings=METHODS.parse({"method": "untrained", "dim": 3}), progress=False)
    weights, description = fitted.fit(example_graph()).state()
    for changed in ({"num_features": 7}, {"num_features": "many"}, {"training": {"x": 1}}, {"filters": None}):
        write_tensors(tmp_path / "weights.safetensors", weights, description | changed)
        with pytest.raises(UserError) as error:
            Representation.load(tmp_path)
        assert "\n" not in str(error.value)
    write_tensors(tmp_path / "weights.safetensors", {}, description)
    with pytest.raises(UserError, match="weights do not fit what it says of itself"):
        Representation.load(tmp_path)


def test_a_damaged_checkpoint_is_told_and_left_aside(tmp_path, caplog):
    write_tensors(tmp_path / "c", {"a": torch.ones(9)}, {})
    flipped(tmp_path / "c", -1)
    with caplog.at_level(logging.WARNING):
        assert CheckpointFile(tmp_path / "c").load() is None
    assert caplog.messages == [f"{tmp_path / 'c'} is damaged (its content is not what was written); it is made anew"]


def test_a_sealed_file_knows_all_that_was_written_to_it_and_nothing_else(tmp_path):
    path = tmp_path / "t.csv"
    for text in ("one", "two"):
        write_sealed(path, text)
        forget()
        assert is_whole(path)
    path.write_text("one")
    assert is_whole(path), "an earlier content is no damage"
    forget()
    path.write_text("three")
    forget()
    assert not is_whole(path)
    with pytest.raises(DamagedFileError, match=DAMAGED):
        read_sealed(path)
    assert {file.name for file in tmp_path.iterdir()} == {"t.csv", DIGESTS}


def test_a_kill_between_digest_and_file_leaves_a_whole_file(tmp_path, monkeypatch):
    path = tmp_path / "t.csv"
    write_sealed(path, "old")

    def killed(*args):
        raise KeyboardInterrupt

    monkeypatch.setattr("os.replace", killed)
    with pytest.raises(KeyboardInterrupt):
        write_sealed(path, "new")
    forget()
    assert is_whole(path)
    assert path.read_text() == "old"
    assert {file.name for file in tmp_path.iterdir()} == {"t.csv", DIGESTS}


def test_writers_at_the_same_time_leave_a_whole_file(tmp_path):
    path = tmp_path / "t.csv"
    with ThreadPoolExecutor(8) as pool:
        list(pool.map(lambda number: write_sealed(path, f"content {number}"), range(100)))
    forget()
    assert is_whole(path)


def test_a_file_without_a_digest_is_of_an_older_version_and_is_read(tmp_path):
    (tmp_path / "t.csv").write_text("a\n1\n")
    assert is_whole(tmp_path / "t.csv")
    assert CSVDataset(filepath=str(tmp_path / "t.csv")).load()["a"].tolist() == [1]


@pytest.mark.parametrize("make", [CSVDataset, ParquetDataset, JSONDataset])
def test_tables_and_json_come_back_and_damage_is_one_line(tmp_path, make):
    path = tmp_path / "new" / "table"
    data = {"a": 1} if make is JSONDataset else pd.DataFrame({"a": [1, 2]})
    dataset = make(filepath=str(path), **({"save_args": {"index": False}} if make is CSVDataset else {}))
    with pytest.raises(DatasetError) as error:
        dataset.load()
    assert "run the pipeline that makes it" in str(find_user_error(error.value))
    dataset.save(data)
    assert dataset.exists()
    assert (dataset.load() == data) if make is JSONDataset else dataset.load().equals(data)
    assert {file.name for file in path.parent.iterdir()} == {"table", DIGESTS}
    flipped(path, len(path.read_bytes()) // 2)
    assert not dataset.exists()
    with pytest.raises(DatasetError) as error:
        dataset.load()
    assert isinstance(find_user_error(error.value), DamagedFileError)
    (path.parent / DIGESTS / "table").unlink()
    path.write_bytes(b"\xff\x00" if make is not CSVDataset else b"")
    with pytest.raises(DatasetError) as error:
        dataset.load()
    assert isinstance(find_user_error(error.value), DamagedFileError), "also where there is no digest"


def test_a_save_that_fails_leaves_the_old_table(tmp_path):
    dataset = CSVDataset(filepath=str(tmp_path / "t.csv"), save_args={"index": False})
    dataset.save(pd.DataFrame({"a": [1]}))

    class Broken:
        def to_csv(self, path_or_buf, **kwargs):
            path_or_buf.write("half")
            raise OSError(28, "No space left on device")

    with pytest.raises(DatasetError) as error:
        dataset.save(Broken())
    assert "cannot be written: no space left on device" in str(find_user_error(error.value))
    assert dataset.load()["a"].tolist() == [1]
    assert {file.name for file in tmp_path.iterdir()} == {"t.csv", DIGESTS}


def test_embeddings_with_a_damaged_view_are_computed_again_from_what_is_whole(tmp_path, caplog):
    graph, filters = example_graph(), BANKS.parse({"size": 2})
    places = {name: str(tmp_path / name) for name in ("graph", "operator", "encoder")}
    operator = Operator.of(graph, filters)
    model = Representation(filters=filters, settings=METHODS.parse({"method": "untrained", "dim": 3}), progress=False)
    GraphDataset(filepath=places["graph"]).save(graph)
    OperatorDataset(filepath=places["operator"]).save(operator)
    RepresentationDataset(filepath=places["encoder"]).save(model.fit(graph))
    dataset = EmbeddingsDataset(filepath=str(tmp_path / "out" / "embeddings"), **places)
    dataset.save(model.embed(graph, operator))
    flipped(tmp_path / "out" / "embeddings" / "view_1.npy", -1)
    again = EmbeddingsDataset(filepath=str(tmp_path / "out" / "embeddings"), **places)
    assert again.exists()
    for name, view in again.load().items():
        np.testing.assert_array_equal(view, model.transform(graph)[name])
    assert "view_1.npy is damaged" in caplog.text
    again.release()
    flipped(tmp_path / "graph" / "adjacency_indices.npy", -1)
    assert not again.exists(), "nothing to read and nothing to compute from"


def test_a_damaged_classifier_counts_as_missing(tmp_path):
    dataset = ClassifierDataset(filepath=str(tmp_path))
    dataset.save(NoClassifier("there are no labels"))
    assert dataset.exists()
    flipped(tmp_path / "classifier.safetensors", -2)
    assert not dataset.exists()
    dataset.release()
    with pytest.raises(DatasetError) as error:
        dataset.load()
    assert isinstance(find_user_error(error.value), DamagedFileError)


def test_a_run_folder_does_not_have_a_damaged_file(tmp_path):
    write_sealed(tmp_path / "timing.json", json.dumps({"epochs": 3}))
    folder = RunFolder(tmp_path)
    assert folder.has("timing.json")
    assert folder.load("timing.json") == {"epochs": 3}
    flipped(tmp_path / "timing.json", 3)
    assert not folder.has("timing.json")
    with pytest.raises(DamagedFileError):
        RunFolder(tmp_path).load("timing.json")


def test_digests_are_those_of_the_files(tmp_path):
    write_arrays(tmp_path / "x", ARRAYS, {})
    stated = json.loads((tmp_path / "x" / DESCRIPTION).read_text())["files"]
    forget()
    assert stated == {name: digest_of(tmp_path / "x" / name) for name in ("a.npy", "b.npy")}


def test_a_file_that_is_replaced_while_it_is_read_is_one_of_the_two(tmp_path):
    path = tmp_path / "w"
    write_tensors(path, {"a": torch.zeros(64)}, {"number": 0})
    writer = os.fork()
    if not writer:
        for number in itertools.count(1):
            write_tensors(path, {"a": torch.full((64,), float(number))}, {"number": number})
    try:
        seen = set()
        while len(seen) < 300:
            tensors, description = read_tensors(path)
            assert tensors["a"].unique().tolist() == [description["number"]]
            seen.add(description["number"])
    finally:
        os.kill(writer, signal.SIGKILL)
        os.waitpid(writer, 0)
