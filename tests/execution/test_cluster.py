"""A Ray cluster of two machines, one of which dies in the middle."""

import time
from pathlib import Path

import pytest

import work_to_do
from figure_kedro.execution import Task
from figure_kedro.execution.on_ray import OnRay
from figure_kedro.experiments.cells import Outcome, make

TESTS = Path(__file__).parents[1]
PROJECT = TESTS.parent


def until(condition, seconds=60):
    end = time.monotonic() + seconds
    while not condition():
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def test_all_results_arrive_though_a_machine_is_killed_while_it_works(cluster, tmp_path):
    executor, seconds = OnRay(cluster.address), 2.0
    tasks = [Task(work_to_do.sleep_and_tell, (str(tmp_path), number, seconds)) for number in range(4)]
    results = executor.run(tasks)
    first = next(results)
    dead = cluster.pair[1]
    until(lambda: any(path.read_text() == dead.node_id for path in tmp_path.iterdir() if begun_now(path, seconds)))
    cluster.remove_node(dead, allow_graceful=False)
    assert dict([first, *results]) == {number: number for number in range(4)}
    attempts = [path.name.partition("-")[0] for path in tmp_path.iterdir()]
    assert len(attempts) > len(set(attempts)), "what the dead machine did was begun again"


def begun_now(path, seconds):
    return time.time() - path.stat().st_mtime < seconds / 2 and path.read_text()


@pytest.mark.slow
def test_cells_of_an_experiment_are_made_though_a_machine_is_killed(cluster, tmp_path):
    small = {"dataset": "csbm", "source.nodes": 200, "representation.dim": 8, "data_folder": str(tmp_path)}
    small |= {"representation.training.max_epochs": 5, "evaluation.trials": 2, "evaluation.splits": 2}
    cells = [
        {**small, "representation.method": method, "source.homophily": homophily}
        for method in ("dgi", "figure")
        for homophily in (0.1, 0.9)
    ]
    results = OnRay(cluster.address).run([Task(make, (str(PROJECT), cell, "evaluation")) for cell in cells])
    first = next(results)
    cluster.remove_node(cluster.pair[1], allow_graceful=False)
    outcomes = dict([first, *results])
    assert sorted(outcomes) == [0, 1, 2, 3]
    assert all(isinstance(outcome, Outcome) and not outcome.error for outcome in outcomes.values()), outcomes
    assert len(list(tmp_path.glob("08_reporting/csbm/*/summary.json"))) == 4
