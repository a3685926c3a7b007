"""Threads are those that were asked for; where nothing was, what the user set or the machine has free."""

import os
from types import SimpleNamespace

import pytest
import torch

from figure_kedro.training import threads as module
from figure_kedro.training.threads import allowed_cores, idle_cores, threads

pytestmark = pytest.mark.usefixtures("one_thread")

MANY = 4


@pytest.fixture
def many_threads():
    """As torch is on a machine with that many cores."""
    torch.set_num_threads(MANY)
    assert torch.get_num_threads() == MANY


@pytest.fixture
def nothing_said(monkeypatch, many_threads):
    """Nobody set a number of threads; no container, and all cores are idle."""
    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(module, "allowed_cores", lambda: MANY)
    monkeypatch.setattr(module, "idle_cores", lambda: MANY)


@pytest.fixture
def eight_cores(monkeypatch):
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda process: set(range(8)), raising=False)


def proc_stat(monkeypatch, tmp_path, first, second):
    """A machine whose clocks show one text now and another one after a look."""
    file = tmp_path / "stat"
    file.write_text(first)
    monkeypatch.setattr(module, "PROC_STAT", file)
    monkeypatch.setattr(module, "time", SimpleNamespace(sleep=lambda seconds: file.write_text(second)))


def cpu_max(monkeypatch, tmp_path, text):
    file = tmp_path / "cpu.max"
    file.write_text(text)
    monkeypatch.setattr(module, "CPU_MAX", file)


def ticks(busy, idle, waiting=0):
    return f"cpu  {1000 + busy} 0 50 {7000 + idle} {30 + waiting} 0 0 0 0 0\ncpu0 1 2 3 4 5 6 7 8 9 10\nintr 1\n"


@pytest.mark.parametrize("wanted", [1, 2, 3])
def test_threads_are_as_many_as_asked_for_and_as_before_afterwards(wanted, many_threads):
    with threads(wanted) as number:
        assert number == torch.get_num_threads() == wanted
    assert torch.get_num_threads() == MANY


def test_threads_are_as_before_after_a_mistake(many_threads):
    with pytest.raises(ZeroDivisionError), threads(2):
        raise ZeroDivisionError
    assert torch.get_num_threads() == MANY


def test_inner_block_gives_back_the_number_of_the_outer_one(many_threads):
    with threads(3):
        with threads(1):
            assert torch.get_num_threads() == 1
        assert torch.get_num_threads() == 3
    assert torch.get_num_threads() == MANY


def test_number_that_was_asked_for_stands_whatever_the_environment_and_the_machine_say(monkeypatch, many_threads):
    monkeypatch.setenv("OMP_NUM_THREADS", "1")
    monkeypatch.setattr(module, "idle_cores", lambda: 0)
    monkeypatch.setattr(module, "allowed_cores", lambda: 1)
    with threads(3) as number:
        assert number == torch.get_num_threads() == 3


def test_number_in_the_environment_is_respected_on_a_busy_machine(monkeypatch, nothing_said):
    monkeypatch.setenv("OMP_NUM_THREADS", str(MANY))
    monkeypatch.setattr(module, "idle_cores", lambda: 0)
    monkeypatch.setattr(module, "allowed_cores", lambda: 1)
    with threads() as number:
        assert number == torch.get_num_threads() == MANY


def test_idle_machine_gives_all_threads(nothing_said):
    with threads() as number:
        assert number == torch.get_num_threads() == MANY


@pytest.mark.parametrize("idle", [0, 1])
def test_busy_machine_gives_one_thread(idle, monkeypatch, nothing_said):
    monkeypatch.setattr(module, "idle_cores", lambda: idle)
    with threads() as number:
        assert number == torch.get_num_threads() == 1
    assert torch.get_num_threads() == MANY


def test_machine_with_some_idle_cores_gives_as_many(monkeypatch, nothing_said):
    monkeypatch.setattr(module, "idle_cores", lambda: 3)
    with threads() as number:
        assert number == 3


def test_clocks_of_a_busy_machine_give_one_thread(monkeypatch, tmp_path, nothing_said, eight_cores):
    monkeypatch.setattr(module, "idle_cores", idle_cores)
    proc_stat(monkeypatch, tmp_path, ticks(0, 0), ticks(busy=40, idle=0))
    with threads() as number:
        assert number == torch.get_num_threads() == 1


def test_torch_with_one_thread_is_left_alone_without_a_look_at_the_machine(monkeypatch):
    def look():
        raise AssertionError("the machine was looked at")

    monkeypatch.delenv("OMP_NUM_THREADS", raising=False)
    monkeypatch.setattr(module, "idle_cores", look)
    with threads() as number:
        assert number == 1


def test_threads_are_never_more_than_torch_was_set_to(monkeypatch, nothing_said):
    monkeypatch.setattr(module, "idle_cores", lambda: 64)
    monkeypatch.setattr(module, "allowed_cores", lambda: 64)
    with threads() as number:
        assert number == MANY


@pytest.mark.skipif(not hasattr(os, "sched_getaffinity"), reason="this system does not say which cores a process has")
def test_zero_threads_means_at_most_all_cores_that_this_process_may_use(monkeypatch, tmp_path, nothing_said):
    cpu_max(monkeypatch, tmp_path, "max 100000\n")
    monkeypatch.setattr(module, "allowed_cores", allowed_cores)
    assert allowed_cores() == len(os.sched_getaffinity(0))
    with threads() as number:
        assert number == min(MANY, len(os.sched_getaffinity(0)))


def test_zero_threads_means_all_cores_where_the_system_does_not_say_which(monkeypatch, tmp_path, nothing_said):
    monkeypatch.delattr(os, "sched_getaffinity", raising=False)
    monkeypatch.setattr(os, "cpu_count", lambda: 3)
    monkeypatch.setattr(module, "CPU_MAX", tmp_path / "missing")
    monkeypatch.setattr(module, "allowed_cores", allowed_cores)
    with threads() as number:
        assert number == 3


@pytest.mark.parametrize(
    ("text", "cores"),
    [
        ("200000 100000\n", 2),
        ("150000 100000\n", 2),
        ("100000 100000\n", 1),
        ("10000 100000\n", 1),
        ("9999999 100000", 8),
    ],
)
def test_quota_of_a_container_limits_the_cores(text, cores, monkeypatch, tmp_path, eight_cores):
    cpu_max(monkeypatch, tmp_path, text)
    assert allowed_cores() == cores


def test_quota_of_a_container_limits_the_threads(monkeypatch, tmp_path, nothing_said, eight_cores):
    cpu_max(monkeypatch, tmp_path, "200000 100000\n")
    monkeypatch.setattr(module, "allowed_cores", allowed_cores)
    with threads() as number:
        assert number == torch.get_num_threads() == 2


@pytest.mark.parametrize("text", ["max 100000\n", "", "nonsense\n", None])
def test_container_without_a_readable_quota_has_all_cores(text, monkeypatch, tmp_path, eight_cores):
    monkeypatch.setattr(module, "CPU_MAX", tmp_path / "missing")
    if text is not None:
        cpu_max(monkeypatch, tmp_path, text)
    assert allowed_cores() == 8


@pytest.mark.parametrize(
    ("busy", "idle", "waiting", "cores"),
    [(0, 40, 0, 8), (40, 0, 0, 0), (20, 20, 0, 4), (20, 0, 20, 4), (35, 5, 0, 1), (10, 30, 0, 6)],
)
def test_idle_cores_are_the_idle_share_of_all(busy, idle, waiting, cores, monkeypatch, tmp_path, eight_cores):
    """A core that waits for a disk is idle."""
    proc_stat(monkeypatch, tmp_path, ticks(0, 0), ticks(busy, idle, waiting))
    assert idle_cores() == cores


@pytest.mark.parametrize("text", [ticks(0, 0), "cpu  many\n", "", "cpu 1 2\n"])
def test_all_cores_count_as_idle_where_the_clocks_stand_still_or_say_nothing(text, monkeypatch, tmp_path, eight_cores):
    proc_stat(monkeypatch, tmp_path, text, text)
    assert idle_cores() == 8


def test_all_cores_count_as_idle_where_there_are_no_clocks(monkeypatch, tmp_path, eight_cores):
    monkeypatch.setattr(module, "PROC_STAT", tmp_path / "missing")
    assert idle_cores() == 8


def test_this_machine_has_some_cores():
    assert 1 <= allowed_cores() <= os.cpu_count()
    assert 0 <= idle_cores() <= os.cpu_count()
