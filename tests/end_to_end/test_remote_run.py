"""The project with its data folder on a storage that speaks S3, as two machines would use it."""

import os
import subprocess
import sys
import time
from pathlib import Path

import fsspec
import pytest

from figure_kedro.datasets.files.tensor_file import read_tensors
from figure_kedro.experiments.cells import Run, make, project_loader
from figure_kedro.experiments.shows import SHOWS
from figure_kedro.parts import flatten
from figure_kedro.runs.command import show_runs
from storage_server import new_bucket

PROJECT = Path(__file__).parents[2]

SMALL = {
    "dataset": "csbm",
    "source": {"nodes": 60, "splits": 1},
    "representation": {"dim": 4, "training": {"max_epochs": 3, "threads": 1}},
    "evaluation": {"trials": 6, "threads": 1},
}


@pytest.fixture
def bucket(s3_server):
    return f"{new_bucket()}/project"


def of_pattern(folder, pattern):
    (found,) = folder.glob(pattern)
    return found.read_bytes()


def test_a_run_begun_on_one_machine_ends_on_another_with_the_results_of_one_that_stayed(
    session, bucket, tmp_path, monkeypatch, capsys
):
    mirror = bucket.removeprefix("s3://")
    monkeypatch.setenv("FIGURE_REMOTE_CACHE", str(tmp_path / "first"))
    session(["representation"], data_folder=bucket, **SMALL)
    monkeypatch.setenv("FIGURE_REMOTE_CACHE", str(tmp_path / "second"))
    cell = {"data_folder": bucket, **flatten(SMALL)}
    assert make(str(PROJECT), cell, "evaluation").error == ""  # as a worker of an experiment does
    session(["evaluation"], data_folder=str(tmp_path / "stayed"), **SMALL)
    first, second = (tmp_path / machine / "s3" / mirror for machine in ("first", "second"))
    weights = "06_models/*/*/weights.safetensors"  # with the seconds of every epoch: nobody trained a second time
    assert of_pattern(first, weights) == of_pattern(second, weights)
    view = "07_model_output/*/*/embeddings/view_1.npy"
    assert of_pattern(first, view) == of_pattern(second, view) == of_pattern(tmp_path / "stayed", view)
    assert list(first.glob("08_reporting/*/*/split_scores.csv")) == []
    scores = "08_reporting/*/*/split_scores.csv"
    assert of_pattern(second, scores) == of_pattern(tmp_path / "stayed", scores)

    monkeypatch.setenv("FIGURE_REMOTE_CACHE", str(tmp_path / "third"))
    assert Run.of(project_loader(PROJECT), cell, SHOWS["score"]).exists()
    show_runs(PROJECT, {"data_folder": bucket}, datasets=(), key="", limit=1)
    assert f"{bucket}/07_model_output/csbm" in capsys.readouterr().out


@pytest.mark.slow
def test_a_machine_that_is_killed_in_training_is_followed_by_another_to_the_same_bits(bucket, tmp_path):
    long = "dataset=csbm,source.nodes=60,source.splits=1,representation.dim=4,representation.training.threads=1"
    long += ",representation.training.max_epochs=2000,representation.training.patience=2000"
    long += ",representation.training.checkpoint_seconds=0.2"

    def start(machine, folder):
        command = [sys.executable, "-m", "kedro", "run", "--pipelines=representation", "--params"]
        environment = {**os.environ, "FIGURE_REMOTE_CACHE": str(tmp_path / machine), "OMP_NUM_THREADS": "1"}
        return subprocess.Popen([*command, f"{long},data_folder={folder}"], cwd=PROJECT, env=environment)

    files, root = fsspec.core.url_to_fs(bucket)
    first = start("first", bucket)
    while first.poll() is None and not files.glob(f"{root}/06_models/*/*/checkpoint.safetensors"):
        files.invalidate_cache()
        time.sleep(0.1)
    assert first.poll() is None, "it ended before it could be killed"
    first.kill()
    first.wait()
    assert not files.glob(f"{root}/06_models/*/*/weights.safetensors")
    assert start("second", bucket).wait() == 0
    assert start("third", tmp_path / "stayed").wait() == 0
    weights = "06_models/*/*/weights.safetensors"
    (second,) = (tmp_path / "second").rglob(weights)
    (stayed,) = (tmp_path / "stayed").glob(weights)
    (ours, described), (theirs, undisturbed) = read_tensors(second), read_tensors(stayed)
    assert described["training"]["losses"] == undisturbed["training"]["losses"]
    assert all(tensor.equal(theirs[name]) for name, tensor in ours.items())


def test_a_bucket_that_is_not_there_is_one_line_before_anything_is_computed(command, s3_server, tmp_path, monkeypatch):
    monkeypatch.setenv("FIGURE_REMOTE_CACHE", str(tmp_path))
    ended = command("run", dataset="csbm", data_folder="s3://no-bucket-of-this-name/x")
    assert ended.exit_code == 2
    assert "there is no s3://no-bucket-of-this-name/x" in ended.output.splitlines()[-1]
    assert not list(tmp_path.rglob("03_primary"))
