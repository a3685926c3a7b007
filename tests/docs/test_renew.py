"""The page of results: nothing on it that is not in the record, and rows that can be renewed one by one."""

import importlib.util
import json
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

SCRIPT = Path(__file__).parents[2] / "docs" / "renew.py"


@pytest.fixture
def renew():
    spec = importlib.util.spec_from_file_location("renew", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_page_is_what_the_record_gives(renew):
    assert renew.PAGE.read_text() == renew.page(renew.recorded())


def test_a_run_replaces_the_row_with_its_command_and_no_other(renew, tmp_path, monkeypatch):
    first, second = renew.recorded()[:2]
    for name in ("RECORD", "PAGE"):
        monkeypatch.setattr(renew, name, tmp_path / name)
    renew.RECORD.write_text(json.dumps(first) + "\n" + json.dumps(second) + "\n")
    settings = dict(reversed(second["settings"].items()))
    settings["features"] = {k: v for k, v in settings["features"].items() if k != "normalise"}  # as of an older program
    again = {**second, "test_mean": 12.34, "settings": settings}
    run = tmp_path / "data" / "08_reporting" / second["dataset"] / "again" / "summary.json"
    run.parent.mkdir(parents=True)
    run.write_text(json.dumps(again))
    renew.main(tmp_path / "data")
    assert renew.recorded() == [first, again]
    assert "12.34" in renew.PAGE.read_text()


@pytest.mark.parametrize(
    ("group", "change"), [("representation", {"training": {"learning_rate": 1e-4}}), ("evaluation", {"splits": 3})]
)
def test_a_run_with_another_training_or_fewer_splits_claims_no_cell(renew, group, change):
    summary = next(
        s for s in renew.recorded() if "as published" in renew.row(s)["settings"] and s["method"] == "figure"
    )
    settings = summary["settings"]
    for name, value in change.items():
        old = settings[group][name]
        settings[group][name] = {**old, **value} if isinstance(value, dict) else value
    assert renew.row(summary)["settings"] == "other settings"


def test_columns_that_are_scaled_before_the_classifier_are_not_as_published(renew):
    summary = next(s for s in renew.recorded() if "as published" in renew.row(s)["settings"] and s["dimension"] == 512)
    summary["settings"]["projection"]["scale"] = "standard"
    assert renew.row(summary)["settings"] == "other settings"
    assert "projection.scale=standard" in renew.row(summary)["command"]


def test_solvers_are_compared_on_runs_that_differ_in_nothing_else(renew):
    def run(command, solver, *scores):
        shown = {"test": "t", "validation": "v"}
        return {"dataset": "cora", "command": command, "solver": solver, "scores": np.array(scores), **shown}

    rows = [
        run("`dataset=cora,evaluation.trials=20`", "lbfgs", 80.0, 82.0),
        run("`dataset=cora,evaluation.solver=adam,evaluation.trials=20`", "adam", 81.0, 81.0),
        run("`dataset=cora`", "lbfgs", 82.0, 86.0),
        run("`dataset=cora,evaluation.solver=adam`", "adam", 80.0, 80.0),
        run("`dataset=cora,evaluation.trials=60`", "lbfgs", 99.0, 99.0),
    ]
    table = renew.solvers(pd.DataFrame(rows)).splitlines()[2:]
    assert [line.split("|")[-2].strip() for line in table] == ["+0.00 ± 1.00", "+4.00 ± 2.00", "+2.00 ± 1.50"]
    assert "evaluation.trials=60" not in "".join(table)
