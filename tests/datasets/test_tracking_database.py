"""MLflow's database: there whole or not at all, however many runs are the first."""

import sqlite3
import subprocess
import sys

import pytest
from mlflow import MlflowClient

from figure_kedro.datasets.files import tracking_database
from figure_kedro.datasets.files.tracking_database import ensure_database
from figure_kedro.errors import UserError

FIRST_RUN = """
import sys
from pathlib import Path
import mlflow
from figure_kedro.datasets.files.tracking_database import ensure_database

sys.stdin.readline()  # all set off together
ensure_database(Path(sys.argv[1]))
mlflow.set_tracking_uri(f"sqlite:///{sys.argv[1]}")
mlflow.set_experiment("first")
with mlflow.start_run():
    mlflow.log_param("who", sys.argv[2])
"""


def test_first_runs_at_the_same_time_are_all_recorded(tmp_path):
    database = tmp_path / "mlflow.db"
    command = [sys.executable, "-c", FIRST_RUN, str(database)]
    pipes = {"stdin": subprocess.PIPE, "stderr": subprocess.PIPE, "text": True}
    runs = [subprocess.Popen([*command, str(i)], **pipes) for i in range(2)]
    for run in runs:
        run.stdin.write("\n")
        run.stdin.flush()
    errors = [run.communicate(timeout=120)[1] for run in runs]
    assert [run.returncode for run in runs] == [0, 0], errors
    with sqlite3.connect(database) as connection:
        assert {value for (value,) in connection.execute("select value from params")} == {"0", "1"}
    assert list(tmp_path.iterdir()) == [database]


def test_what_was_recorded_stays(tmp_path):
    database = tmp_path / "mlflow.db"
    ensure_database(database)
    MlflowClient(tracking_uri=f"sqlite:///{database}").create_experiment("mine")
    ensure_database(database)
    with sqlite3.connect(database) as connection:
        assert ("mine",) in connection.execute("select name from experiments").fetchall()


def test_file_that_mlflow_cannot_use_is_one_line_and_stays(tmp_path):
    database = tmp_path / "mlflow.db"
    database.write_text("a file that is no database")
    with pytest.raises(UserError, match=r"cannot use .*mlflow\.db \(.*not a database\); move it away"):
        ensure_database(database)
    assert database.read_text() == "a file that is no database"


def test_database_that_was_left_half_made_is_one_line(tmp_path):
    database = tmp_path / "mlflow.db"
    with sqlite3.connect(database) as connection:
        connection.execute("create table experiments (experiment_id integer primary key)")
    with pytest.raises(UserError, match="move it away"):
        ensure_database(database)


def test_file_system_without_links(tmp_path, monkeypatch):
    def refuse(*paths):
        raise OSError("no links here")

    monkeypatch.setattr(tracking_database.os, "link", refuse)
    ensure_database(tmp_path / "mlflow.db")
    with sqlite3.connect(tmp_path / "mlflow.db") as connection:
        assert connection.execute("select count(*) from experiments").fetchone() == (1,)
