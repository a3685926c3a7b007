"""A Ray cluster of two machines, one of which dies in the middle."""

import threading
import time
from pathlib import Path

import numpy as np
import pytest
import torch

import parts_to_watch
import work_to_do
from examples import example_graph, example_model
from figure_kedro.execution import Task, use_executor
from figure_kedro.execution.on_ray import OnRay
from figure_kedro.experiments.cells import Outcome, make
from figure_kedro.filters import build_bank, normalised_adjacency
from figure_kedro.methods.decoupled import DecoupledSettings, Propagation
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings
from thread_team import in_threads

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


def place(cluster, mark):
    """The machine of a mark."""
    return next((node for node in cluster.pair if node.node_id == mark.read_text()), None)


@pytest.mark.slow
def test_propagated_rows_are_those_of_an_undisturbed_run_though_a_machine_is_killed_meanwhile(cluster, tmp_path):
    graph, trained = example_graph(3000, columns=20), (1, 2)
    features, matrix = graph.features, normalised_adjacency(graph.adjacency)
    orders = {"true": None, "corrupted": np.random.default_rng(1).permutation(3000)}
    plain = build_bank("monomial", 3)
    expected = Propagation(trained, features, matrix, plain, 4, None).run(orders)

    bank, marks = parts_to_watch.SlowBank(plain.settings), tmp_path / "marks"
    marks.mkdir()
    bank.folder, bank.seconds = str(marks), 1.5
    dead = cluster.pair[1]

    def kill():
        until(lambda: any(begun_now(mark, 1.5) and place(cluster, mark) is dead for mark in marks.iterdir()))
        cluster.remove_node(dead, allow_graceful=False)

    killer = threading.Thread(target=kill)
    killer.start()
    with use_executor(OnRay(cluster.address, workers=2, folder=tmp_path)):
        found = Propagation(trained, features, matrix, bank, 4, None).run(orders)
        killer.join()
        for here, there in zip(expected, found, strict=True):
            for index in trained:
                np.testing.assert_array_equal(np.hstack(there[index]), np.hstack(here[index]))
    blocks = 2 * len(found[0][1])
    assert len(list(marks.iterdir())) > blocks, "what the dead machine did was begun again"


@pytest.mark.slow
def test_training_is_that_of_an_undisturbed_run_though_a_machine_is_killed_meanwhile(machines, tmp_path):
    cluster, cpu, marks = machines(2, 2), torch.device("cpu"), tmp_path / "marks"
    settings = TrainingSettings(max_epochs=15, learning_rate=1e-2, threads=1, checkpoint_seconds=1e-9)
    marks.mkdir()

    def objective():
        graph, bank = example_graph(2000, columns=20), build_bank("monomial", 3)
        matrix, rows = normalised_adjacency(graph.adjacency), DecoupledSettings(batch_rows=700)
        made = parts_to_watch.SlowObjective(example_model(bank, columns=20), graph.features, matrix, bank, rows, seed=1)
        made.folder, made.seconds = str(marks), 0.2
        return made

    class Killer:
        dead = None

        def on_epoch(self, record):
            if record.epochs >= 2 and self.dead is None:
                (mark,) = marks.glob("worker1-*")
                self.dead = place(cluster, mark)
                cluster.remove_node(self.dead, allow_graceful=False)

        def close(self):
            pass

    killer, trained = Killer(), objective()
    with use_executor(OnRay(cluster.address, workers=2, folder=tmp_path)) as executor:
        record = executor.train(trained, settings, device=cpu, listeners=[killer])
    assert killer.dead is not None
    assert len(list(marks.glob("worker0-*"))) == len(list(marks.glob("worker1-*"))) == 2, "both were begun again"

    pair = [objective() for _ in range(2)]
    undisturbed, _ = in_threads(lambda team: train(pair[team.rank].for_team(team), settings, device=cpu, team=team), 2)
    assert record.losses == undisturbed.losses
    for ours, theirs in zip(trained.module.parameters(), pair[0].module.parameters(), strict=True):
        assert torch.equal(ours, theirs)


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
