"""Workers of a Ray cluster train as one process does."""

import os
import signal

import numpy as np
import pytest
import torch

import parts_to_watch
from examples import example_graph, example_model
from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.errors import UserError
from figure_kedro.estimator import FiGURe
from figure_kedro.execution import use_executor
from figure_kedro.execution.on_ray import OnRay
from figure_kedro.filters import build_bank, normalised_adjacency
from figure_kedro.methods.decoupled import DecoupledSettings
from figure_kedro.methods.kinds.figure import FigureSettings
from figure_kedro.training.loop import TrainingDivergedError, train
from figure_kedro.training.settings import TrainingSettings
from thread_team import in_threads

pytestmark = pytest.mark.usefixtures("one_thread", "small_ray")

CPU = torch.device("cpu")
EPOCHS = 15
TRAINING = {"max_epochs": EPOCHS, "patience": EPOCHS, "learning_rate": 1e-2, "threads": 1, "device": "cpu"}


class Heard:
    """Notes the epochs it is told of, and does something at each."""

    def __init__(self, then=lambda record: None):
        self.epochs, self.closed, self._then = [], 0, then

    def on_epoch(self, record):
        self.epochs.append(record.epochs)
        self._then(record)

    def close(self):
        self.closed += 1


def objective(marks, seconds=0.0):
    """A training that leaves marks, and how long each epoch takes at the least."""
    graph, bank = example_graph(2000, columns=20), build_bank("monomial", 3)
    matrix, settings = normalised_adjacency(graph.adjacency), DecoupledSettings(batch_rows=700, corruptions=2)
    made = parts_to_watch.SlowObjective(example_model(bank, columns=20), graph.features, matrix, bank, settings, seed=1)
    marks.mkdir(exist_ok=True)
    made.folder, made.seconds = str(marks), seconds
    return made


def assert_same_weights(ours, theirs):
    for left, right in zip(ours.parameters(), theirs.parameters(), strict=True):
        assert torch.equal(left, right)


def test_one_worker_has_the_bits_of_this_process_and_does_not_train_again(tmp_path):
    settings = FigureSettings(dim=4, strategy="decoupled", decoupled={"batch_rows": 700}, training=TRAINING)
    graph, checkpoint, heard = example_graph(2000, columns=20), CheckpointFile(tmp_path / "checkpoint"), Heard()
    here = FiGURe(settings=settings, progress=False).fit(graph)
    with use_executor(OnRay(workers=1, folder=tmp_path)):
        there = FiGURe(settings=settings, progress=False).fit(graph, checkpoints=checkpoint, listeners=[heard])
        again = FiGURe(settings=settings, progress=False).fit(graph, checkpoints=checkpoint)
    assert there.record_.losses == here.record_.losses
    assert_same_weights(there.model_, here.model_)
    assert_same_weights(again.model_, here.model_)
    assert again.record_.seconds == there.record_.seconds
    assert heard.epochs[-1] == EPOCHS
    assert heard.closed == 1


@pytest.mark.slow
def test_two_workers_reach_the_loss_of_one_though_a_worker_is_killed(tmp_path):
    settings, marks = TrainingSettings(**TRAINING, checkpoint_seconds=1e-9), tmp_path / "marks"
    killed = []

    def kill(record):
        if record.epochs >= 2 and not killed:
            (mark,) = marks.glob("worker1-*")
            killed.append(int(mark.name.partition("-")[2]))
            os.kill(killed[0], signal.SIGKILL)

    executor = OnRay(workers=2, folder=tmp_path)
    shared = objective(marks, seconds=0.2)
    record = executor.train(shared, settings, device=CPU, listeners=[Heard(kill)])
    executor.close()
    assert len(list(marks.glob("worker1-*"))) == 2, "another worker took the place of the one that was killed"

    alone = objective(tmp_path / "alone")
    expected = train(alone, settings, device=CPU)
    assert record.epochs == expected.epochs == EPOCHS
    np.testing.assert_allclose(record.losses, expected.losses, rtol=0.01)

    pair = [objective(tmp_path / "pair") for _ in range(2)]
    undisturbed, _ = in_threads(lambda team: train(pair[team.rank].for_team(team), settings, device=CPU, team=team), 2)
    assert record.losses == undisturbed.losses, "to the bit"
    assert_same_weights(shared.module, pair[0].module)


@pytest.mark.slow
def test_a_training_that_diverges_is_the_line_of_this_process(tmp_path):
    settings = TrainingSettings(**TRAINING | {"learning_rate": 1e9})
    with pytest.raises(TrainingDivergedError) as here:
        train(objective(tmp_path / "here"), settings, device=CPU)
    executor = OnRay(workers=1, folder=tmp_path)
    with pytest.raises(TrainingDivergedError) as there:
        executor.train(objective(tmp_path / "there"), settings, device=CPU)
    executor.close()
    assert str(there.value) == str(here.value)


def test_more_workers_than_there_is_room_for_are_one_line(tmp_path):
    with pytest.raises(UserError, match=r"^the Ray cluster has room for 2 workers with 1 CPU each, and [^\n]* is 3; "):
        OnRay(workers=3, folder=tmp_path)
    executor = OnRay(workers=2, folder=tmp_path)
    with pytest.raises(UserError, match="room for 1 workers with 2 CPU each"):
        executor.train(objective(tmp_path / "marks"), TrainingSettings(**TRAINING | {"threads": 2}), device=CPU)
    executor.close()


def test_what_workers_cannot_share_is_trained_in_this_process(tmp_path):
    settings = FigureSettings(dim=4, strategy="full", training=TRAINING)
    graph = example_graph(200)
    here = FiGURe(settings=settings, progress=False).fit(graph)
    with use_executor(OnRay(workers=2, folder=tmp_path)):
        assert_same_weights(FiGURe(settings=settings, progress=False).fit(graph).model_, here.model_)
