"""Records keep what cells show, for other machines."""

import urllib.request
from urllib.error import URLError

import pandas as pd
import pytest

from figure_kedro.experiments.cells import make
from figure_kedro.experiments.command import still_valid, take_up_records
from figure_kedro.experiments.driver import Journal
from figure_kedro.experiments.records import read_records
from figure_kedro.experiments.tables import tables_of, with_reasons
from runs_left import leave_scores, leave_timing

CSBM = {"dataset": "csbm", "source.nodes": 60, "representation.dim": 8}
COLUMNS = {
    "score": {"show": "score"},
    "time": {"show": "epoch_time"},
    "alpha": {"show": "alpha.A"},
    "nodes": {"show": "statistics.nodes"},
}


@pytest.fixture
def measured(planned):
    """A plan whose runs are all there."""
    plan = planned(one={"settings": CSBM, "columns": COLUMNS})
    runs = {run.pipeline: run for run in plan.runs.values()}
    evaluation, settings = runs["evaluation"], runs["evaluation"].parameters.model_dump(mode="json")
    versions = evaluation.parameters.versions("evaluation")
    alphas = {"split": [0, 0], "filter": ["I", "A"], "alpha": [0.25, 0.10000000149011612]}
    leave_scores(evaluation, [0.5], alphas=alphas, settings=settings, versions=versions)
    leave_timing(runs["representation"], mean_epoch_seconds=0.25)
    folder = runs["data_processing"].folder.path
    folder.mkdir(parents=True, exist_ok=True)
    pd.DataFrame({"nodes": [60]}).to_csv(folder / "dataset_statistics.csv", index=False)
    return planned(one={"settings": CSBM, "columns": COLUMNS})


def numbers(plan):
    (table,) = tables_of(plan, {}, "this machine", {})
    return {column: cell.value for (_, column), cell in table.cells.items()}


def test_another_machine_shows_the_same_numbers_from_the_records(measured, planned, tmp_path):
    take_up_records(measured, tmp_path / "docs")
    elsewhere = planned(given={"data_folder": str(tmp_path / "none")}, one={"settings": CSBM, "columns": COLUMNS})
    assert set(numbers(elsewhere).values()) == {None}
    take_up_records(elsewhere, tmp_path / "docs")
    assert (
        numbers(elsewhere)
        == numbers(measured)
        == {"score": 50.0, "time": 250.0, "alpha": 0.10000000149011612, "nodes": 60.0}
    )


def test_records_that_are_taken_up_twice_stay_the_same(measured, planned, tmp_path):
    take_up_records(measured, tmp_path / "docs")
    first = {path.name: path.read_text() for path in (tmp_path / "docs").iterdir()}
    assert first.keys() == {"results.jsonl", "results_files.jsonl"}
    assert not any(str(tmp_path) in text for text in first.values()), "no folder of a machine"
    elsewhere = planned(given={"data_folder": str(tmp_path / "none")}, one={"settings": CSBM, "columns": COLUMNS})
    take_up_records(elsewhere, tmp_path / "docs")
    assert {path.name: path.read_text() for path in (tmp_path / "docs").iterdir()} == first


def test_what_the_records_have_is_not_made_again_unless_it_is_stale_or_lacks_something(measured, planned, tmp_path):
    take_up_records(measured, tmp_path / "docs")
    elsewhere = planned(given={"data_folder": str(tmp_path / "none")}, one={"settings": CSBM, "columns": COLUMNS})
    assert len(elsewhere.missing) == 3
    elsewhere.recorded = still_valid(elsewhere, tmp_path / "docs")
    assert elsewhere.missing == []
    text = (tmp_path / "docs" / "results_files.jsonl").read_text()
    (tmp_path / "docs" / "results_files.jsonl").write_text(text.replace('"representation": 1', '"representation": 0'))
    (stale,) = [one for one in read_records(tmp_path / "docs").values() if one.stale]
    assert stale.pipeline == "representation"
    elsewhere.recorded = still_valid(elsewhere, tmp_path / "docs")
    assert [run.pipeline for run in elsewhere.missing] == ["representation"]
    (tmp_path / "docs" / "results_files.jsonl").unlink()
    elsewhere.recorded = still_valid(elsewhere, tmp_path / "docs")
    assert len(elsewhere.missing) == 3, "coefficients of filters are not in the record of an evaluation"


def test_a_page_says_why_the_cells_of_a_data_set_are_empty_until_it_can_be_had(planned, tmp_path, monkeypatch):
    def nobody_answers(*_, **__):
        raise URLError("nobody answers")

    monkeypatch.delenv("FIGURE_RAW_MIRROR", raising=False)
    monkeypatch.setattr(urllib.request, "urlopen", nobody_answers)
    columns = {"rome": {"dataset": "roman_empire"}, "drawn": {"dataset": "csbm"}}
    plan = planned(one={"columns": columns, "show": "statistics.nodes"})
    run = next(run for run in plan.missing if run.parameters.dataset == "roman_empire")
    changes = {**run.changes, "raw_mirror": str(tmp_path)}
    outcome, journal = make(str(run.project), changes, run.pipeline), Journal(tmp_path)
    journal.add(run, outcome, "")

    (table,) = tables_of(plan, {}, "m", {})
    assert journal.without_data()["roman_empire"] == outcome.no_data
    note, other = with_reasons(table, plan, journal.without_data()).notes
    assert other == "Not measured: -, drawn: kedro run --pipelines=data_processing --params dataset=csbm"
    assert note.startswith("roman_empire: roman_empire/raw/roman_empire.npz could not be had where this was measured, ")
    assert note.endswith("/roman_empire.npz failed: <urlopen error nobody answers>.")
    assert str(tmp_path) not in note
    journal.add(run, type(outcome)(1.0), "")
    assert journal.without_data() == {}
