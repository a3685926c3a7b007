"""The page of results: nothing on it that is not in the record, and rows that can be renewed one by one."""

import importlib.util
import json
from pathlib import Path

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
