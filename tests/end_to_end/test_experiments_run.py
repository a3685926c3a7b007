"""``kedro experiment`` as a user runs it: many runs become tables, are made once, resumed, and fail in one line."""

import json
import os
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path

import mlflow
import psutil
import pytest
from click.testing import CliRunner
from kedro.framework.cli.cli import KedroCLI

PROJECT = Path(__file__).parents[2]
FAILING = """
failing:
  title: One cell cannot be made
  settings: {dataset: csbm, source.nodes: 120, representation.method: propagation}
  columns: {score: {evaluation.trials: 1, evaluation.splits: 1}}
  rows:
    impossible: {source.classes: 3, evaluation.metric: roc_auc}
    possible: {source.classes: 3}
"""
SHARED = """
shared:
  title: Two cells with the same embeddings
  settings:
    {dataset: csbm, source.nodes: 200, representation.dim: 8, representation.training.max_epochs: 30,
     evaluation.splits: 1}
  columns: {score: {}}
  rows: {one: {evaluation.trials: 1}, two: {evaluation.trials: 2}}
"""
LONG = """
long:
  title: Cells that take a while
  settings:
    {dataset: csbm, source.nodes: 400, representation.method: dgi, representation.dim: 64,
     representation.training.max_epochs: 400, representation.training.patience: 400, evaluation.trials: 2,
     evaluation.splits: 1}
  columns: {score: {}}
  rows: {one: {source.homophily: 0.1}, two: {source.homophily: 0.3}, three: {source.homophily: 0.7}}
"""


@pytest.fixture(scope="module")
def project(tmp_path_factory):
    """A project folder with experiments of the user's; the package is the one under test."""
    folder = tmp_path_factory.mktemp("project")
    shutil.copytree(PROJECT / "conf" / "base", folder / "conf" / "base")
    shutil.copy(PROJECT / "conf" / "logging.yml", folder / "conf")
    shutil.copy(PROJECT / "pyproject.toml", folder)
    (folder / "src").mkdir()
    for name, text in {"failing": FAILING, "shared": SHARED, "long": LONG}.items():
        file = folder / "conf" / "local" / "experiments" / f"{name}.yml"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
    return folder


def options(params):
    return ["--params", ",".join(f"{name}={value}" for name, value in params.items())] if params else []


def start(project, *arguments, **params):
    """The real command in a process group of its own."""
    return subprocess.Popen(
        [sys.executable, "-m", "kedro", "experiment", *arguments, *options(params)],
        cwd=project,
        env={name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
        | {"DO_NOT_TRACK": "1"},
        start_new_session=True,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
    )


def finish(process, code=0):
    output, _ = process.communicate(timeout=240)
    assert process.returncode == code, output
    assert "Traceback" not in output
    return output


def experiment(project, *arguments, code=0, **params):
    """The real command, which takes seconds to start."""
    return finish(start(project, *arguments, **params), code)


@pytest.fixture
def inside(_own_tracking, project):
    """The same command inside of this process."""

    def invoke(*arguments, code=0, **params):
        result = CliRunner().invoke(KedroCLI(project), ["experiment", *arguments, *options(params)])
        assert result.exit_code == code, result.output
        assert "Traceback" not in result.output
        return result.output

    return invoke


def journal(data):
    path = data / "08_reporting" / "experiments" / "runs.jsonl"
    return [json.loads(line) for line in path.read_text().splitlines()] if path.exists() else []


def numbers(data):
    """All scores of all runs by their keys, without times."""
    read = {path.parent.name: json.loads(path.read_text()) for path in data.glob("08_reporting/csbm/*/summary.json")}
    return {key: (summary["test_mean"], summary["val_mean"], summary["per_split"]) for key, summary in read.items()}


def files(folder):
    return {path: path.stat().st_mtime_ns for path in folder.rglob("*") if path.is_file()}


@pytest.fixture(scope="module")
def smoke(project):
    """What ``kedro experiment run smoke`` says, in the project's own data folder."""
    return experiment(project, "run", "smoke")


def test_four_cells_and_all_pages_are_made(project, smoke):
    assert "smoke: 4 cells, 4 runs, 0 are there" in smoke
    assert "runs: 4 of 4" in smoke
    assert len(numbers(project / "data")) == len(journal(project / "data")) == 4
    folder = project / "data" / "08_reporting" / "experiments" / "smoke"
    assert {path.name for path in folder.iterdir()} == {f"smoke.{ending}" for ending in ("html", "md", "tex", "csv")}
    for mean, _, _ in numbers(project / "data").values():
        assert f"{mean:.2f}" in (folder / "smoke.md").read_text()


def test_mlflow_has_a_run_with_one_below_for_every_cell_and_the_report(project, smoke):
    client = mlflow.MlflowClient(f"sqlite:///{project / 'data' / 'mlflow' / 'mlflow.db'}")
    number = client.get_experiment_by_name("experiments").experiment_id
    runs = client.search_runs([number], max_results=1000)
    (parent,) = [run for run in runs if run.info.run_name == "smoke" and run.data.metrics.get("cells") == 4]
    below = [run for run in runs if run.data.tags.get("mlflow.parentRunId") == parent.info.run_id]
    assert {run.info.run_id for run in below} == {line["run_id"] for line in journal(project / "data")[:4]}
    assert {run.data.metrics["test_mean"] for run in below} == {
        mean for mean, _, _ in numbers(project / "data").values()
    }
    assert {run.info.status for run in [parent, *below]} == {"FINISHED"}
    names = {artefact.path for artefact in client.list_artifacts(parent.info.run_id)}
    assert {"smoke.html", "smoke.md", "smoke.tex", "smoke.csv"} <= names


def test_a_second_time_nothing_is_made_again(project, smoke, inside):
    data = project / "data"
    before, lines = files(data / "08_reporting" / "csbm"), len(journal(data))
    output = inside("run", "smoke", "--workers", "2")
    assert "4 are there" in output
    assert files(data / "08_reporting" / "csbm") == before
    assert len(journal(data)) == lines
    client = mlflow.MlflowClient(f"sqlite:///{data / 'mlflow' / 'mlflow.db'}")
    number = client.get_experiment_by_name("experiments").experiment_id
    newest, *_ = client.search_runs([number], "run_name = 'smoke'", max_results=10)
    below = client.search_runs([number], f"tags.`mlflow.parentRunId` = '{newest.info.run_id}'")
    places = {f"smoke: {method} / homophily {share}" for method in ("DGI", "FiGURe") for share in (0.1, 0.9)}
    assert {run.data.tags["cells"] for run in below} == places, "the comparison is the table this time, too"


def test_a_kept_page_is_added_to_and_other_settings_have_a_report_of_their_own(project, smoke, inside, tmp_path):
    page, reports = tmp_path / "page", project / "data" / "08_reporting" / "experiments"
    inside("report", "smoke", "--output", str(page))
    inside("report", "shared", "--output", str(page))
    text = (page / "results.md").read_text()
    assert text.index("## Smoke test") < text.index("## Two cells with the same embeddings")
    assert "Not measured: one, score: kedro run --pipelines=evaluation" in text.replace("\\", "")
    refused = inside("report", "smoke", "--output", str(page), "--trials", "1", code=2)
    assert "has a page with other --params (none); take another --output" in refused
    before = files(reports / "smoke")
    inside("report", "smoke", "--trials", "1")
    assert files(reports / "smoke") == before
    assert (
        "0 of 4 cells measured" in (reports / "smoke-evaluation.trials-1" / "smoke-evaluation.trials-1.md").read_text()
    )
    told = inside("status", "smoke", "--records", str(page), data_folder=tmp_path / "none")
    assert ["smoke", "4", "4", "0", "0"] in [line.split() for line in told.splitlines()]


def test_a_dry_run_tells_and_writes_nothing(inside, tmp_path):
    output = inside("run", "smoke", "--dry-run", data_folder=tmp_path / "dry")
    assert "4 runs to make" in output
    assert output.count("kedro run --pipelines=evaluation") == 4
    assert not (tmp_path / "dry").exists()


def test_two_workers_reach_the_numbers_of_one_process_bit_for_bit(project, smoke, inside, tmp_path):
    inside("run", "smoke", "--workers", "2", data_folder=tmp_path)
    alone = numbers(project / "data")
    assert {key: alone[key] for key in numbers(tmp_path)} == numbers(tmp_path)
    assert len(numbers(tmp_path)) == 4


@pytest.mark.slow
def test_workers_that_train_the_same_encoder_at_once_do_not_disturb_each_other(project, tmp_path):
    experiment(project, "run", "shared", "--workers", "2", data_folder=tmp_path / "two")
    experiment(project, "run", "shared", data_folder=tmp_path / "one")
    assert numbers(tmp_path / "two") == numbers(tmp_path / "one")
    assert len(numbers(tmp_path / "one")) == 2


def test_a_cell_that_fails_is_told_in_one_line_and_the_others_are_done(inside, tmp_path):
    output = inside("run", "failing", code=2, data_folder=tmp_path)
    reason = "roc_auc needs two classes"
    assert len([line for line in output.splitlines() if reason in line]) == 1
    assert "some runs failed" in output
    assert len(numbers(tmp_path)) == 1
    assert [bool(line["error"]) for line in journal(tmp_path)] == [True, False]
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path / 'mlflow' / 'mlflow.db'}")
    number = client.get_experiment_by_name("experiments").experiment_id
    states = {run.info.run_name: run.info.status for run in client.search_runs([number])}
    assert states["failing"] == "FAILED"
    folder = tmp_path / "08_reporting" / "experiments" / "failing"
    for ending in ("html", "md", "csv"):
        assert reason.replace("_", "") in (folder / f"failing.{ending}").read_text().replace("\\", "").replace("_", "")
    status = inside("status", "failing", data_folder=tmp_path)
    assert ["failing", "2", "1", "1", "0"] in [line.split() for line in status.splitlines()]


def until(condition, process, seconds=240):
    end = time.monotonic() + seconds
    while not condition():
        assert process.poll() is None, process.communicate()[0]
        assert time.monotonic() < end, "it took too long"
        time.sleep(0.05)


def descendants(process):
    return psutil.Process(process.pid).children(recursive=True)


def test_a_command_that_is_killed_is_finished_by_the_same_command_with_the_same_numbers(project, inside, tmp_path):
    killed, whole = tmp_path / "killed", tmp_path / "whole"
    process = start(project, "run", "long", "--workers", "2", data_folder=killed)
    until(lambda: journal(killed), process)
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    assert len(numbers(killed)) < 3, "there was nothing left to kill"
    experiment(project, "run", "long", "--workers", "2", data_folder=killed)
    inside("run", "long", data_folder=whole)
    assert numbers(killed) == numbers(whole)
    assert len(numbers(whole)) == 3


@pytest.mark.parametrize("workers", [1, 2])
def test_an_interrupt_ends_all_at_once_and_says_nothing_ugly(workers, project, tmp_path):
    process = start(project, "run", "long", "--workers", str(workers), data_folder=tmp_path)
    until(lambda: list(tmp_path.glob("06_models/csbm/*")), process)
    workers = descendants(process)
    os.killpg(process.pid, signal.SIGINT)
    began = time.monotonic()
    output, _ = process.communicate(timeout=60)
    assert process.returncode != 0
    assert psutil.wait_procs(workers, timeout=10)[1] == []
    assert "Traceback" not in output
    assert "Error" not in output
    assert "the same command goes on where this one was" in output
    assert time.monotonic() - began < 30
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path / 'mlflow' / 'mlflow.db'}")
    number = client.get_experiment_by_name("experiments").experiment_id
    assert {run.info.status for run in client.search_runs([number])} == {"KILLED"}


def test_a_mistake_is_one_line(inside):
    output = inside("run", "smok", code=2)
    assert "there is no experiment 'smok'; did you mean 'smoke'?" in output
    output = inside("run", "smoke", "--dry-run", code=2, **{"source.homophily": 0.5})
    assert "source.homophily is what tells its cells apart; leave it out of --params" in output
    output = inside("run", "--ray", "smoke", "shared", code=2)
    assert "--ray 'smoke' is no address" in output
    output = inside("run", "smoke", "--workers", "9999", code=2)
    assert "9999 workers on" in output


def test_an_environment_has_experiments_of_its_own(project, inside, monkeypatch, tmp_path):
    monkeypatch.setenv("KEDRO_ENV", "")  # what the command sets is gone after the test
    file = project / "conf" / "lab" / "experiments" / "other.yml"
    file.parent.mkdir(parents=True)
    file.write_text(SHARED.replace("shared:", "other:"))
    assert "there is no experiment 'other'" in inside("status", "other", code=2)
    assert "--env=lab" in inside("run", "other", "--dry-run", "--env", "lab", data_folder=tmp_path)
