"""What happens around a run."""

import logging
import signal
import sqlite3
import subprocess
import sys

import pytest
from kedro.io import DatasetError

from figure_kedro.cli import CommandError
from figure_kedro.errors import UserError
from figure_kedro.hooks import ProjectHooks
from figure_kedro.log_noise import worth_saying

INTERRUPTED = """
import os, signal, sys
import mlflow
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline
from figure_kedro.hooks import ProjectHooks
from figure_kedro.parameters import check_parameters

mlflow.set_tracking_uri(sys.argv[1])
hooks = ProjectHooks()
hooks._parameters = check_parameters({"dataset": "some", "source": {"kind": "csbm"}})
mlflow.start_run()
hooks.before_pipeline_run({}, Pipeline([]), DataCatalog())
os.kill(os.getpid(), signal.SIGINT)
"""


def wrapped():
    """An error as Kedro hands it on: the mistake is its cause."""
    try:
        try:
            raise UserError("node 'a' has no label")
        except UserError as error:
            raise DatasetError("failed while loading") from error
    except DatasetError as error:
        return error


def record(message, level=logging.WARNING):
    return logging.LogRecord("kedro.runner", level, __file__, 1, message, (), None)


def test_interrupted_run_is_recorded_as_killed(tmp_path):
    database = tmp_path / "mlflow.db"
    command = [sys.executable, "-c", INTERRUPTED, f"sqlite:///{database}"]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "KeyboardInterrupt" in result.stderr, result.stderr
    with sqlite3.connect(database) as connection:
        assert connection.execute("select status from runs").fetchall() == [("KILLED",)]
        assert ("source.kind", "csbm") in connection.execute("select key, value from params").fetchall()


def test_mistake_that_kedro_has_wrapped_is_one_line():
    with pytest.raises(CommandError) as error:
        ProjectHooks().on_pipeline_error(wrapped())
    assert (error.value.format_message(), error.value.exit_code) == ("node 'a' has no label", 2)
    assert isinstance(error.value, UserError)


def test_other_errors_are_left_to_kedro():
    assert ProjectHooks().on_pipeline_error(RuntimeError("a bug")) is None


def test_signal_handlers_are_put_back():
    hooks = ProjectHooks()
    before = signal.getsignal(signal.SIGTERM)
    hooks._handlers = {signal.SIGTERM: signal.signal(signal.SIGTERM, signal.SIG_IGN)}
    hooks.on_pipeline_error(RuntimeError("a bug"))
    assert signal.getsignal(signal.SIGTERM) is before


def test_kedro_does_not_report_a_users_mistake_a_second_time():
    report = record("Node x failed with error", logging.ERROR)
    assert worth_saying(report)
    try:
        raise wrapped()
    except DatasetError:
        assert not worth_saying(report)
        assert worth_saying(record("Running node: y", logging.INFO))
    try:
        raise RuntimeError("a bug")
    except RuntimeError:
        assert worth_saying(report)


def test_advice_that_nobody_can_follow_is_left_out():
    assert not worth_saying(record("Add type hints to the `predict` method to enable data validation"))
    assert worth_saying(record("duplicate edges were dropped"))
