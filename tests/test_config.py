"""Parameters, data set files and the command line become one configuration."""

import itertools
import shutil
from pathlib import Path

import pytest

from figure_kedro import settings
from figure_kedro.config import ProjectConfigLoader
from figure_kedro.errors import UserError

PROJECT = Path(__file__).parents[1]

MINE = """
mine:
  source: {kind: csbm, nodes: 50}
  filters: {bank: bernstein, size: 7}
"""


@pytest.fixture
def conf(tmp_path):
    """A copy of the project's configuration with a data set of the user's."""
    shutil.copytree(PROJECT / "conf" / "base", tmp_path / "conf" / "base")
    (tmp_path / "conf" / "local" / "datasets").mkdir(parents=True)
    (tmp_path / "conf" / "local" / "datasets" / "mine.yml").write_text(MINE)
    return tmp_path / "conf"


@pytest.fixture(autouse=True)
def _no_tracking_uri(monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def loader(conf, **params):
    return ProjectConfigLoader(str(conf), runtime_params=params, **settings.CONFIG_LOADER_ARGS)


def mlflow_settings(conf, **params):
    loaded = loader(conf, **params)
    loaded.config_patterns["mlflow"] = ["mlflow*"]  # as kedro-mlflow does
    return loaded["mlflow"]


def paths(conf, **params):
    """Where the results of a run are kept."""
    catalog = loader(conf, **params)["catalog"]
    return {entry["filepath"] for name, entry in catalog.items() if "filepath" in entry and name != "source_graph"}


def test_default_is_the_data_set_that_needs_no_file(conf):
    parameters = loader(conf).parameters
    assert (parameters.dataset, parameters.source.kind) == ("minesweeper_generated", "minesweeper_generated")


def test_file_of_the_data_set_wins_over_parameters_and_the_command_line_over_both(conf):
    assert loader(conf).parameters.filters.size == 4
    assert loader(conf, dataset="mine").parameters.filters.size == 7
    filters = loader(conf, dataset="mine", filters={"size": 9}).parameters.filters
    assert (filters.size, filters.bank, filters.self_loops) == (9, "bernstein", True)


def test_local_file_changes_what_it_names_and_nothing_else(conf):
    (conf / "local" / "datasets" / "csbm.yml").write_text("csbm: {source: {nodes: 20}}")
    (conf / "local" / "parameters.yml").write_text("filters: {size: 5}")
    parameters = loader(conf, dataset="csbm").parameters
    assert (parameters.source.nodes, parameters.source.degree) == (20, 10)
    assert (parameters.filters.size, parameters.filters.bank) == (5, "monomial")


def test_file_of_the_method_wins_over_parameters_and_the_data_set_over_the_method(conf):
    (conf / "local" / "methods").mkdir()
    (conf / "local" / "methods" / "dgi.yml").write_text("dgi: {filters: {size: 2, bank: chebyshev}}")
    assert loader(conf).parameters.filters.size == 4
    method = {"representation": {"method": "dgi"}}
    assert loader(conf, **method).parameters.filters.size == 2
    filters = loader(conf, dataset="mine", **method).parameters.filters
    assert (filters.size, filters.bank) == (7, "bernstein")
    assert loader(conf, **method, filters={"size": 3}).parameters.filters.size == 3


@pytest.mark.parametrize("path", sorted((PROJECT / "conf" / "base" / "methods").glob("*.yml")), ids=lambda p: p.stem)
def test_every_method_file_is_valid_and_searches_settings_that_exist(conf, path):
    representation = loader(conf, representation={"method": path.stem}).parameters.representation
    assert representation.tuning.space


def test_a_data_set_may_differ_for_one_dimension_and_the_command_line_wins(conf):
    path = conf / "local" / "datasets" / "mine.yml"
    path.write_text(MINE + "  dimensions: {32: {filters: {size: 5}, features: {normalise: rows}}}\n")

    def chosen(dim, **params):
        parameters = loader(conf, dataset="mine", representation={"dim": dim}, **params).parameters
        return parameters.filters.bank, parameters.filters.size, parameters.features.normalise

    assert chosen(512) == ("bernstein", 7, "none")
    assert chosen(32) == ("bernstein", 5, "rows")
    assert chosen(32, filters={"size": 9}) == ("bernstein", 9, "rows")
    assert chosen(32, evaluation={"supervised": "gcn"}) == ("bernstein", 7, "none")


def test_nodes_get_the_merged_parameters(conf):
    given = loader(conf, dataset="mine", features={"seed": 3})["parameters"]
    assert given["filters"] == {"bank": "bernstein", "size": 7, "self_loops": True}
    assert given["features"]["seed"] == 3


@pytest.mark.parametrize("path", sorted((PROJECT / "conf" / "base" / "datasets").glob("*.yml")), ids=lambda p: p.stem)
def test_every_data_set_file_is_valid(conf, path):
    source = {"source": {"edges": "edges.csv"}} if path.stem == "own" else {}
    assert loader(conf, dataset=path.stem, **source).parameters.dataset == path.stem


@pytest.mark.parametrize(
    ("name", "line"),
    [
        ("coar", "there is no data set 'coar'; did you mean 'cora'?"),
        ("minee", "there is no data set 'minee'; did you mean 'mine'?"),
    ],
)
def test_unknown_data_set_is_one_line_with_the_nearest_name(conf, name, line):
    with pytest.raises(UserError) as error:
        loader(conf, dataset=name).parameters  # noqa: B018
    assert str(error.value) == line


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("mine: 3", "must hold parameters below its name"),
        ("mine: {source: {kind: csbm}, filtres: {size: 3}}", "unknown parameter 'filtres'; did you mean 'filters'"),
        ("mine: {source: [", "cannot be read"),
        ("mine: {source: {kind: csbm}, dimensions: 3}", "'dimensions' must hold parameters below its name"),
        ("mine: {source: {kind: csbm}, dimensions: {512: 3}}", "512 must hold parameters below its name"),
        ("mine: {source: {kind: csbm}, dimensions: {512: {filtres: 3}}}", "unknown parameter 'filtres'"),
        ("mine: {filters: {size: '${globals:nothing}'}}", "cannot be read"),
    ],
)
def test_mistake_in_a_data_set_file_is_one_line(conf, text, line):
    (conf / "local" / "datasets" / "mine.yml").write_text(text)
    with pytest.raises(UserError, match=line) as error:
        loader(conf, dataset="mine").parameters  # noqa: B018
    assert "\n" not in str(error.value)


def test_runs_with_different_settings_share_no_path(conf):
    runs = [
        {},
        {"dataset": "mine"},
        {"dataset": "csbm"},
        {"dataset": "csbm", "source": {"seed": 1}},
        {"filters": {"self_loops": False}},
        {"features": {"structural": "svd"}},
    ]
    for one, other in itertools.combinations([paths(conf, **run) for run in runs], 2):
        assert not one & other


def test_runs_with_equal_settings_find_each_others_results(conf):
    assert paths(conf) == paths(conf, filters={"size": 4}, dataset="minesweeper_generated")


def test_all_results_lie_in_the_data_folder(conf):
    assert paths(conf, data_folder="elsewhere")
    assert all(path.startswith("elsewhere/") for path in paths(conf, data_folder="elsewhere"))


def test_two_configurations_of_one_process_stay_apart(conf):
    first, second = loader(conf, dataset="mine"), loader(conf, dataset="csbm")
    assert second["catalog"]["graph"]["filepath"].startswith("data/03_primary/csbm/")
    assert first["catalog"]["graph"]["filepath"].startswith("data/03_primary/mine/")


def test_records_of_mlflow_lie_in_the_data_folder(conf, monkeypatch):
    folder = conf.parent / "records" / "mlflow"
    mlflow = mlflow_settings(conf, data_folder="records")
    assert mlflow["server"]["mlflow_tracking_uri"] == f"sqlite:///{folder}/mlflow.db"
    assert (
        mlflow["tracking"]["experiment"]["create_experiment_kwargs"]["artifact_location"]
        == f"file://{folder}/artifacts"
    )
    # MLflow itself sets the variable to what the last run of a process used
    monkeypatch.setenv("MLFLOW_TRACKING_URI", mlflow["server"]["mlflow_tracking_uri"])
    other = mlflow_settings(conf, data_folder="other")
    assert other["server"]["mlflow_tracking_uri"] == f"sqlite:///{conf.parent}/other/mlflow/mlflow.db"


def test_tracking_server_of_the_environment_wins(conf, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://localhost:5000")
    mlflow = mlflow_settings(conf, data_folder="records")
    assert mlflow["server"]["mlflow_tracking_uri"] == "http://localhost:5000"
    assert mlflow["tracking"]["experiment"]["create_experiment_kwargs"]["artifact_location"] is None
    assert not (conf.parent / "records").exists()
