"""The page of results: nothing on it that is not in the record."""

import shutil
from pathlib import Path

from kedro.framework.startup import bootstrap_project

from figure_kedro.datasets.files.json_lines import read_lines
from figure_kedro.experiments.command import report

PROJECT = Path(__file__).parents[2]
NAMES = (
    *("results", "within_splits", "protocol", "arxiv_years", "arxiv_subjects", "solvers"),
    *(f"table_{number}" for number in range(1, 17)),
)
"""As in the command on the page about evaluation."""


def test_the_page_is_what_the_record_gives(tmp_path):
    bootstrap_project(PROJECT)
    for name in ("results.jsonl", "results_files.jsonl", "results_page.json"):
        shutil.copy(PROJECT / "docs" / name, tmp_path)
    report(PROJECT, NAMES, {"data_folder": str(tmp_path / "none")}, output=tmp_path)
    for name in ("results.md", "results.csv", "results.jsonl", "results_files.jsonl", "results_page.json"):
        assert (tmp_path / name).read_text() == (PROJECT / "docs" / name).read_text(), name
    assert f"kedro experiment report {' '.join(NAMES)} --output docs" in (PROJECT / "docs/evaluation.md").read_text()


def test_no_record_names_a_folder_of_a_machine():
    folder = PROJECT / "docs"
    for record in (*read_lines(folder / "results.jsonl"), *read_lines(folder / "results_files.jsonl")):
        assert not {"data_folder", "raw_mirror"} & record["settings"].keys()
        assert "/tmp/" not in str(record)
