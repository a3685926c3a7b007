"""The runs that a data folder holds."""

import os

import pandas as pd
import pytest

from figure_kedro.datasets.run_index import RunIndex
from figure_kedro.errors import UserError
from figure_kedro.reporting.record import RunRecord
from figure_kedro.runs.found import find_runs, one_run


def leave(data, dataset, key, *, time, test=None, indexed=True):
    """Leave what a run leaves: embeddings, and a record if it was evaluated."""
    embeddings, report = data / "07_model_output" / dataset / f"{key}-e", data / "08_reporting" / dataset / key
    embeddings.mkdir(parents=True)
    if test is not None:
        report.mkdir(parents=True)
        record = RunRecord.of_run(
            dataset=dataset,
            method="figure",
            dimension=8,
            projection="none",
            splits=pd.DataFrame({"split": [0], "test_accuracy": [test], "val_accuracy": [test]}),
            timing={},
            storage_mb=0.0,
            data_checksum="0",
            settings={},
        )
        (report / "summary.json").write_text(record.model_dump_json())
    if indexed:
        RunIndex(data / "runs" / dataset / f"figure-8-{key}", key, {"embeddings": embeddings, "report": report}).write()
    for path in data.rglob(f"*{key}/*.json"):
        os.utime(path, (time, time))


@pytest.fixture
def data(tmp_path):
    leave(tmp_path, "cora", "aaaa", time=100, test=0.5)
    leave(tmp_path, "cora", "aabb", time=300)
    leave(tmp_path, "csbm", "cccc", time=200, test=0.75, indexed=False)
    return tmp_path


def test_runs_come_newest_first_evaluated_or_not_and_also_those_without_an_index(data):
    runs = find_runs(data)
    assert [run.key for run in runs] == ["aabb", "cccc", "aaaa"]
    assert [run.record and run.record.test_mean for run in runs] == [None, 75.0, 50.0]
    assert [run.name for run in runs] == ["figure 8", "", "figure 8"]
    assert [set(run.paths) for run in runs] == [
        {"run folder", "embeddings"},
        {"report"},
        {"run folder", "embeddings", "report"},
    ]


def test_runs_of_one_data_set(data):
    assert [run.key for run in find_runs(data, ["csbm"])] == ["cccc"]
    assert find_runs(data / "nowhere") == []


def test_the_first_letters_of_a_key_are_enough_unless_two_runs_have_them(data):
    runs = find_runs(data)
    assert one_run(runs, "c").key == "cccc"
    with pytest.raises(UserError, match="2 runs have a key that begins with 'aa'; give more of it"):
        one_run(runs, "aa")
    with pytest.raises(UserError, match="there is no run with the key 'x'"):
        one_run(runs, "x")
