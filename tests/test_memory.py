"""Arrays in memory or in files, by what a run may take."""

import os

import numpy as np
import pytest

from figure_kedro.datasets.files import scratch
from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.errors import UserError
from figure_kedro.memory import Memory, is_mapped, memory, use_memory


def test_large_arrays_lie_in_files_and_small_ones_in_memory(tmp_path):
    limited = Memory(1600, ScratchFolder(tmp_path / "scratch"))
    small, large = limited.empty(25), limited.empty((13, 2))
    large[:] = 3
    assert (is_mapped(small), is_mapped(large), is_mapped(large[2:])) == (False, True, True)
    assert large.sum() == 78
    assert type(large) is np.ndarray


def test_without_a_place_for_files_everything_is_in_memory():
    assert not is_mapped(Memory(16).empty(1000))


def test_files_have_no_names_that_could_be_left_behind(tmp_path):
    array = Memory(16, ScratchFolder(tmp_path)).empty(1000)
    assert is_mapped(array)
    assert list(tmp_path.iterdir()) == []


def test_disk_without_room_is_told_in_one_line(tmp_path, monkeypatch):
    def full(*_):
        raise OSError(28, os.strerror(28))

    monkeypatch.setattr(scratch.os, "posix_fallocate", full)
    with pytest.raises(UserError, match=r"no space left on device; it takes .*; free some"):
        Memory(16, ScratchFolder(tmp_path)).empty(1000)


def test_limit_holds_inside_of_the_block_alone():
    before = memory()
    with use_memory(Memory(5)):
        assert memory().limit == 5
    assert memory() is before
