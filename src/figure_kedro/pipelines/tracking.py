"""What a long node tells MLflow while it runs."""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import mlflow
from mlflow.entities import Metric
from mlflow.utils.time import get_current_time_millis

from figure_kedro.training.loop import TrainingRecord

BATCH = 500
"""Metrics a call: MLflow takes about as long for 500 as for 20 single ones."""


class MlflowMetrics:
    """Logs the loss and the time of every epoch to the active MLflow run, in batches; does nothing without a run."""

    def __init__(self) -> None:
        self._run = mlflow.active_run()
        self._waiting: list[Metric] = []

    def on_epoch(self, record: TrainingRecord) -> None:
        if self._run:
            now, step = get_current_time_millis(), record.epochs - 1
            self._waiting += [
                Metric("loss", record.losses[-1], now, step),
                Metric("epoch_seconds", record.seconds[-1], now, step),
            ]
            if len(self._waiting) >= BATCH:
                self._flush()

    def close(self) -> None:
        if self._waiting:
            self._flush()

    def _flush(self) -> None:
        if self._run is not None:
            mlflow.MlflowClient().log_batch(self._run.info.run_id, metrics=self._waiting)
        self._waiting = []


@contextmanager
def nested_run(name: str, settings: dict[str, Any]) -> Iterator[None]:
    """A run below the active one, for one trial of a search; nothing without an active run."""
    if not mlflow.active_run():
        yield
        return
    with mlflow.start_run(nested=True, run_name=name):
        mlflow.log_params(settings)
        yield


def log_metrics(metrics: dict[str, float], step: int | None = None) -> None:
    """Log numbers to the active run, if there is one."""
    if mlflow.active_run():
        mlflow.log_metrics(metrics, step=step)
