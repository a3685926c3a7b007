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
    again = {**second, "test_mean": 12.34}
    run = tmp_path / "data" / "08_reporting" / second["dataset"] / "again" / "summary.json"
    run.parent.mkdir(parents=True)
    run.write_text(json.dumps(again))
    renew.main(tmp_path / "data")
    assert renew.recorded() == [first, again]
    assert "12.34" in renew.PAGE.read_text()
