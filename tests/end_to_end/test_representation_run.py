"""Training as a user runs it: interrupted, killed, resumed."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from pathlib import Path

import pandas as pd
import pytest

from figure_kedro.datasets.files.tensor_file import read_tensors
from figure_kedro.estimator import FiGURe

PROJECT = Path(__file__).parents[2]
EPOCHS = 200
PARAMS = {
    "dataset": "csbm",
    "source.nodes": 1000,
    "representation.dim": 64,
    "representation.training.max_epochs": EPOCHS,
    "representation.training.patience": EPOCHS,
    "representation.training.threads": 1,
    "representation.training.checkpoint_seconds": 0.05,
}
PIPELINES = "--pipelines=data_processing,representation"


def start(folder):
    params = ",".join(f"{name}={value}" for name, value in {**PARAMS, "data_folder": folder}.items())
    command = [sys.executable, "-m", "kedro", "run", PIPELINES, "--params", params]
    environment = {name: value for name, value in os.environ.items() if name != "MLFLOW_TRACKING_URI"}
    return subprocess.Popen(command, cwd=PROJECT, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)


def stop_in_training(folder, number):
    """Start a run and send it a signal after its next checkpoint; return the epochs of that checkpoint."""
    before = epochs(folder)
    process = start(folder)
    deadline = time.monotonic() + 120
    while epochs(folder) <= before and time.monotonic() < deadline:
        time.sleep(0.02)
    process.send_signal(number)
    process.wait(timeout=60)
    assert process.returncode != 0
    return epochs(folder)


def epochs(folder):
    paths = list(folder.glob("06_models/csbm/*/checkpoint.safetensors"))
    return len(read_tensors(paths[0])[1]["record"]["losses"]) if paths else 0


def model_folder(folder):
    (path,) = folder.glob("06_models/csbm/*/weights.safetensors")
    return path.parent


@pytest.fixture(scope="module")
def uninterrupted(tmp_path_factory):
    folder = tmp_path_factory.mktemp("uninterrupted")
    assert start(folder).wait(timeout=300) == 0
    return folder


def test_interrupted_and_killed_run_ends_with_the_weights_of_an_uninterrupted_one(uninterrupted, tmp_path):
    interrupted = stop_in_training(tmp_path, signal.SIGINT)
    killed = stop_in_training(tmp_path, signal.SIGKILL)
    assert 0 < interrupted < killed < EPOCHS
    assert start(tmp_path).wait(timeout=300) == 0

    with sqlite3.connect(tmp_path / "mlflow" / "mlflow.db") as database:
        statuses = [row[0] for row in database.execute("select status from runs order by start_time")]
    assert statuses[0] == "KILLED"
    assert statuses[-1] == "FINISHED"

    weights, description = read_tensors(model_folder(tmp_path) / "weights.safetensors")
    expected, expected_description = read_tensors(model_folder(uninterrupted) / "weights.safetensors")
    assert weights.keys() == expected.keys()
    assert all((weights[name] == expected[name]).all() for name in weights)
    assert description["training"]["losses"] == expected_description["training"]["losses"]


def test_training_leaves_what_it_promises(uninterrupted):
    folder = model_folder(uninterrupted)
    assert (folder / "settings.json").exists()
    key = folder.name
    curve = pd.read_csv(uninterrupted / "08_reporting" / "csbm" / key / "loss_curve.csv")
    assert len(curve) == EPOCHS
    assert (uninterrupted / "08_reporting" / "csbm" / key / "timing.json").exists()
    tables = uninterrupted / "07_model_output" / "csbm" / key / "embeddings"
    assert sorted(path.stem for path in tables.glob("*.parquet")) == ["A", "A^2", "A^3", "I"]
    assert FiGURe.load(folder).settings.dim == 64
    with sqlite3.connect(uninterrupted / "mlflow" / "mlflow.db") as database:
        (steps,) = database.execute("select count(*) from metrics where key = 'loss'").fetchone()
    assert steps == EPOCHS
