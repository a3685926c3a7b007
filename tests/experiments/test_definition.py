"""Files of experiments become cells with settings, and a mistake in one is a line before anything runs."""

import shutil
from pathlib import Path

import pytest
from kedro.framework.startup import bootstrap_project

from figure_kedro.errors import UserError
from figure_kedro.experiments import command
from figure_kedro.experiments.cells import Run, project_loader
from figure_kedro.experiments.definition import Experiment, crossed
from figure_kedro.experiments.shows import SHOWS
from figure_kedro.experiments.tables import paper_numbers

PROJECT = Path(__file__).parents[2]
SMALL = {"dataset": "csbm", "source.nodes": 60}


@pytest.fixture(autouse=True, scope="module")
def _project():
    bootstrap_project(PROJECT)


@pytest.fixture
def project(tmp_path):
    """A copy of the project's configuration, to which a user may add files."""
    shutil.copytree(PROJECT / "conf" / "base", tmp_path / "conf" / "base")
    (tmp_path / "conf" / "local" / "experiments").mkdir(parents=True)
    return tmp_path


@pytest.fixture
def mistake(project, capsys):
    """The line that a user's file ends with; nothing may have run or been written."""

    def told(text, **given):
        (project / "conf" / "local" / "experiments" / "mine.yml").write_text(text)
        with pytest.raises(UserError) as error:
            command.run(project, ["mine"], given)
        assert "\n" not in str(error.value)
        assert not (project / "data").exists()
        assert capsys.readouterr().out == ""
        return str(error.value)

    return told


def experiment(**entries):
    return Experiment.read("mine", {"title": "Mine", "rows": {"": {}}, "columns": {"": {}}, **entries})


def test_groups_of_an_axis_are_crossed_and_titles_joined():
    axis = [{"a": {"x": 1}, "b": {"x": 2}}, {"": {}, "c": {"y": 3}}, {"d": {"z": 4}}]
    assert list(crossed(axis)) == [
        ("a, d", {"x": 1, "z": 4}),
        ("a, c, d", {"x": 1, "y": 3, "z": 4}),
        ("b, d", {"x": 2, "z": 4}),
        ("b, c, d", {"x": 2, "y": 3, "z": 4}),
    ]


def test_cells_are_all_rows_by_all_columns():
    mine = experiment(rows=[{"a": {}, "b": {}}, {"1": {}, "2": {}}], columns={"c": {}, "d": {}})
    assert mine.row_titles == ["a, 1", "a, 2", "b, 1", "b, 2"]
    assert mine.column_titles == ["c", "d"]
    assert [(cell.row, cell.column) for cell in mine.cells({})] == [
        (row, column) for row in mine.row_titles for column in mine.column_titles
    ]


def test_settings_lose_to_the_column_that_to_the_row_that_to_over_and_that_to_the_command_line():
    mine = experiment(
        settings=dict.fromkeys(("p0", "p1", "p2", "p3", "p4"), "settings"),
        columns={"c": dict.fromkeys(("p0", "p1", "p2", "p3"), "column")},
        rows={"r": dict.fromkeys(("p0", "p1", "p2"), "row")},
        over={"o": dict.fromkeys(("p0", "p1"), "over")},
    )
    (cell,) = mine.cells({"p0": "given"})
    assert cell.runs == ({"p0": "given", "p1": "over", "p2": "row", "p3": "column", "p4": "settings"},)


def test_a_row_shows_its_own_before_the_column_and_that_before_the_experiment():
    shown = {"show": "alpha.A"}
    mine = experiment(show="epochs", rows={"own": {"show": "memory"}, "none": {}}, columns={"own": shown, "none": {}})
    assert {(cell.row, cell.column): cell.show for cell in mine.cells({})} == {
        ("own", "own"): "memory",
        ("own", "none"): "memory",
        ("none", "own"): "alpha.A",
        ("none", "none"): "epochs",
    }
    assert all("show" not in run for cell in mine.cells({}) for run in cell.runs)


def test_numbers_are_compared_within_a_data_set():
    sets, methods = {"cora": {"dataset": "cora"}, "csbm": {"dataset": "csbm"}}, {"a": {"representation.method": "dgi"}}
    assert experiment(rows=methods, columns=sets).best_of == "column"
    assert experiment(rows=sets, columns=methods).best_of == "row"
    assert experiment(rows=methods, columns=methods, settings={"dataset": "cora"}).best_of == "column"


def test_every_combination_of_over_is_a_run_of_each_cell():
    over = [{"1": {"a": 1}, "2": {"a": 2}}, {"3": {"b": 3}, "4": {"b": 4}}]
    (cell,) = experiment(over=over).cells({})
    assert cell.runs == ({"a": 1, "b": 3}, {"a": 1, "b": 4}, {"a": 2, "b": 3}, {"a": 2, "b": 4})


MINE = "mine: {{title: Mine, settings: {{dataset: csbm}}, rows: {{r: {row}}}, columns: {{c: {column}}}{more}}}"


@pytest.mark.parametrize(
    ("row", "column", "more", "line"),
    [
        ("{}", "{}", ", colums: {}", "experiment mine: unknown entry 'colums'; did you mean 'columns'?"),
        (
            "{}",
            "{}",
            ", show: scor",
            "experiment mine, r / c: nothing called 'scor' can be shown; did you mean 'score'?",
        ),
        ("{show: picture.tsn}", "{}", "", "experiment mine, r / c: 'picture.tsn' cannot be shown; did you mean 'pictu"),
        ("{show: picture}", "{}", "", "experiment mine, r / c: 'picture' cannot be shown; did you mean"),
        ("{show: score.acuracy}", "{}", "", "did you mean 'score.accuracy'?"),
        ("{}", "{show: scheme.evalution}", "", "did you mean 'scheme.evaluation'?"),
        ("{}", "{show: epochs.all}", "", "experiment mine, r / c: 'epochs' has no 'all'; show epochs alone"),
        ("{show: alpha}", "{}", "", "experiment mine, r / c: say what of 'alpha' is to be shown"),
        ("{representation.dmi: 3}", "{}", "", "experiment mine, r / c: "),
        ("{representation.method: dgi, representation.dmi: 3}", "{}", "", "experiment mine, r / c: "),
        ("{}", "{representation.dim: -3}", "", "experiment mine, r / c: "),
        ("{dataset: coar}", "{}", "", "experiment mine, r / c: there is no data set 'coar'; did you mean 'cora'?"),
        ("{dataset: own, source.edges: nowhere.csv}", "{}", "", "experiment mine, r / c: "),
        ("3", "{}", "", "experiment mine: rows"),
        ("{}", "{}", ", gain: R", "experiment mine: gain: there is no row 'R'; choose one of: r"),
        ("{}", "{}", ", remarks: {r / d: why}", "experiment mine: remarks: there is no 'r / d'; did you mean 'r / c'?"),
    ],
)
def test_a_mistake_in_a_file_is_one_line_before_anything_runs(row, column, more, line, mistake):
    assert line in mistake(MINE.format(row=row, column=column, more=more))


def test_a_mistake_of_the_command_line_names_the_first_cell_it_hits(mistake):
    text = MINE.format(row="{}", column="{}", more="")
    assert "experiment mine, r / c: " in mistake(text, representation={"dmi": 3})


@pytest.mark.parametrize("text", ["mine: {title: [", "mine: 3", "mine: {title: Mine}", "mine:"])
def test_a_file_that_is_no_experiment_is_one_line(text, mistake):
    assert "experiment" in mistake(text)


def test_an_unknown_experiment_is_one_line_with_the_nearest(project):
    with pytest.raises(UserError, match=r"^there is no experiment 'smok'; did you mean 'smoke'\?$"):
        command.run(project, ["smok"], {})


def test_a_project_without_experiments_says_where_they_belong(project):
    shutil.rmtree(project / "conf" / "base" / "experiments")
    with pytest.raises(UserError, match="conf/local/experiments"):
        command.show_list(project)


def test_a_file_of_the_user_is_found_and_wins_over_ours(project, capsys):
    local = project / "conf" / "local" / "experiments"
    (local / "mine.yml").write_text(MINE.format(row="{}", column="{}", more=""))
    (local / "smoke.yml").write_text("smoke: {title: Smaller, settings: {source.nodes: 60}}")
    definitions = project_loader(project)["experiments"]
    assert Experiment.read("mine", definitions["mine"]).title == "Mine"
    smoke = Experiment.read("smoke", definitions["smoke"])
    assert (smoke.title, smoke.settings["source.nodes"]) == ("Smaller", 60)
    assert smoke.settings["evaluation.trials"] == 2, "what it does not name stays"
    command.show_list(project)
    assert {"mine", "Smaller"} <= set(capsys.readouterr().out.split())


def test_the_command_of_a_run_makes_the_same_run(project):
    from kedro.framework.cli.utils import _split_params

    loader = project_loader(project)
    rows = {"walks": {"representation.method": "deepwalk"}, "alone": {"representation.method": "propagation"}}
    mine = experiment(settings={**SMALL, "representation.training.max_epochs": 7, "source.homophily": 1e-05}, rows=rows)
    for cell in mine.cells({"data_folder": "elsewhere"}):
        run = Run.of(loader, cell.runs[0], SHOWS["score"])
        params = run.command.partition(" --params ")[2]
        again = loader.with_params(_split_params(None, None, params)).parameters
        assert again.key("evaluation") == run.key[2], params


def test_every_number_of_the_paper_belongs_to_a_cell_of_its_experiment():
    definitions = project_loader(PROJECT)["experiments"]
    read = {name: Experiment.read(name, raw) for name, raw in definitions.items()}
    cells = {(name, cell.row, cell.column) for name, one in read.items() for cell in one.cells({})}
    assert set(paper_numbers()) - cells == set()
    with_numbers = {name for name, _, _ in paper_numbers()}
    assert with_numbers <= {name for name, one in read.items() if one.paper}


def distinct(name, raw, *, rows_only):
    """The settings of an experiment's runs, or of one in each row."""
    seen = set()
    for cell in Experiment.read(name, raw).cells({}):
        cell.check(name)
        if SHOWS[cell.show.partition(".")[0]].pipeline and not (rows_only and cell.row in seen):
            seen.add(cell.row)
            for changes in cell.runs[:1] if rows_only else cell.runs:
                yield changes, SHOWS[cell.show.partition(".")[0]]


@pytest.mark.parametrize("rows_only", [True, pytest.param(False, marks=pytest.mark.slow)])
def test_every_cell_of_our_own_files_resolves(rows_only):
    loader, resolved = project_loader(PROJECT), {}
    for name, raw in loader["experiments"].items():
        for changes, show in distinct(name, raw, rows_only=rows_only):
            identity = repr((show.pipeline, sorted(changes.items())))
            if identity not in resolved:
                resolved[identity] = Run.of(loader, changes, show).key
    assert len(resolved) > 50


def test_a_file_that_does_not_begin_with_a_name_says_how_one_begins(project):
    (project / "conf" / "local" / "experiments" / "mine.yml").write_text("caption: C\ntitle: T\nrows: {a: {}}\n")
    with pytest.raises(UserError, match="begins with the experiment's name and has its entries below"):
        command.show_list(project)
