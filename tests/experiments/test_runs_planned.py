"""Which runs experiments need, which are there, and how long the others may take."""

import json

import pytest

from figure_kedro.errors import UserError
from figure_kedro.experiments.cells import Outcome, Run
from figure_kedro.experiments.driver import Journal
from figure_kedro.experiments.plan import estimate, journal_line
from figure_kedro.experiments.shows import SHOWS
from figure_kedro.planning import predicted_seconds
from runs_left import leave_scores

CSBM = {"dataset": "csbm", "source.nodes": 60, "representation.dim": 8}
TWO = {"a": {"source.homophily": 0.1}, "b": {"source.homophily": 0.9}}


def test_a_cell_that_two_experiments_share_is_one_run(planned):
    one = {"settings": CSBM, "rows": TWO}
    other = {"settings": CSBM, "rows": {"c": {"source.homophily": 0.9}, "d": {"source.homophily": 0.5}}}
    plan = planned(one=one, other=other)
    assert len(plan.runs) == 3
    assert plan.cells["one"][1][1] == plan.cells["other"][0][1]
    assert next(iter(plan.runs.values())).parameters.source.homophily == 0.1, "in the order of the cells"


def test_several_numbers_of_one_run_are_one_run(planned):
    columns = {"time": {"show": "epoch_time"}, "epochs": {"show": "epochs"}, "score": {"show": "score"}}
    plan = planned(one={"settings": CSBM, "columns": columns})
    assert [pipeline for pipeline, _, _ in plan.runs] == ["representation", "evaluation"]


def test_settings_that_decide_nothing_make_no_other_run(planned):
    rows = {"a": {}, "b": {"representation.training.threads": 1}, "c": {"evaluation.threads": 1}}
    assert len(planned(one={"settings": CSBM, "rows": rows}).runs) == 1
    assert (
        planned(one={"settings": CSBM}, given={"data_folder": "elsewhere"}).runs.keys()
        == planned(one={"settings": CSBM}).runs.keys()
    )
    assert len(planned(one={"settings": CSBM, "rows": {"a": {}, "b": {"representation.dim": 9}}}).runs) == 2


def test_data_sets_that_are_named_limit_the_runs(planned):
    rows = {"a": {"dataset": "csbm"}, "b": {"dataset": "minesweeper_generated"}}
    plan = planned(["csbm"], one={"rows": rows})
    assert [dataset for _, dataset, _ in plan.runs] == ["csbm", "minesweeper_generated"], "what is there is shown"
    assert [run.parameters.dataset for run in plan.missing] == ["csbm"]
    with pytest.raises(UserError, match=r"^no cell of one is about 'csmb'; did you mean 'csbm'\?$"):
        planned(["csbm", "csmb"], one={"rows": rows})


def test_what_tells_cells_apart_cannot_be_given_for_all_of_them(planned):
    rows = {"a": {"dataset": "csbm", "evaluation.trials": 2}, "b": {"dataset": "minesweeper_generated"}}
    with pytest.raises(UserError, match=r"^experiment one: dataset is what tells its cells apart; take --datasets "):
        planned(one={"rows": rows}, given={"dataset": "csbm"})
    seeds = {"1": {"evaluation.seed": 1}, "2": {"evaluation.seed": 2}}
    with pytest.raises(UserError, match=r"evaluation\.seed is what tells its cells apart; leave it out of --params$"):
        planned(one={"over": seeds}, given={"evaluation.seed": 3})
    trials = {
        run.parameters.evaluation.trials for run in planned(one={"rows": rows}, given={"evaluation.trials": 3}).missing
    }
    assert trials == {3}, "a budget may be smaller in all of them"


def test_settings_of_embeddings_are_left_aside_where_a_network_has_none(planned):
    rows = {"network": {"evaluation.head": "gcn"}, "other": {"representation.method": "dgi"}}
    given = {"representation.dim": 8, "representation.training.max_epochs": 5, "representation.training.threads": 1}
    network, other = planned(one={"settings": {"dataset": "csbm"}, "rows": rows}, given=given).missing
    assert other.parameters.representation.dim == 8
    assert network.parameters.representation.method == "features"
    assert "representation.dim" not in network.command


def test_what_is_there_is_not_made_again(planned):
    plan = planned(one={"settings": CSBM, "rows": TWO})
    first, second = plan.runs.values()
    assert plan.missing == [first, second]
    leave_scores(first, [0.5])
    again = planned(one={"settings": CSBM, "rows": TWO})
    assert again.done == {first.key}
    assert [run.key for run in again.missing] == [second.key]


def test_a_run_of_which_a_file_is_missing_is_not_there(planned):
    (run,) = planned(one={"settings": CSBM}).runs.values()
    leave_scores(run, [0.5])
    (run.folder.path / "split_alphas.csv").unlink()
    assert not run.exists()


def test_schemes_need_no_run(planned):
    plan = planned(one={"show": "scheme.evaluation"})
    assert (plan.runs, plan.missing, len(plan.cells["one"])) == ({}, [], 1)


@pytest.fixture
def run(loader):
    return Run.of(loader, {**CSBM, "representation.method": "dgi"}, SHOWS["score"])


@pytest.fixture
def line(run):
    """A line of the journal on a run of the same size, or on another one."""

    def of(seconds, **different):
        return {**journal_line(run, 0.0, ""), "seconds": seconds, **different}

    return of


def test_runs_of_the_same_size_decide_how_long_another_may_take(run, line):
    alike = [line(1.0), line(3.0), line(100.0)]
    other = [line(7.0, dim=16), line(7.0, method="figure"), line(7.0, dataset="cora"), line(7.0, trials=1)]
    other += [line(7.0, pipeline="representation"), line(7.0, splits=1), line(7.0, epochs=1), line(7.0, filters=9)]
    other += [line(7.0, source={"kind": "csbm", "nodes": 61})]
    failed = [line(7.0, error="it failed"), line(None)]
    assert estimate(run, alike + other + failed) == 3.0
    assert estimate(run, other + failed) is None, "what is larger or smaller says nothing"


def test_without_any_run_alike_the_cost_model_decides_if_it_knows_the_method(loader):
    run = Run.of(loader, CSBM, SHOWS["score"])
    assert estimate(run, []) == predicted_seconds(run.parameters, "evaluation") > 0


def test_a_line_of_the_journal_is_what_the_next_estimate_reads(run):
    told = journal_line(run, 1.234, "")
    assert (told["seconds"], told["key"], told["error"]) == (1.23, run.key[2], "")
    assert estimate(run, [journal_line(run, 12.0, "")]) == 12.0


def test_the_last_attempt_of_a_run_decides_whether_it_failed(run, tmp_path):
    journal = Journal(tmp_path)
    assert journal.failures() == {}
    journal.add(run, Outcome(1.0, "no memory"), "first")
    assert journal.failures() == {run.key: "no memory"}
    assert journal.run_ids() == {run.key: "first"}
    journal.add(run, Outcome(2.0), "second")
    assert journal.failures() == {}
    assert journal.run_ids() == {run.key: "second"}
    journal.add(run, Outcome(3.0, "no file"), "third")
    assert journal.failures() == {run.key: "no file"}


@pytest.mark.parametrize("cut", [1, 5, 40])
def test_a_line_that_a_kill_has_cut_costs_no_other(cut, run, tmp_path):
    journal = Journal(tmp_path)
    journal.add(run, Outcome(1.0, "first"), "")
    journal.add(run, Outcome(2.0, "second"), "")
    whole = journal.path.read_bytes()
    journal.path.write_bytes(whole[:-cut])
    before = ["first"] + (["second"] if cut == 1 else [])
    assert [record["error"] for record in journal.lines()] == before
    journal.add(run, Outcome(3.0, "third"), "")
    assert [record["error"] for record in journal.lines()] == [*before, "third"]
    assert all(json.loads(text) for text in journal.path.read_text().splitlines()[:1])


def test_bytes_that_are_no_text_cost_no_other_line(run, tmp_path):
    journal = Journal(tmp_path)
    journal.add(run, Outcome(1.0, "first"), "")
    with journal.path.open("ab") as file:
        file.write(b"\xff\xfe\x00\n3\n\n")
    journal.add(run, Outcome(2.0, "second"), "")
    assert [record["error"] for record in journal.lines()] == ["first", "second"]
