"""Tables say what runs have left, what the paper says, and what is not there."""

import base64
import statistics

import pandas as pd
import pytest

from figure_kedro.errors import UserError
from figure_kedro.experiments.command import take_up_records
from figure_kedro.experiments.plan import Plan
from figure_kedro.experiments.tables import only, paper_numbers, tables_of
from figure_kedro.machine import machine
from runs_left import leave_scores, leave_timing

CSBM = {"dataset": "csbm", "source.nodes": 60, "representation.dim": 8}
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


@pytest.fixture
def shown(planned):
    """The cells of one experiment, after its runs have been left by ``leave``, row by row."""

    def cells(leave=lambda runs: None, failures=None, name="one", **entries):
        leave(list(planned(**{name: entries}).runs.values()))
        plan: Plan = planned(**{name: entries})
        keys = list(plan.runs)
        failed = {keys[number]: line for number, line in (failures or {}).items()}
        (table,) = tables_of(plan, failed, "a machine", {key: f"run {n}" for n, key in enumerate(keys)})
        return list(table.cells.values())

    return cells


def test_a_score_is_the_mean_over_splits_in_percent_with_its_deviation_and_origin(shown):
    test = [0.5, 0.7, 0.9]
    (cell,) = shown(lambda runs: leave_scores(runs[0], test), settings=CSBM)
    assert (cell.state, cell.unit, cell.count, cell.higher_is_better) == ("done", "%", 3, True)
    assert cell.counted == "splits"
    assert cell.value == pytest.approx(70.0)
    assert cell.deviation == pytest.approx(20.0)
    assert (cell.run_id, cell.data_checksum) == ("run 0", "01234567")
    assert "source.nodes=60" in cell.command
    assert cell.paper is None


def test_one_split_has_no_deviation(shown):
    (cell,) = shown(lambda runs: leave_scores(runs[0], [0.5]), settings=CSBM)
    assert (cell.value, cell.deviation, cell.count) == (pytest.approx(50.0), None, 1)


def test_a_score_by_another_metric_has_its_own_number(shown):
    def leave(runs):
        columns = {"test_macro_f1": [0.2, 0.4], "val_macro_f1": [0.1, 0.1]}
        leave_scores(runs[0], [0.5, 0.7], columns=columns)

    chosen, other = shown(leave, settings=CSBM, rows={"a": {}, "b": {"show": "score.macro_f1"}})
    assert (chosen.value, other.value) == (pytest.approx(60.0), pytest.approx(30.0))


def test_a_metric_that_the_run_has_not_is_told_and_no_number_is_made_up(shown):
    (cell,) = shown(lambda runs: leave_scores(runs[0], [0.5]), settings=CSBM, show="score.roc_auc")
    assert (cell.state, cell.value, cell.deviation) == ("failed", None, None)
    assert cell.text.startswith("there is no score 'roc_auc' of this run; ")


def test_the_score_without_twins_stands_beside_the_deciding_metric_alone(shown):
    def leave(runs):
        twins = {"twin_free_test": [0.25], "test_twins": [0.5], "test_macro_f1": [0.2], "val_macro_f1": [0.1]}
        leave_scores(runs[0], [0.5], columns=twins, settings={"source": {"directed": True}})

    rows = {"a": {}, "b": {"show": "score.accuracy"}, "c": {"show": "score.macro_f1"}}
    assert [cell.beside for cell in shown(leave, settings=CSBM, rows=rows)] == [
        "direction kept, 25.00 without twins",
        "direction kept, 25.00 without twins",
        "direction kept",
    ]


@pytest.mark.parametrize(("source", "beside"), [({"directed": False}, "25.00 without twins"), ({}, "")])
def test_a_graph_whose_links_may_have_a_direction_has_it_where_it_is_dropped_too(source, beside, shown):
    def leave(runs):
        twins = {"twin_free_test": [0.25], "test_twins": [0.5]}
        leave_scores(runs[0], [0.5], columns=twins, settings={"source": source})

    (cell,) = shown(leave, settings=CSBM)
    assert cell.beside == beside


def test_the_papers_number_stands_beside_ours(shown):
    assert paper_numbers()["table_1", "DeepWalk", "squirrel"] == (38.66, 1.44)
    assert paper_numbers()["table_1", "DeepWalk", "ogbn_arxiv"] == (64.02, None)
    entries = {"settings": CSBM, "rows": {"DeepWalk": {}}, "columns": {"squirrel": {}, "ogbn_arxiv": {}}}
    ours, without = shown(lambda runs: leave_scores(runs[0], [0.5, 0.5]), name="table_1", **entries)
    assert (ours.paper, ours.paper_deviation, without.paper_deviation) == (38.66, 1.44, None)
    assert ours.difference == pytest.approx(50.0 - 38.66)


def test_a_run_that_is_not_there_is_missing_with_the_papers_number_and_the_command(shown):
    (cell,) = shown(name="table_1", settings=CSBM, rows={"DeepWalk": {}}, columns={"squirrel": {}})
    assert (cell.state, cell.value, cell.paper) == ("missing", None, 38.66)
    assert cell.command.startswith("kedro run --pipelines=evaluation --params ")
    assert cell.unit == "%"


def test_the_papers_count_has_no_digits_where_ours_is_missing(shown):
    (cell,) = shown(name="table_9", settings=CSBM, rows={"nodes": {"show": "statistics.nodes"}}, columns={"cora": {}})
    assert (cell.state, cell.paper, cell.digits) == ("missing", 2708, 0)


def test_a_failure_is_told_unless_the_run_has_been_made_since(shown):
    rows = {"a": {"source.homophily": 0.1}, "b": {"source.homophily": 0.9}}
    failed, made = shown(
        lambda runs: leave_scores(runs[1], [0.5]), {0: "no memory", 1: "no file"}, settings=CSBM, rows=rows
    )
    assert (failed.state, failed.text, failed.value) == ("failed", "no memory", None)
    assert (made.state, made.text) == ("done", "")


SEEDS = {str(seed): {"representation.training.seed": seed} for seed in range(3)}


def test_a_cell_over_several_runs_is_their_mean_with_their_deviation(shown):
    seconds = [0.010, 0.020, 0.060]

    def leave(runs):
        for run, mean in zip(runs, seconds, strict=True):
            leave_timing(run, mean_epoch_seconds=mean, total_seconds=1.0)

    (cell,) = shown(leave, settings=CSBM, over=SEEDS, show="epoch_time")
    assert (cell.state, cell.unit, cell.count, cell.higher_is_better) == ("done", "ms", 3, False)
    assert (cell.counted, cell.command) == ("runs", "kedro experiment run one")
    assert cell.run_id == "run 0 and 2 more"
    assert cell.value == pytest.approx(30.0)
    assert cell.deviation == pytest.approx(statistics.stdev([10.0, 20.0, 60.0]))
    assert cell.deviation == pytest.approx((1400 / 2) ** 0.5)


def test_a_mean_over_runs_has_nothing_of_one_run_beside_it(shown):
    def leave(runs):
        twins = {"twin_free_test": [0.25, 0.25], "test_twins": [0.5, 0.5]}
        for run, score in zip(runs, (0.2, 0.4, 0.6), strict=True):
            leave_scores(run, [score, score], columns=twins, settings={"source": {"directed": True}})

    (cell,) = shown(leave, settings=CSBM, over=SEEDS)
    assert (cell.value, cell.deviation, cell.count) == (pytest.approx(40.0), pytest.approx(20.0), 3)
    assert cell.beside == ""


def test_a_mean_of_which_a_run_is_missing_or_failed_is_no_number(shown):
    def leave(runs):
        for run in runs[:2]:
            leave_timing(run, mean_epoch_seconds=0.01)

    (cell,) = shown(leave, settings=CSBM, over=SEEDS, show="epoch_time")
    assert (cell.state, cell.value) == ("missing", None)
    (cell,) = shown(leave, {2: "no memory"}, settings=CSBM, over=SEEDS, show="epoch_time")
    assert (cell.state, cell.value, cell.text) == ("failed", None, "no memory")


def test_what_was_not_measured_has_no_number(shown):
    columns = {show: {"show": show} for show in ("epochs", "total_time", "memory", "storage", "epoch_time")}
    cells = shown(lambda runs: leave_timing(runs[0], epochs=7, total_seconds=1.5), settings=CSBM, columns=columns)
    assert [cell.value for cell in cells] == [7, 1.5, None, None, None]


def test_times_are_told_with_every_machine_that_they_are_from(planned, tmp_path):
    both = {"settings": CSBM, "show": "epoch_time", "columns": {"8": {}, "4": {"representation.dim": 4}}}

    def notes(**given):
        plan = planned(one=both, **given)
        take_up_records(plan, tmp_path / "docs")
        return tables_of(plan, {}, "a machine", {})[0].notes

    elsewhere, here = ({"given": {"data_folder": str(tmp_path / name)}} for name in ("elsewhere", "here"))
    assert notes(**here) == (), "without a time there is nothing to tell"
    there, _ = planned(one=both, **elsewhere).runs.values()
    leave_timing(there, mean_epoch_seconds=0.25)
    assert notes(**elsewhere) == ("Times are from a machine; the paper's are from a Tesla P100.",)
    _, other = planned(one=both, **here).runs.values()
    leave_timing(other, mean_epoch_seconds=0.5)
    assert notes(**here) == (
        f"Times are from {' and '.join(sorted(['a machine', machine()]))}; the paper's are from a Tesla P100.",
    )


def test_scores_are_told_without_a_machine(planned):
    leave_scores(next(iter(planned(one={"settings": CSBM}).runs.values())), [0.5])
    assert tables_of(planned(one={"settings": CSBM}), {}, "a machine", {})[0].notes == ()


def test_a_coefficient_is_that_of_the_split_that_is_best_on_validation(shown):
    alphas = {"split": [0, 0, 1, 1], "filter": ["I", "A", "I", "A"], "alpha": [0.1, 0.2, 0.3, 0.4]}

    def leave(runs):
        leave_scores(runs[0], [0.9, 0.1], val=[0.5, 0.6], alphas=alphas)

    columns = {name: {"show": f"alpha.{name}"} for name in ("I", "A", "A^9")}
    first, second, none = shown(leave, settings=CSBM, columns=columns)
    assert (first.value, second.value, none.value) == (0.3, 0.4, None)
    assert (none.state, none.text) == ("failed", "the bank has no filter 'A^9'; choose one of: A, I")


def test_a_graph_without_labels_has_no_coefficient(shown):
    (cell,) = shown(lambda runs: leave_scores(runs[0], []), settings=CSBM, show="alpha.A")
    assert (cell.state, cell.value) == ("failed", None)
    assert "no labels" in cell.text


def test_statistics_and_pictures_are_those_of_the_folder(shown):
    def leave(runs):
        statistic, picture = (run.folder.path for run in runs)
        for folder in (statistic, picture):
            folder.mkdir(parents=True)
        pd.DataFrame({"nodes": [60], "homophily": [0.256]}).to_csv(statistic / "dataset_statistics.csv", index=False)
        for name in ("tsne", "correlations", "filter_responses"):
            (picture / f"{name}.png").write_bytes(PIXEL if name == "tsne" else b"other")

    shows = ("statistics.nodes", "statistics.homophily", "statistics.nods", "picture.tsne")
    nodes, homophily, unknown, picture = shown(leave, settings=CSBM, rows={show: {"show": show} for show in shows})
    assert (nodes.value, nodes.digits, homophily.value) == (60, 0, 0.256)
    assert (unknown.state, unknown.value) == ("failed", None)
    assert (picture.state, picture.picture, picture.value) == ("done", PIXEL, None)


@pytest.mark.parametrize("content", ["", "{", "{}", "[1]"])
def test_a_file_that_is_damaged_costs_its_cell_and_not_the_report(content, shown):
    rows = {"a": {"source.homophily": 0.1}, "b": {"source.homophily": 0.9}}

    def leave(runs):
        for run in runs:
            leave_scores(run, [0.5])
        (runs[0].folder.path / "summary.json").write_text(content)

    damaged, whole = shown(leave, settings=CSBM, rows=rows)
    assert (damaged.state, damaged.value) == ("failed", None)
    assert "\n" not in damaged.text
    assert (whole.state, whole.value) == ("done", pytest.approx(50.0))


def test_a_scheme_is_a_picture_without_any_run(shown):
    (cell,) = shown(show="scheme.evaluation")
    assert (cell.state, cell.picture[:4]) == ("done", b"\x89PNG")


def test_a_gain_is_the_mean_difference_over_the_columns_that_both_rows_have(shown):
    def leave(runs):
        for run, score in zip(runs[:3], (0.8, 0.9, 0.5), strict=True):  # one column of the second row is missing
            leave_scores(run, [score, score])

    nodes = {"squirrel": {"source.nodes": 60}, "cora": {"source.nodes": 61}}
    rows = {"FiGURe 512": {"representation.dim": 8}, "DGI": {"representation.dim": 9}}
    cells = shown(leave, name="table_1", settings={"dataset": "csbm"}, rows=rows, columns=nodes, gain="FiGURe 512")
    leader, other = cells[-2:]
    assert (leader.value, leader.beside) == (0.0, "2 of 2 columns")
    assert other.value == pytest.approx(30.0)
    assert other.paper == pytest.approx(52.23 - 39.61)
    assert other.beside == "1 of 2 columns"


def test_a_gain_over_a_row_without_numbers_is_empty(shown):
    rows = {"a": {"representation.dim": 8}, "b": {"representation.dim": 9}}
    *_, ahead = shown(lambda runs: leave_scores(runs[0], [0.5]), settings=CSBM, rows=rows, gain="a")
    assert (ahead.state, ahead.value) == ("missing", None)


def test_a_table_of_one_data_set_has_its_columns_alone(planned):
    columns = {"cora": {"dataset": "cora"}, "drawn": {"dataset": "csbm"}}
    plan = planned(["csbm"], one={"columns": columns, "rows": {"a": {}, "b": {"representation.dim": 4}}})
    (table,) = tables_of(plan, {}, "a machine", {})
    assert table.columns == ("cora", "drawn"), "what is there of others is not lost"
    assert (only(table, plan).columns, only(table, plan).rows) == (("drawn",), ("a", "b"))


def test_a_table_of_all_data_sets_keeps_schemes_and_gains(planned):
    rows = {"a": {"representation.dim": 8}, "b": {"representation.dim": 9}}
    plan = planned(one={"settings": CSBM, "rows": rows, "gain": "a"}, two={"show": "scheme.evaluation"})
    for table in tables_of(plan, {}, "a machine", {}):
        assert only(table, plan) == table


def test_the_title_says_what_was_given_for_all_cells_and_the_papers_deviation_is_left_out_where_splits_are(planned):
    entries = {"title": "T", "settings": CSBM, "rows": {"DeepWalk": {}}, "columns": {"squirrel": {}}}
    (table,) = tables_of(planned(table_1=entries, given={"evaluation.splits": 3}), {}, "a machine", {})
    assert table.title == "T, evaluation.splits=3"
    cell = table.cell("DeepWalk", "squirrel")
    assert (cell.paper, cell.paper_deviation) == (38.66, None)


def test_remarks_stand_below_the_table(planned):
    plan = planned(one={"settings": CSBM, "rows": {"a": {}}, "columns": {"c": {}}, "remarks": {"a / c": "why"}})
    (table,) = tables_of(plan, {}, "a machine", {})
    assert table.notes == ("a, c: why",)


def test_a_run_is_chosen_in_each_split_by_its_validation_score_alone(shown):
    def leave(runs):
        leave_scores(runs[0], [0.1, 0.2, 0.3], val=[0.9, 0.4, 0.7])
        leave_scores(runs[1], [0.6, 0.7, 0.8], val=[0.8, 0.5, 0.7])  # equal in the last split: the first run is taken

    over = {"a": {"source.homophily": 0.1}, "b": {"source.homophily": 0.9}}
    (cell,) = shown(leave, settings=CSBM, over=over, together="best_on_validation")
    assert (cell.value, cell.count, cell.beside) == (pytest.approx(100 * (0.1 + 0.7 + 0.3) / 3), 3, "chosen 2, 1")
    (mean,) = shown(leave, settings=CSBM, over=over)
    assert mean.value == pytest.approx(45.0)


def test_the_accuracy_without_twins_is_that_of_the_runs_that_were_chosen(shown):
    def leave(runs):
        source = {"settings": {"source": {"directed": False}}}
        twins = {"test_twins": [1.0, 1.0]}
        leave_scores(runs[0], [0.1, 0.2], val=[0.9, 0.4], columns={"twin_free_test": [0.3, 0.4], **twins}, **source)
        leave_scores(runs[1], [0.6, 0.7], val=[0.8, 0.5], columns={"twin_free_test": [0.5, 0.6], **twins}, **source)

    over = {"a": {"source.homophily": 0.1}, "b": {"source.homophily": 0.9}}
    (cell,) = shown(leave, settings=CSBM, over=over, together="best_on_validation")
    assert cell.beside == "chosen 1, 1, 45.00 without twins"


def test_runs_on_other_splits_are_not_chosen_from_together(shown):
    def leave(runs):
        leave_scores(runs[0], [0.1, 0.2])
        leave_scores(runs[1], [0.6])

    over = {"a": {"source.homophily": 0.1}, "b": {"source.homophily": 0.9}}
    (cell,) = shown(leave, settings=CSBM, over=over, together="best_on_validation")
    assert (cell.state, cell.text) == ("failed", "runs with other metrics or splits cannot be chosen from together")
    with pytest.raises(UserError, match="only a score is chosen on validation"):
        shown(leave, settings=CSBM, over=over, together="best_on_validation", show="epochs")
