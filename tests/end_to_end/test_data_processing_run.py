"""The data_processing pipeline as a user runs it."""

import json
import sqlite3
from pathlib import Path

import pandas as pd
import pytest

from figure_kedro.errors import UserError

PROJECT = Path(__file__).parents[2]
SMALL = {"dataset": "csbm", "source": {"nodes": 60, "degree": 4}}
SMALL_OPTIONS = {"source.nodes": 30, "source.degree": 4}

# as stated by the publishers: nodes, undirected edges, features, classes, train, val, test, edge homophily
COUNTS = {
    "cora": (2708, 5278, 1433, 7, 1192, 796, 497, 0.8100),
    "citeseer": (3327, 4552, 3703, 6, 1596, 1065, 666, 0.7355),
    "pubmed": (19717, 44324, 500, 3, 9463, 6310, 3944, 0.8024),
    "chameleon": (2277, 31371, 2325, 5, 1092, 729, 456, 0.2299),
    "squirrel": (5201, 198353, 2089, 5, 2496, 1664, 1041, 0.2221),
    "minesweeper": (10000, 39402, 7, 2, 5000, 2500, 2500, 0.6828),
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """A data folder that several runs share, as a user's do."""
    return tmp_path_factory.mktemp("project") / "data"


@pytest.fixture(scope="module")
def default_run(kedro, folder):
    before = files(PROJECT / "data" / "03_primary"), (PROJECT / "mlruns").exists()
    result = kedro("run", "--pipelines=data_processing", data_folder=folder)
    assert result.returncode == 0, result.stdout + result.stderr
    assert (files(PROJECT / "data" / "03_primary"), (PROJECT / "mlruns").exists()) == before
    return result


def files(folder):
    return {path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file()}


def artefacts(folder):
    """All files but those of MLflow and the digests of the others."""
    found = files(folder) if folder.exists() else set()
    return {path for path in found if not path.startswith("mlflow/") and ".digests" not in path}


def records(folder, query):
    with sqlite3.connect(folder / "mlflow" / "mlflow.db") as database:
        return database.execute(query).fetchall()


def statistics(folder, dataset):
    (path,) = folder.glob(f"08_reporting/{dataset}/*/dataset_statistics.csv")
    (row,) = pd.read_csv(path).to_dict("records")
    return row


def test_default_data_set_leaves_every_output(default_run, folder):
    graph = {"ids", "adjacency_indptr", "adjacency_indices", "adjacency_data", "features"}
    matrix = {"matrix_indptr", "matrix_indices", "matrix_data"}
    expected = {
        *(f"03_primary/graph/{name}.npy" for name in graph),
        "03_primary/graph/description.json",
        *(f"03_primary/targets/{name}.npy" for name in ("labels", "splits", "twins")),
        "03_primary/targets/description.json",
        "03_primary/splits.parquet",
        *(f"05_model_input/operator/{name}.npy" for name in matrix),
        "05_model_input/operator/description.json",
        "05_model_input/filter_bank.json",
        "08_reporting/dataset_statistics.csv",
    }
    found = [Path(path).parts for path in artefacts(folder) if "minesweeper_generated" in path]
    assert {"/".join((layer, *rest)) for layer, _, key, *rest in found} == expected


def test_default_data_set_is_the_published_recipe(default_run, folder):
    row = statistics(folder, "minesweeper_generated")
    assert [row[name] for name in ("nodes", "edges", "features", "classes")] == [10000, 39402, 7, 2]
    assert [row[name] for name in ("train", "val", "test", "splits")] == [5000, 2500, 2500, 10]
    assert 0.6 < row["homophily"] < 0.75


def test_log_says_where_the_reports_are_and_nothing_alarming(default_run):
    log = "".join(default_run.stdout.split())  # the log wraps long paths
    assert "dataset_statistics.csv" in log
    assert "WARNING" not in log
    assert default_run.stderr == ""


def test_mlflow_gets_every_setting_of_the_run(default_run, folder):
    runs = "select run_uuid from runs join experiments using (experiment_id) where experiments.name = '{}'"
    query = f"select key, value from params where run_uuid in ({runs.format('minesweeper_generated')})"
    logged = dict(records(folder, query))
    assert logged["dataset"] == "minesweeper_generated"
    assert logged["source.rows"] == "100"
    assert logged["features.structural"] == "auto"
    assert logged["filters.bank"] == "monomial"
    assert logged["filters.self_loops"] == "True"
    assert ("FINISHED",) in records(folder, "select status from runs")


def test_old_spelling_of_the_option_works_too(command, folder, default_run):
    before = files(folder / "03_primary")
    result = command("run", "--pipeline=data_processing", data_folder=folder, dataset="csbm", **SMALL_OPTIONS)
    assert result.exit_code == 0, result.output
    assert statistics(folder, "csbm")["nodes"] == 30
    assert before < files(folder / "03_primary")


def test_misspelt_data_set_is_one_line_and_nothing_else(kedro, tmp_path):
    result = kedro("run", data_folder=tmp_path / "data", dataset="coar")
    assert result.returncode == 2
    assert result.stderr == "Error: there is no data set 'coar'; did you mean 'cora'?\n"
    assert not any(word in result.stdout for word in ("Traceback", "WARNING", "ERROR"))
    assert not (tmp_path / "data").exists()


@pytest.mark.parametrize(
    ("arguments", "params", "line"),
    [
        ((), {"filters.bnak": 3}, "unknown parameter 'filters.bnak'; did you mean 'filters.bank'?"),
        (
            (),
            {"filters.bank": "bernstien"},
            "parameter 'filters.bank': there is no 'bernstien'; did you mean 'bernstein'?",
        ),
        ((), {"source.kind": "csmb"}, "parameter 'source.kind': there is no 'csmb'; did you mean 'csbm'?"),
        (("--pipelines=data_procesing",), {}, "there is no pipeline 'data_procesing'; did you mean 'data_processing'?"),
    ],
)
def test_mistake_on_the_command_line_exits_with_two_before_anything_runs(command, tmp_path, arguments, params, line):
    result = command("run", *arguments, data_folder=tmp_path / "data", **params)
    assert (result.exit_code, result.stderr) == (2, f"Error: {line}\n")
    assert not (tmp_path / "data").exists()


def test_mistake_in_a_notebook_is_the_same_error_as_in_the_library(session, tmp_path):
    with pytest.raises(UserError, match="did you mean 'cora'"):
        session(["data_processing"], data_folder=str(tmp_path / "data"), dataset="coar")


def test_bad_graph_is_one_line_and_leaves_no_artefact(command, tmp_path):
    (tmp_path / "edges.csv").write_text("from,to\nx,y\ny,z\nz,w\n")
    (tmp_path / "nodes.csv").write_text("id,weight,label\nx,1,p\ny,nan,q\nz,2,p\nw,3,q\n")
    source = {"edges": tmp_path / "edges.csv", "nodes": tmp_path / "nodes.csv", "label_column": "label"}
    params = {f"source.{name}": value for name, value in source.items()}
    result = command("run", data_folder=tmp_path / "data", dataset="own", **params)
    assert result.exit_code == 2
    assert result.stderr == (
        f"Error: {tmp_path}/nodes.csv, column 'weight': node 'y' has 'nan', which is no finite number; "
        "fill it in or choose other feature_columns\n"
    )
    assert not any(word in result.stdout for word in ("Traceback", "WARNING", "ERROR"))
    assert artefacts(tmp_path / "data") == set()
    assert records(tmp_path / "data", "select status from runs") == [("FAILED",)]


def test_own_graph_keeps_its_ids_and_splits(session, folder, tmp_path):
    (tmp_path / "edges.csv").write_text("from,to\nx,y\ny,z\nz,w\nw,w\n")
    (tmp_path / "nodes.csv").write_text("id,size,label,part\nz,1,p,train\ny,5,q,train\nx,2,p,val\nw,3,q,test\n")
    source = {"edges": tmp_path / "edges.csv", "nodes": tmp_path / "nodes.csv", "label_column": "label"}
    source = {name: str(value) for name, value in source.items()} | {"split_columns": "part"}
    session(["data_processing"], data_folder=str(folder), dataset="own", source=source)
    (path,) = folder.glob("03_primary/own/*/splits.parquet")
    table = pd.read_parquet(path)
    assert table["id"].tolist() == ["z", "y", "x", "w"]
    assert table["split_0"].tolist() == ["train", "train", "val", "test"]
    assert statistics(folder, "own")["edges"] == 3


def test_runs_share_what_their_settings_do_not_change_and_nothing_else(session, folder):
    seen = [artefacts(folder)]
    made = []
    for change in ({}, {"filters": {"self_loops": False}}, {"features": {"structural": "degrees"}}):
        contents = {path: (folder / path).read_bytes() for path in seen[-1]}
        session(["data_processing"], data_folder=str(folder), **SMALL, **change)
        seen.append(artefacts(folder))
        made.append({Path(path).parts[0] for path in seen[-1] - seen[-2]})
        assert {path: (folder / path).read_bytes() for path in contents} == contents
    assert made[0] == {"03_primary", "05_model_input", "08_reporting"}
    assert made[1] == {"05_model_input"}, "another operator of the same graph"
    assert made[2] == {"03_primary", "05_model_input", "08_reporting"}, "another graph"


def test_equal_settings_give_the_same_graph_in_the_same_place(session, folder):
    checksums = []
    for _ in range(2):
        session(["data_processing"], data_folder=str(folder), dataset="csbm", source={"nodes": 70, "degree": 4})
        descriptions = [
            json.loads(path.read_text()) for path in folder.glob("03_primary/csbm/*/graph/description.json")
        ]
        checksums.append([item["checksum"] for item in descriptions if item["generated"]["nodes"] == 70])
    assert len(checksums[0]) == 1
    assert checksums[0] == checksums[1]


@pytest.mark.parametrize("name", COUNTS)
def test_published_data_set_has_its_counts(session, folder, mirror, name):
    as_published = {"protocol": "paper"} if name in ("chameleon", "squirrel") else {}
    session(["data_processing"], data_folder=str(folder), raw_mirror=str(mirror), dataset=name, **as_published)
    row = statistics(folder, name)
    columns = ("nodes", "edges", "features", "classes", "train", "val", "test")
    assert tuple(row[column] for column in columns) == COUNTS[name][:-1]
    assert round(row["homophily"], 4) == COUNTS[name][-1]
    assert row["splits"] == 10
