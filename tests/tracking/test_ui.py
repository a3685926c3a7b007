"""``kedro mlflow ui`` and the command that a run prints open the same records."""

import shlex
import sys
from pathlib import Path

import pytest
from click.testing import CliRunner
from kedro.framework.cli.cli import KedroCLI

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.settings import CONFIG_LOADER_ARGS
from figure_kedro.tracking.ui import ui_command

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def started(monkeypatch):
    """The commands that were started in place of a server."""
    commands = []
    monkeypatch.setattr("figure_kedro.tracking.ui.subprocess.run", lambda command, **_: commands.append(command))
    monkeypatch.chdir(PROJECT)
    return commands


def invoke(*arguments):
    return CliRunner().invoke(KedroCLI(PROJECT), ["mlflow", *arguments])


def loader(**given):
    return ProjectConfigLoader(str(PROJECT / "conf"), runtime_params=given, **CONFIG_LOADER_ARGS)


def test_what_a_run_prints_opens_the_records_of_its_data_folder(started, tmp_path):
    folder = tmp_path / "my data"
    (folder / "mlflow").mkdir(parents=True)
    (folder / "mlflow" / "mlflow.db").touch()
    printed = shlex.split(ui_command(loader(data_folder=str(folder))))
    assert printed[:3] == ["kedro", "mlflow", "ui"]
    assert invoke(*printed[2:], "--port", "5001").exit_code == 0
    (command,) = started
    assert command[:4] == [sys.executable, "-m", "mlflow", "ui"]
    options = dict(zip(command[4::2], command[5::2], strict=True))
    assert options["--backend-store-uri"] == f"sqlite:///{folder}/mlflow/mlflow.db"
    assert (options["--host"], options["--port"]) == ("127.0.0.1", "5001")


def test_a_run_in_the_usual_folder_prints_three_words():
    assert ui_command(loader()) == "kedro mlflow ui"


def test_outside_of_a_project_a_run_prints_mlflows_own_command(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert ui_command(loader(data_folder=str(tmp_path))) == (
        "mlflow ui --workers 1 --backend-store-uri sqlite:///mlflow/mlflow.db --host 127.0.0.1"
    )


def test_a_folder_without_runs_is_one_line_and_stays_as_it_is(started, tmp_path):
    answer = invoke("ui", "--params", f"data_folder={tmp_path}/none")
    assert (answer.exit_code, started) == (2, [])
    assert f"there are no runs in {tmp_path}/none yet" in answer.output
    assert not (tmp_path / "none").exists()


def test_the_other_commands_of_kedro_mlflow_are_there(started):
    assert {"init", "modelify", "ui"} <= set(invoke("--help").output.split())
