"""Where the results of a run lie: equal results share a path, different ones none."""

import importlib.util
import itertools

import pytest

from configurations import copy_of_conf, loader
from figure_kedro import config, settings


@pytest.fixture
def conf(tmp_path):
    return copy_of_conf(tmp_path)


@pytest.fixture(autouse=True)
def _no_tracking_uri(monkeypatch):
    monkeypatch.delenv("MLFLOW_TRACKING_URI", raising=False)


def mlflow_settings(conf, **params):
    loaded = loader(conf, **params)
    loaded.config_patterns["mlflow"] = ["mlflow*"]  # as kedro-mlflow does
    return loaded["mlflow"]


def places(conf, **params):
    """Where each result of a run is kept."""
    catalog = loader(conf, **params)["catalog"]
    return {
        name: entry["filepath"] for name, entry in catalog.items() if "filepath" in entry and name != "source_graph"
    }


def paths(conf, **params):
    """Where the results of a run are kept."""
    return set(places(conf, **params).values())


def test_runs_with_different_settings_share_no_path(conf):
    runs = [
        {},
        {"dataset": "mine"},
        {"dataset": "csbm"},
        {"dataset": "csbm", "source": {"seed": 1}},
        {"dataset": "csbm", "source": {"nodes": 999}},
    ]
    for one, other in itertools.combinations([paths(conf, **run) for run in runs], 2):
        assert not one & other


@pytest.mark.parametrize(
    ("changed", "shared"),
    [
        ({"filters": {"self_loops": False}}, "graph targets splits dataset_statistics"),
        ({"features": {"structural": "svd"}}, "targets splits"),
        (
            {"source": {"splits": 3}},
            "graph operator filter_bank encoder embeddings loss_curve timing projection tuned_representation "
            "tuning checkpoint propagated_blocks",
        ),
        ({"representation": {"dim": 8}}, "graph targets splits dataset_statistics operator filter_bank"),
        (
            {"evaluation": {"trials": 3}},
            "graph targets splits dataset_statistics operator filter_bank encoder embeddings loss_curve timing "
            "tuned_representation tuning checkpoint propagated_blocks projection",
        ),
        (
            {"projection": {"map": "fourier"}},
            "graph targets splits dataset_statistics operator filter_bank encoder embeddings loss_curve timing "
            "tuned_representation tuning checkpoint propagated_blocks",
        ),
    ],
    ids=lambda value: next(iter(value)) if isinstance(value, dict) else "",
)
def test_runs_with_different_settings_share_the_paths_of_equal_results_and_no_other(conf, changed, shared):
    one, other = places(conf), places(conf, **changed)
    assert one.keys() == other.keys()
    assert {name for name in one if one[name] == other[name]} == set(shared.split())
    assert set(one.values()) & set(other.values()) == {one[name] for name in shared.split()}


def test_embeddings_are_computed_from_the_graph_operator_and_encoder_of_their_run(conf):
    for params in ({}, {"filters": {"size": 5}}, {"representation": {"method": "deepwalk"}}):
        catalog = loader(conf, **params)["catalog"]
        for name in ("graph", "operator", "encoder"):
            assert catalog["embeddings"][name] == catalog[name]["filepath"]


def test_no_two_results_of_a_run_share_a_path(conf):
    found = places(conf)
    assert len(set(found.values())) == len(found)


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


def test_a_reloaded_package_knows_which_database_was_its_own(conf, monkeypatch):
    """As in a notebook: Kedro forgets the package's modules and imports them again."""
    monkeypatch.setenv("MLFLOW_TRACKING_URI", loader(conf, data_folder="records").tracking()[0])
    found = importlib.util.spec_from_file_location("config_again", config.__file__)
    again = importlib.util.module_from_spec(found)
    found.loader.exec_module(again)
    other = again.ProjectConfigLoader(str(conf), runtime_params={"data_folder": "other"}, **settings.CONFIG_LOADER_ARGS)
    assert other.tracking()[0] == f"sqlite:///{conf.parent}/other/mlflow/mlflow.db"


def test_tracking_server_of_the_environment_wins(conf, monkeypatch):
    monkeypatch.setenv("MLFLOW_TRACKING_URI", "http://localhost:5000")
    mlflow = mlflow_settings(conf, data_folder="records")
    assert mlflow["server"]["mlflow_tracking_uri"] == "http://localhost:5000"
    assert mlflow["tracking"]["experiment"]["create_experiment_kwargs"]["artifact_location"] is None
    assert not (conf.parent / "records").exists()
