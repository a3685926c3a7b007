"""Ways to run the project as a user does, with every result in a temporary folder."""

import os
import shutil
import subprocess
import sys
from pathlib import Path

import mlflow
import pytest
from click.testing import CliRunner
from kedro.framework.cli.cli import KedroCLI
from kedro.framework.session import KedroSession
from kedro.framework.startup import bootstrap_project

from figure_kedro.datasets.files import tracking_database

PROJECT = Path(__file__).parents[2]


def as_option(params):
    return ",".join(f"{name}={value}" for name, value in params.items())


@pytest.fixture(scope="session", autouse=True)
def _empty_database(tmp_path_factory):
    """Runs inside of this process begin with a copy of one empty database, which MLflow takes a second to make."""
    empty, open_database = tmp_path_factory.mktemp("mlflow") / "empty.db", tracking_database._open
    open_database(empty)

    def copy_or_open(path):
        if path.exists():
            open_database(path)
        else:
            shutil.copy(empty, path)

    tracking_database._open = copy_or_open
    yield
    tracking_database._open = open_database


@pytest.fixture(scope="session")
def kedro():
    """The real command in a process of its own: ``kedro("run", data_folder=...)``; each start takes seconds."""

    def command(*arguments, **params):
        environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
        return subprocess.run(
            [sys.executable, "-m", "kedro", *arguments, "--params", as_option(params)],
            cwd=PROJECT,
            env=environment,
            capture_output=True,
            text=True,
            timeout=300,
            check=False,
        )

    return command


@pytest.fixture
def command(_own_tracking):
    """The same command inside this process."""

    def invoke(*arguments, **params):
        return CliRunner().invoke(KedroCLI(PROJECT), [*arguments, "--params", as_option(params)])

    return invoke


@pytest.fixture
def session(_own_tracking):
    """A run as a notebook starts it: ``session(["data_processing"], dataset="csbm", source={"nodes": 50})``."""

    def run(pipelines, **params):
        bootstrap_project(PROJECT)
        with KedroSession.create(PROJECT, runtime_params=params) as kedro_session:
            return kedro_session.run(pipeline_names=pipelines)

    return run


@pytest.fixture
def _own_tracking(monkeypatch):
    """Undo what MLflow and Kedro leave in a process after a run."""
    environment, tracking_uri = dict(os.environ), mlflow.get_tracking_uri()
    monkeypatch.setattr("mlflow.tracking.fluent._active_experiment_id", None)
    os.environ.pop("MLFLOW_TRACKING_URI", None)
    yield
    while mlflow.active_run():
        mlflow.end_run()
    mlflow.set_tracking_uri(tracking_uri)
    os.environ.clear()
    os.environ.update(environment)
