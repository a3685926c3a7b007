"""A run whose splits are evaluated by other processes leaves the files of one that does all by itself."""

import shutil

import pandas as pd
import pytest

from figure_kedro.execution import local

SMALL = {
    "dataset": "csbm",
    "source": {"nodes": 120},
    "representation": {"dim": 4, "training": {"max_epochs": 3, "threads": 1}},
    "evaluation": {"trials": 6, "splits": 3, "threads": 1},
}


@pytest.fixture
def evaluated(session, tmp_path):
    """Runs everything up to evaluation, and returns what that has left."""

    def run(**execution):
        session(["evaluation"], data_folder=str(tmp_path), execution=execution, **SMALL)
        (scores,) = tmp_path.glob("08_reporting/csbm/*/split_scores.csv")
        (trials,) = tmp_path.glob("07_model_output/csbm/*/evaluation_trials.journal")
        alphas, predictions = scores.with_name("split_alphas.csv"), trials.with_name("split_predictions.parquet")
        left = {path.name for path in trials.parent.iterdir()}
        texts = scores.read_bytes(), alphas.read_bytes(), pd.read_parquet(predictions).to_csv(), left
        shutil.rmtree(scores.parent)
        shutil.rmtree(trials.parent)
        return texts

    return run


def test_local_processes_leave_the_files_of_this_one(evaluated, monkeypatch):
    monkeypatch.setattr(local, "allowed_cores", lambda: 2)
    assert evaluated(backend="local", workers=2) == evaluated()
