"""Folders of arrays appear whole, and equal content is not written twice."""

from concurrent.futures import ThreadPoolExecutor

import numpy as np

from figure_kedro.datasets.array_folder import read_arrays, write_arrays

ARRAYS = {"a": np.arange(5), "b": np.ones((2, 3), dtype=np.float32)}


def test_equal_content_is_left_alone(tmp_path):
    write_arrays(tmp_path / "x", ARRAYS, {"name": "n"})
    before = (tmp_path / "x" / "a.npy").stat()
    write_arrays(tmp_path / "x", ARRAYS, {"name": "n"})
    assert (tmp_path / "x" / "a.npy").stat().st_ino == before.st_ino


def test_other_content_replaces_the_whole_folder(tmp_path):
    write_arrays(tmp_path / "x", ARRAYS, {"name": "n"})
    write_arrays(tmp_path / "x", {"a": np.arange(3)}, {"name": "n"})
    arrays, _ = read_arrays(tmp_path / "x")
    assert list(arrays) == ["a"]
    assert arrays["a"].tolist() == [0, 1, 2]
    assert [path.name for path in tmp_path.iterdir()] == ["x"]


def test_runs_that_share_a_folder_do_not_disturb_each_other(tmp_path):
    write_arrays(tmp_path / "x", ARRAYS, {})

    def use(_):
        write_arrays(tmp_path / "x", ARRAYS, {})
        return int(read_arrays(tmp_path / "x")[0]["a"].sum())

    with ThreadPoolExecutor(4) as pool:
        assert set(pool.map(use, range(200))) == {10}
