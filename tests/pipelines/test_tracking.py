"""What a long node tells MLflow while it runs."""

import contextlib

import mlflow
import pandas as pd
import pytest

from figure_kedro.errors import UserError
from figure_kedro.pipelines.tracking import BATCH, MlflowMetrics, log_curve, nested_run
from figure_kedro.training.loop import TrainingRecord


@pytest.fixture
def history(tmp_path):
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    client = mlflow.MlflowClient()
    with mlflow.start_run() as run:
        yield lambda name: [
            (point.step, point.value)
            for point in sorted(client.get_metric_history(run.info.run_id, name), key=lambda point: point.step)
        ]
    mlflow.set_tracking_uri(before)


def record(epochs):
    return TrainingRecord(losses=[1 / (1 + i) for i in range(epochs)], seconds=[0.1] * epochs)


def curve(epochs):
    return list(enumerate(record(epochs).losses))


def test_every_epoch_is_logged_once(history):
    metrics = MlflowMetrics()
    for epochs in range(1, BATCH + 3):
        metrics.on_epoch(record(epochs))
    assert history("loss") == curve(BATCH), "one batch"
    metrics.close()
    metrics.catch_up(record(BATCH + 2))
    assert history("loss") == curve(BATCH + 2)
    assert len(history("epoch_seconds")) == BATCH + 2


def test_a_resumed_training_has_the_epochs_of_earlier_runs(history):
    metrics = MlflowMetrics()
    metrics.on_epoch(record(8))  # seven were before
    metrics.close()
    assert history("loss") == curve(8)


def test_a_training_that_ended_in_an_earlier_run_has_its_curve(history):
    MlflowMetrics().catch_up(record(5))
    assert history("loss") == curve(5)


def test_the_curve_of_another_run_is_logged_whole(history):
    log_curve(pd.DataFrame({"epoch": range(700), "loss": record(700).losses, "seconds": 0.1}))
    assert history("loss") == curve(700)


def test_nothing_is_logged_without_a_run():
    MlflowMetrics().catch_up(record(5))
    log_curve(pd.DataFrame({"loss": [1.0], "seconds": [1.0]}))
    assert mlflow.active_run() is None


def test_a_trial_has_the_parameter_names_of_the_run_above(history):
    with nested_run("trial 0", {"training.learning_rate": 0.1}, "representation"):
        number = mlflow.active_run().info.run_id
    params = mlflow.MlflowClient().get_run(number).data.params
    assert params == {"representation.training.learning_rate": "0.1"}


@pytest.mark.parametrize(
    ("end", "status"),
    [(KeyboardInterrupt, "KILLED"), (SystemExit, "KILLED"), (UserError, "FAILED"), (None, "FINISHED")],
)
def test_a_trial_that_is_interrupted_is_killed_and_one_that_diverges_has_failed(history, end, status):
    with contextlib.suppress(KeyboardInterrupt, SystemExit, UserError), nested_run("trial 0", {}, "representation"):
        number = mlflow.active_run().info.run_id
        if end is not None:
            raise end
    assert mlflow.MlflowClient().get_run(number).info.status == status
    assert mlflow.active_run().info.run_id != number, "the run above goes on"
