"""However often a run is killed, it ends with the bytes of one that was not, and leaves nothing behind."""

import os
import signal
import time

import pytest
from campaign import kill_at_random
from journey import leftovers, results, send, start, statuses, wait

TINY = {
    "source.nodes": 120,
    "representation.training.max_epochs": 8,
    "representation.tuning.trials": 3,
    "evaluation.trials": 24,
    "evaluation.splits": 2,
}


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    folder = tmp_path_factory.mktemp("undisturbed") / "data"
    assert wait(start(folder, **TINY)) == 0, folder.with_suffix(".log").read_text()
    return results(folder)


def stop(folder, number, pattern):
    """Start a run, send it a signal once a file is there, and return its exit code."""
    process = start(folder, **TINY)
    while not list(folder.glob(pattern)):
        if (code := wait(process, 0.01)) is not None:
            return code
    send(process, number)
    return wait(process)


def test_a_run_that_is_killed_in_tuning_and_in_evaluation_ends_as_if_it_had_not_been(undisturbed, tmp_path):
    folder = tmp_path / "data"
    assert stop(folder, signal.SIGKILL, "06_models/csbm/*/tuning_trials.journal") == -signal.SIGKILL
    assert stop(folder, signal.SIGTERM, "07_model_output/csbm/*/evaluation_trials.journal") == 143
    assert wait(start(folder, **TINY)) == 0
    assert results(folder) == undisturbed
    assert leftovers(folder) == []
    told = statuses(folder)
    assert "RUNNING" not in told
    assert told["KILLED"] >= 2, "the run of the process that was killed, and of the one that was ended"


def test_four_at_a_time_share_their_work_also_if_one_of_them_is_killed(undisturbed, tmp_path):
    folder = tmp_path / "data"
    processes = [start(folder, **TINY) for _ in range(4)]
    while not list(folder.glob("06_models/csbm/*/tuning_trials.journal")):
        time.sleep(0.01)
    send(processes[0], signal.SIGKILL)
    codes = [wait(process) for process in processes]
    assert codes[0] in (-signal.SIGKILL, 0)
    log = folder.with_suffix(".log").read_text()
    assert codes[1:] == [0, 0, 0], f"{codes}: {log}"
    assert results(folder) == undisturbed
    assert "Traceback" not in log
    assert "waiting for process" in " ".join(log.split())
    assert wait(start(folder, **TINY)) == 0
    assert leftovers(folder) == []
    assert "RUNNING" not in statuses(folder)


@pytest.mark.slow
def test_a_hundred_kills_change_no_byte_and_leave_nothing(tmp_path, capsys):
    counted, wrong = kill_at_random(100, tmp_path, seed=int(os.environ.get("FAULT_SEED", "0")))
    with capsys.disabled():
        print(f"\n{dict(counted)}")  # noqa: T201
    assert wrong == []


@pytest.mark.slow
@pytest.mark.parametrize("seed", range(5))
def test_four_at_a_time_of_which_some_are_killed_at_random(undisturbed, tmp_path, seed):
    import random

    draw, folder = random.Random(seed), tmp_path / "data"
    processes = [start(folder, **TINY) for _ in range(4)]
    for process in processes[:2]:
        time.sleep(draw.uniform(0, 10))
        if wait(process, 0) is None:
            send(process, draw.choice([signal.SIGKILL, signal.SIGTERM]))
            wait(process)
    assert [wait(process) for process in processes[2:]] == [0, 0]
    assert results(folder) == undisturbed
    assert wait(start(folder, **TINY)) == 0
    assert leftovers(folder) == []
    assert "RUNNING" not in statuses(folder)
