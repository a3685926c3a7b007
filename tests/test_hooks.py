"""What happens around a run."""

import io
import logging
import signal
import sqlite3
import subprocess
import sys

import pytest
from kedro.io import DatasetError
from rich.console import Console
from rich.logging import RichHandler
from sqlalchemy.exc import OperationalError

from figure_kedro.cli import CommandError
from figure_kedro.errors import UserError
from figure_kedro.hooks import ProjectHooks
from figure_kedro.log_noise import silence, worth_saying
from figure_kedro.tracking.interrupt import end_as_killed_on_interrupt, restore

INTERRUPTED = """
import sys, time
import mlflow
from figure_kedro.tracking.interrupt import end_as_killed_on_interrupt

mlflow.set_tracking_uri(sys.argv[1])
mlflow.start_run()
end_as_killed_on_interrupt()
exec(sys.argv[2], {"__name__": sys.argv[3]})
time.sleep(60)
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


@pytest.mark.parametrize(("place", "said"), [("figure_kedro.training", ""), ("mlflow.store", "written\n")])
def test_interrupted_run_is_recorded_as_killed_and_what_mlflow_is_doing_comes_to_its_end(tmp_path, place, said):
    database = tmp_path / "mlflow.db"
    work = "import os, signal; os.kill(os.getpid(), signal.SIGINT); print('written', flush=True)"
    command = [sys.executable, "-c", INTERRUPTED, f"sqlite:///{database}", work, place]
    result = subprocess.run(command, cwd=tmp_path, capture_output=True, text=True, timeout=120, check=False)
    assert "KeyboardInterrupt" in result.stderr, result.stderr
    assert result.stdout == said
    with sqlite3.connect(database) as connection:
        assert connection.execute("select status from runs").fetchall() == [("KILLED",)]


def test_mistake_that_kedro_has_wrapped_is_one_line():
    with pytest.raises(CommandError) as error:
        ProjectHooks().on_pipeline_error(wrapped())
    assert (error.value.format_message(), error.value.exit_code) == ("node 'a' has no label", 2)
    assert isinstance(error.value, UserError)


def test_other_errors_are_left_to_kedro():
    assert ProjectHooks().on_pipeline_error(RuntimeError("a bug")) is None


def test_signal_handlers_are_put_back():
    before = signal.getsignal(signal.SIGTERM)
    handlers = end_as_killed_on_interrupt()
    assert signal.getsignal(signal.SIGTERM) is not before
    restore(handlers)
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


def test_a_full_disk_is_told_once_and_not_by_mlflow_too():
    report = record("SQLAlchemy database error", logging.ERROR)
    try:
        raise OperationalError("UPDATE", {}, sqlite3.OperationalError("database or disk is full"))
    except OperationalError:
        assert not worth_saying(report)
    assert worth_saying(report)


def test_settings_of_the_project_are_read_without_torch_and_optuna():
    """Kedro reads them for every command, ``kedro --version`` too; only what a plugin imports by itself takes time."""
    code = "import sys, figure_kedro.settings; print({'torch', 'optuna', 'torch_geometric'} & set(sys.modules))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "set()"


def test_names_are_no_markup_also_where_kedro_logs_in_its_own_way(monkeypatch):
    said = io.StringIO()
    handler = RichHandler(markup=True, console=Console(file=said, width=200))  # as without conf/logging.yml
    monkeypatch.setattr(logging.getLogger(), "handlers", [handler])
    silence()
    logging.getLogger("figure_kedro.graph").warning("column %r of %s", "[/x]", "[bold].csv")
    assert "column '[/x]' of [bold].csv" in said.getvalue()
