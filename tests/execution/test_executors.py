"""Work is done in this process, in local processes and on Ray by the same rules."""

import builtins
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import psutil
import pytest

import work_to_do
from figure_kedro.errors import UserError
from figure_kedro.execution import LocalProcesses, Lost, Task, ThisProcess, local
from figure_kedro.execution.on_ray import OnRay

TESTS = Path(__file__).parents[1]
SOURCES = f"{TESTS}{os.pathsep}{TESTS.parent / 'src'}"


@pytest.fixture
def two_cores(monkeypatch):
    monkeypatch.setattr(local, "allowed_cores", lambda: 2)


@pytest.fixture(params=["this process", "local processes", "Ray"])
def executor(request, two_cores):
    if request.param == "Ray":
        request.getfixturevalue("small_ray")
        return OnRay()
    return ThisProcess() if request.param == "this process" else LocalProcesses(2)


@pytest.fixture
def others(executor):
    """An executor whose tasks can die without this process."""
    if isinstance(executor, ThisProcess):
        pytest.skip("this process would die")
    return executor


def squares(numbers):
    return [Task(work_to_do.square, (number,)) for number in numbers]


def children():
    """Worker processes of this one."""
    return [child for child in psutil.Process().children() if "spawn_main" in " ".join(child.cmdline())]


def test_all_results_come_with_their_numbers(executor):
    assert sorted(executor.run(squares(range(5)))) == [(number, number**2) for number in range(5)]


def test_no_task_is_no_result(executor):
    assert list(executor.run([])) == []


def test_an_error_that_is_returned_stops_no_other_task(executor):
    results = dict(executor.run([Task(work_to_do.error_value, (7,)), *squares([2, 3])]))
    assert str(results.pop(0)) == "7 is wrong"
    assert results == {1: 4, 2: 9}


def test_a_task_whose_process_is_killed_is_begun_again(others, tmp_path):
    tasks = [Task(work_to_do.die_once, (str(tmp_path / "died"), "alive")), *squares([2, 3, 4])]
    assert dict(others.run(tasks)) == {0: "alive", 1: 4, 2: 9, 3: 16}
    assert (tmp_path / "died").exists()


def test_a_task_that_always_dies_is_lost_with_one_line_and_the_others_are_done(others):
    results = dict(others.run([Task(work_to_do.die, ()), *squares([2, 3])]))
    lost = results.pop(0)
    assert isinstance(lost, Lost)
    assert lost.reason
    assert "\n" not in lost.reason
    assert results == {1: 4, 2: 9}


@pytest.mark.parametrize(("workers", "threads"), [(1, 6), (2, 3), (4, 1)])
def test_cores_are_divided_among_local_processes(workers, threads, monkeypatch):
    monkeypatch.setattr(local, "allowed_cores", lambda: 6)
    monkeypatch.setenv("OMP_NUM_THREADS", "5")
    executor = LocalProcesses(workers)
    assert executor.threads == threads
    tasks = [Task(work_to_do.threads_told, (number,)) for number in range(min(workers, 2))]
    assert {told for _, told in executor.run(tasks)} == {str(threads)}
    assert os.environ["OMP_NUM_THREADS"] == "5", "this process keeps its own"


def test_more_workers_than_cores_are_one_line(two_cores):
    with pytest.raises(UserError, match=r"^3 workers on 2 cores .* choose 1 to 2$"):
        LocalProcesses(3)


def test_closing_the_iterator_leaves_no_local_process(two_cores, tmp_path):
    slow = [Task(work_to_do.sleep_and_tell, (str(tmp_path), number, 60)) for number in range(3)]
    results = LocalProcesses(2).run([*squares([3]), *slow])
    assert next(results) == (0, 9)
    assert len(children()) == 2
    results.close()
    assert children() == []


def test_no_local_process_is_left_when_all_is_done(two_cores):
    assert len(list(LocalProcesses(2).run(squares([1, 2, 3])))) == 3
    assert children() == []


def test_processes_that_begin_early_import_what_they_are_told_and_are_the_ones_that_work(two_cores):
    executor = LocalProcesses(2)
    executor.start("colorsys")
    begun = {worker.process.pid for worker in executor._early}  # one that has just begun may have no name yet
    assert len(begun) == 2
    results = dict(executor.run([Task(work_to_do.imported, ("colorsys",)) for _ in range(4)]))
    assert {process for process, _ in results.values()} <= begun
    assert all(imported for _, imported in results.values())
    assert children() == []


def test_closing_ends_processes_that_began_early_and_were_not_needed(two_cores):
    executor = LocalProcesses(2)
    executor.start()
    assert list(executor.run(squares([3]))) == [(0, 9)]
    assert len(children()) == 1
    executor.close()
    assert children() == []


def test_a_local_process_that_dies_between_two_tasks_is_replaced(two_cores):
    results = LocalProcesses(1).run(squares([2, 3, 4]))
    assert next(results) == (0, 4)
    (worker,) = children()
    worker.kill()
    worker.wait()
    assert list(results) == [(1, 9), (2, 16)]


DRIVER = """
import sys, work_to_do
from figure_kedro.execution import LocalProcesses, Task, local
local.allowed_cores = lambda: 2
if __name__ == "__main__":
    tasks = [Task(work_to_do.sleep_and_tell, (sys.argv[1], number, 60)) for number in range(2)]
    list(LocalProcesses(2).run(tasks))
"""


def begin(tmp_path, when):
    """A process that gives out long work, and its workers at that time."""
    script = tmp_path / "driver.py"
    script.write_text(DRIVER)
    folder = tmp_path / "begun"
    folder.mkdir()
    driver = subprocess.Popen(
        [sys.executable, str(script), str(folder)],
        env={**os.environ, "PYTHONPATH": SOURCES},
        start_new_session=True,
        stderr=subprocess.PIPE,
        text=True,
    )
    process = psutil.Process(driver.pid)
    until(lambda: len(workers_of(process)) == 2 and (when == "started" or len(list(folder.iterdir())) == 2))
    return driver, workers_of(process)


def workers_of(process):
    return [child for child in process.children() if "spawn_main" in " ".join(child.cmdline())]


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def test_workers_end_when_the_process_that_gives_out_the_work_is_killed(tmp_path):
    driver, workers = begin(tmp_path, "working")
    driver.kill()
    driver.communicate()
    assert psutil.wait_procs(workers, timeout=20)[1] == []


@pytest.mark.parametrize("when", ["started", "working"])
def test_an_interrupt_of_all_processes_is_told_by_one(when, tmp_path):
    driver, workers = begin(tmp_path, when)
    os.killpg(driver.pid, signal.SIGINT)
    _, told = driver.communicate(timeout=30)
    assert psutil.wait_procs(workers, timeout=20)[1] == []
    assert told.count("KeyboardInterrupt") == 1, told


def test_ray_that_is_not_installed_is_one_line(monkeypatch):
    imported = builtins.__import__

    def without_ray(name, *args, **kwargs):
        if name == "ray":
            raise ImportError(name)
        return imported(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without_ray)
    with pytest.raises(UserError, match=r"^Ray is not installed; pip install 'figure_kedro\[ray\]'$"):
        OnRay()


@pytest.mark.parametrize("prefix", ["", "ray://"])
def test_an_address_without_a_cluster_is_one_line_at_once(prefix, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        address = f"{prefix}127.0.0.1:{free.getsockname()[1]}"  # nobody listens
        with pytest.raises(UserError) as error:
            OnRay(address)
    assert str(error.value).startswith(f"there is no Ray cluster at {address} (")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize("wrong", ["nonsense", "localhost:99999999"])
def test_an_address_that_is_none_is_one_line(wrong, monkeypatch):
    ray = pytest.importorskip("ray")
    monkeypatch.setattr(ray, "is_initialized", lambda: False)
    with pytest.raises(UserError, match=f"^there is no Ray cluster at {wrong} [^\n]*$"):
        OnRay(wrong)


def test_more_than_any_machine_of_ray_has_is_one_line(small_ray):
    with pytest.raises(UserError, match=r"^no machine of the Ray cluster has 99 CPU; ask for less or add a machine$"):
        next(OnRay(threads=99).run(squares([1])))
    with pytest.raises(UserError, match=r"^no machine of the Ray cluster has 1 CPU, 3 GPU; "):
        next(OnRay().run([Task(work_to_do.square, (1,), gpus=3)]))


def test_a_task_on_ray_is_told_its_threads(small_ray):
    assert dict(OnRay(threads=2).run([Task(work_to_do.threads_told, (0,))])) == {0: "2"}


def test_closing_the_iterator_ends_what_runs_on_ray(small_ray, tmp_path):
    results = OnRay().run([*squares([3]), Task(work_to_do.sleep_and_tell, (str(tmp_path), 1, 60))])
    assert next(results) == (0, 9)
    until(lambda: list(tmp_path.iterdir()))
    results.close()
    (begun,) = tmp_path.iterdir()
    until(lambda: not psutil.pid_exists(int(begun.name.partition("-")[2])))
    assert small_ray.is_initialized(), "the cluster was there before"
