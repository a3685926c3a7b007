"""What a long node tells MLflow while it runs."""

from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

import mlflow
import pandas as pd
from mlflow.entities import Metric
from mlflow.utils.time import get_current_time_millis

from figure_kedro.tracking.words import as_params
from figure_kedro.training.loop import TrainingRecord

BATCH = 250
"""Epochs a call: MLflow takes about as long for 500 numbers as for 20 single ones."""


class MlflowMetrics:
    """Logs the loss and the time of every epoch to the active MLflow run, in batches; does nothing without a run.

    Of a training that is resumed it logs the epochs of earlier runs too, so that every run has the whole curve.
    """

    def __init__(self) -> None:
        self._run = mlflow.active_run()
        self._logged = 0
        self._record = TrainingRecord()

    def on_epoch(self, record: TrainingRecord) -> None:
        self._record = record
        if record.epochs - self._logged >= BATCH:
            self.close()

    def close(self) -> None:
        first, self._logged = self._logged, self._record.epochs
        if self._run is not None:
            _log_epochs(self._run.info.run_id, self._record.losses, self._record.seconds, first)

    def catch_up(self, record: TrainingRecord) -> None:
        """Log what is missing of a training that has ended, perhaps in an earlier run."""
        self._record = record
        self.close()


def log_curve(curve: pd.DataFrame) -> None:
    """Log the loss curve of an earlier run to the active run."""
    run = mlflow.active_run()
    if run is not None and len(curve):
        _log_epochs(run.info.run_id, curve["loss"].tolist(), curve["seconds"].tolist())


def _log_epochs(run_id: str, losses: Sequence[float], seconds: Sequence[float], first: int = 0) -> None:
    client, now = mlflow.MlflowClient(), get_current_time_millis()
    for start in range(first, len(losses), BATCH):
        steps = range(start, min(start + BATCH, len(losses)))
        values = [("loss", losses, step) for step in steps] + [("epoch_seconds", seconds, step) for step in steps]
        client.log_batch(run_id, metrics=[Metric(name, of[step], now, step) for name, of, step in values])


@contextmanager
def nested_run(name: str, settings: Mapping[str, Any], group: str) -> Iterator[None]:
    """A run below the active one, for one trial of a search; nothing without an active run.

    Args:
        name: Of the trial.
        settings: What is tried, by path.
        group: Of the parameters that these are settings of, so that they have the names of the run above.
    """
    if not mlflow.active_run():
        yield
        return
    with mlflow.start_run(nested=True, run_name=name):
        mlflow.log_params(as_params(settings, f"{group}."))
        try:
            yield
        except (KeyboardInterrupt, SystemExit):
            mlflow.end_run("KILLED")  # MLflow itself would call it failed
            raise


def log_metrics(metrics: dict[str, float], step: int | None = None) -> None:
    """Log numbers to the active run, if there is one."""
    if mlflow.active_run():
        mlflow.log_metrics(metrics, step=step)
