"""Folders of arrays appear whole, and equal content is not written twice."""

import json
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest

from figure_kedro.datasets.files.array_folder import DESCRIPTION, FORMAT, read_arrays, write_arrays
from figure_kedro.errors import UserError

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


def with_format(folder, version):
    """Let a folder say another version of its format, or none."""
    description = json.loads((folder / DESCRIPTION).read_text())
    assert description.pop("format") == FORMAT
    description |= {} if version is None else {"format": version}
    (folder / DESCRIPTION).write_text(json.dumps(description))


def test_arrays_come_back_mapped_from_disk_and_cannot_be_changed(tmp_path):
    write_arrays(tmp_path / "x", ARRAYS, {"name": "n"})
    arrays, description = read_arrays(tmp_path / "x")
    assert description["name"] == "n"
    for name, array in ARRAYS.items():
        assert isinstance(arrays[name], np.memmap)
        np.testing.assert_array_equal(arrays[name], array)
        with pytest.raises(ValueError, match="read-only"):
            arrays[name][0] = 7


@pytest.mark.parametrize(
    ("version", "remedy"),
    [
        (FORMAT + 1, "use a newer version of figure_kedro"),
        (99, "use a newer version of figure_kedro"),
        ("two", "use a newer version of figure_kedro"),
        (FORMAT - 1, "delete it, and it is made anew"),
        (None, "delete it, and it is made anew"),
    ],
)
def test_folder_of_another_format_is_refused_in_one_line(tmp_path, version, remedy):
    write_arrays(tmp_path / "x", ARRAYS, {})
    with_format(tmp_path / "x", version)
    with pytest.raises(UserError) as error:
        read_arrays(tmp_path / "x")
    message = str(error.value)
    assert "\n" not in message
    assert message.startswith(f"{tmp_path / 'x'} has format {1 if version is None else version!r}")
    assert message.endswith(remedy)


@pytest.mark.parametrize("version", [FORMAT + 1, FORMAT - 1, None])
def test_folder_of_another_format_is_written_anew(tmp_path, version):
    write_arrays(tmp_path / "x", ARRAYS, {})
    with_format(tmp_path / "x", version)
    write_arrays(tmp_path / "x", ARRAYS, {})
    assert read_arrays(tmp_path / "x")[1]["format"] == FORMAT
