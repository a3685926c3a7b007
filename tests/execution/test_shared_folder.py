"""Other processes get large arrays by the names of their files."""

import gc
import os
import pickle
import signal
import subprocess
import sys

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from examples import example_graph
from figure_kedro.execution import shared_folder
from figure_kedro.execution.shared_folder import Output, Place, SharedFolder
from figure_kedro.filters import SparseOperator, normalised_adjacency


@pytest.fixture
def shared(tmp_path):
    folder = SharedFolder(tmp_path)
    yield folder
    folder.close()


@pytest.fixture
def all_by_name(monkeypatch):
    monkeypatch.setattr(shared_folder, "BY_NAME", 1)


def files(tmp_path):
    return sorted(path for path in tmp_path.rglob("*") if path.is_file())


@pytest.mark.parametrize("rows", [slice(None), slice(3, 7)])
def test_an_array_in_a_file_is_handed_over_by_its_name(shared, all_by_name, tmp_path, rows):
    np.save(tmp_path / "a.npy", np.arange(30.0).reshape(10, 3))
    array = np.load(tmp_path / "a.npy", mmap_mode="c")[rows]
    packed = shared.pack({"array": array})
    assert len(files(tmp_path)) == 1, "nothing is copied"
    np.testing.assert_array_equal(pickle.loads(packed)["array"], array)


@pytest.mark.parametrize("array", [np.arange(5), np.ones((3, 4), order="F"), np.eye(4)[:, :2]], ids=str)
def test_an_array_in_memory_is_copied_to_a_file_once_which_goes_with_it(shared, all_by_name, tmp_path, array):
    array = array.copy(order="K")
    first, second = shared.pack(array), shared.pack([array])
    assert len(files(tmp_path)) == 1
    np.testing.assert_array_equal(pickle.loads(first), array)
    np.testing.assert_array_equal(pickle.loads(second)[0], array)
    del array
    gc.collect()
    assert files(tmp_path) == []


def test_small_arrays_and_objects_are_handed_over_as_they_are(shared, tmp_path):
    value = [np.arange(4), np.array(["a", None], dtype=object)]
    back = pickle.loads(shared.pack(value))
    assert back[0].tolist() == [0, 1, 2, 3]
    assert back[1].tolist() == ["a", None]
    assert files(tmp_path) == []


@pytest.mark.parametrize("kind", ["symmetric", "one direction", "both directions"])
def test_an_operator_is_handed_over_with_its_bits(shared, all_by_name, kind):
    matrix = normalised_adjacency(example_graph(50, directed=kind != "symmetric").adjacency)
    operator = SparseOperator(matrix, symmetric=kind == "symmetric", differentiable=kind == "both directions")
    first, second = shared.pack(operator), shared.pack(operator)
    assert first == second, "its arrays are in the same files"
    other, block = pickle.loads(first), torch.randn(50, 3)
    assert torch.equal(other(block), operator(block))
    if kind != "one direction":
        assert torch.equal(other.back(block), operator.back(block))


def test_an_output_is_filled_in_its_file(shared):
    array = shared.empty((4, 2))
    output = pickle.loads(shared.pack(Output(array)))
    output.fill(np.arange(8).reshape(4, 2))
    np.testing.assert_array_equal(array, np.arange(8).reshape(4, 2))


def test_sparse_features_are_handed_over(shared, all_by_name):
    features = sp.csc_array(example_graph(features="sparse").features)
    np.testing.assert_array_equal(pickle.loads(shared.pack(features)).toarray(), features.toarray())


def test_an_array_without_a_file_has_no_place():
    assert Place.of(np.zeros(3)) is None


def test_nothing_is_left_when_it_is_closed(shared, tmp_path):
    kept = shared.empty((3,))
    shared.close()
    assert list((tmp_path / "shared").iterdir()) == []
    assert kept.shape == (3,)


def test_what_a_killed_process_has_left_is_removed_by_the_next(tmp_path):
    script = (
        "import os, signal, sys; from pathlib import Path; "
        "from figure_kedro.execution.shared_folder import SharedFolder; "
        "shared = SharedFolder(Path(sys.argv[1])); kept = shared.empty((9,)); os.kill(os.getpid(), signal.SIGKILL)"
    )
    ended = subprocess.run([sys.executable, "-c", script, str(tmp_path)], env=dict(os.environ), check=False)
    assert ended.returncode == -signal.SIGKILL
    assert len(files(tmp_path)) == 1
    next_one = SharedFolder(tmp_path)
    kept = next_one.empty((2,))
    assert [path.stat().st_size for path in files(tmp_path)] == [kept.nbytes]
    next_one.close()
