"""Locks and unfinished files: held by the living, freed by the dead."""

import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from figure_kedro.datasets.files.locks import Lock, remove_dead
from figure_kedro.datasets.files.unfinished import Unfinished, remove_abandoned
from figure_kedro.datasets.files.whole_file import write_whole

HOLD = """
import sys
from pathlib import Path
from figure_kedro.datasets.files.locks import Lock
from figure_kedro.datasets.files.unfinished import Unfinished

folder = Path(sys.argv[1])
lock = Lock(folder / "a.lock")
lock.acquire()
things = [Unfinished(folder / "file"), Unfinished(folder / "blocks", folder=True)]
(things[1].path / "block").write_text("numbers")
print("held", flush=True)
sys.stdin.readline()
"""


@pytest.fixture
def holder(tmp_path):
    """Another process, which holds a lock and is making a file and a folder."""
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
    process = subprocess.Popen([sys.executable, "-c", HOLD, str(tmp_path)], **pipes)
    assert process.stdout.readline() == "held\n"
    yield process
    process.kill()
    process.communicate()


def end(process, number):
    process.send_signal(number)
    process.communicate()


def test_one_process_holds_a_lock_and_says_who_it_is(holder, tmp_path):
    lock, owners = Lock(tmp_path / "a.lock"), []
    assert not lock.acquire_now()
    waiting = threading.Thread(target=lock.acquire, args=(owners.append,))
    waiting.start()
    while not owners:
        assert waiting.is_alive()
    assert owners[0].startswith(f"process {holder.pid} on ")
    end(holder, signal.SIGKILL)
    waiting.join(timeout=60)
    assert not waiting.is_alive(), "the lock of a process that was killed is free"
    assert len(owners) == 1, "it is told once"
    lock.release()
    assert not (tmp_path / "a.lock").exists()


def test_a_lock_that_was_let_go_can_be_taken_by_one_who_waits_with_the_old_file_open(tmp_path):
    first, second = Lock(tmp_path / "a.lock"), Lock(tmp_path / "a.lock")
    first.acquire()
    assert not second.acquire_now()
    first.release()
    assert second.acquire_now()
    assert not first.acquire_now(), "there is one lock, not one for each file that had the name"


def test_locks_of_the_dead_are_removed_and_those_of_the_living_stay(holder, tmp_path):
    remove_dead(tmp_path)
    assert (tmp_path / "a.lock").exists()
    end(holder, signal.SIGKILL)
    remove_dead(tmp_path)
    assert not (tmp_path / "a.lock").exists()


def test_what_is_being_made_stays_and_what_a_killed_process_was_making_goes(holder, tmp_path):
    made = sorted(path for path in tmp_path.iterdir() if path.name.startswith("."))
    assert len(made) == 2
    assert remove_abandoned(tmp_path, owned=True) == []
    end(holder, signal.SIGKILL)
    assert sorted(remove_abandoned(tmp_path)) == made
    assert not any(path.exists() for path in made)


def test_a_process_that_ends_by_itself_leaves_nothing(holder, tmp_path):
    holder.communicate("\n", timeout=60)
    assert list(tmp_path.iterdir()) == []


def test_things_without_a_lock_of_their_own_go_only_with_the_lock_of_the_folder(tmp_path):
    left = [".graph-x1_y2z3a", ".graph-x1_y2z3a-old", ".embeddings-4711", ".weights.safetensors.4711"]
    for name in [*left, ".DS_Store", "weights.safetensors"]:
        (tmp_path / name).touch()
    assert remove_abandoned(tmp_path) == []
    assert sorted(path.name for path in remove_abandoned(tmp_path, owned=True)) == sorted(left)
    assert sorted(path.name for path in tmp_path.iterdir()) == [".DS_Store", "weights.safetensors"]


def test_two_makers_of_one_file_do_not_meet(tmp_path):
    with Unfinished(tmp_path / "file") as first, Unfinished(tmp_path / "file") as second:
        first.path.write_text("first")
        second.path.write_text("second")
        second.put(tmp_path / "file")
        assert first.path.read_text() == "first"
    assert (tmp_path / "file").read_text() == "second"
    assert os.listdir(tmp_path) == ["file"]


def test_a_file_that_cannot_be_written_leaves_the_one_before(tmp_path):
    write_whole(tmp_path / "file", "before")
    with pytest.raises(TypeError), Unfinished(tmp_path / "file") as new:
        new.path.write_text(3)
    assert (tmp_path / "file").read_text() == "before"
    assert os.listdir(tmp_path) == ["file"]


def test_a_name_that_was_taken_for_abandoned_is_not_used(tmp_path, monkeypatch):
    """Between making a file and locking it somebody may remove it."""
    touch, removed = Path.touch, []

    def touch_and_lose(path, *of):
        touch(path, *of)
        if not removed:
            removed.extend(remove_abandoned(tmp_path))

    monkeypatch.setattr(Path, "touch", touch_and_lose)
    with Unfinished(tmp_path / "file") as new:
        assert len(removed) == 1
        assert new.path != removed[0]
        assert new.path.exists()
