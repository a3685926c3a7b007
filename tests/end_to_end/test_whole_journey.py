"""``kedro run`` from the source to the summary."""

import json

import pandas as pd
import pytest

SMALL = {
    "source": {"nodes": 200, "degree": 8},
    "representation": {"dim": 8, "training": {"max_epochs": 20, "threads": 1}},
    "evaluation": {"trials": 2, "splits": 3},
}
SUMMARY = {
    "dataset",
    "method",
    "dimension",
    "projection",
    "metric",
    "splits",
    "test_mean",
    "test_std",
    "val_mean",
    "epochs",
    "mean_epoch_seconds",
    "peak_memory_mb",
    "storage_mb",
    "settings",
    "data_checksum",
    "version",
}


def one(folder, pattern):
    (path,) = folder.glob(pattern)
    return path


def test_a_run_ends_with_a_summary_that_matches_its_tables(session, tmp_path):
    changes = {"projection": {"map": "fourier"}, "reporting": {"formats": "pdf"}}
    session(["__default__"], data_folder=str(tmp_path), dataset="csbm", **changes, **SMALL)
    path = one(tmp_path, "08_reporting/csbm/*/summary.json")
    summary = json.loads(path.read_text())
    assert set(summary) >= SUMMARY
    scores = pd.read_csv(path.parent / "split_scores.csv")
    assert len(scores) == summary["splits"] == 3
    assert abs(100 * scores["test_accuracy"].mean() - summary["test_mean"]) < 1e-6
    written = {file.name for file in path.parent.iterdir()}
    expected = {"results.csv", "results.md", "alphas.csv", "timing.csv", "confusion_matrix.png", "loss.png"}
    assert written >= expected | {"tsne.png", "correlations.png", "alphas.png", "report.html"}
    assert summary["settings"]["projection"]["map"] == "fourier"
    assert {"tsne.pdf", "confusion_matrix.pdf"} <= written
    page = (path.parent / "report.html").read_text()
    assert f"{summary['test_mean']:.2f} ({summary['test_std']:.2f}) %" in page
    assert "kedro run --params " in page
    assert one(tmp_path, "mlflow/artifacts/*/artifacts/report/report.html").read_text() == page


def test_two_methods_share_no_artefact(session, tmp_path):
    for change in ({}, {"representation": {"method": "propagation"}}):
        session(["evaluation"], data_folder=str(tmp_path), dataset="csbm", **{**SMALL, **change})
    summaries = [json.loads(path.read_text()) for path in tmp_path.glob("08_reporting/csbm/*/summary.json")]
    assert {summary["method"] for summary in summaries} == {"figure", "propagation"}
    for layer in ("06_models", "07_model_output", "08_reporting"):
        names = [{file.name for file in folder.iterdir()} for folder in tmp_path.glob(f"{layer}/csbm/*")]
        assert sum("weights.safetensors" in files for files in names) in (0, 2), "each method has files of its own"


def test_a_graph_without_labels_is_embedded_and_its_evaluation_is_left_out(session, tmp_path, caplog):
    edges = tmp_path / "edges.csv"
    edges.write_text("from,to\n" + "\n".join(f"n{i},n{(i * 7 + 1) % 40}" for i in range(40)))
    small = {**SMALL, "source": {"edges": str(edges)}, "features": {"components": 8}}
    session(["__default__"], data_folder=str(tmp_path / "data"), dataset="own", **small)
    table = pd.read_parquet(one(tmp_path / "data", "07_model_output/own/*/embeddings/A.parquet"))
    assert table["id"].str.startswith("n").all()
    assert "there are no labels: evaluation is left out" in caplog.text
    assert json.loads(one(tmp_path / "data", "08_reporting/own/*/summary.json").read_text())["test_mean"] is None


def test_decoupled_strategy_trains_from_files_and_removes_them(session, tmp_path):
    small = {**SMALL, "representation": {**SMALL["representation"], "strategy": "decoupled"}}
    session(["data_processing", "representation"], data_folder=str(tmp_path), dataset="csbm", **small)
    assert one(tmp_path, "06_models/csbm/*/weights.safetensors").exists()
    assert not list(tmp_path.glob("05_model_input/csbm/*/propagated"))


@pytest.mark.parametrize(("dataset", "changes"), [("cora", {}), ("chameleon", {"source": {"directed": True}})])
def test_a_published_graph_with_sparse_features_goes_all_the_way(dataset, changes, session, tmp_path, mirror):
    small = {"representation": {"dim": 8, "training": {"max_epochs": 3}}, "evaluation": {"trials": 2, "splits": 1}}
    session(["__default__"], data_folder=str(tmp_path), raw_mirror=str(mirror), dataset=dataset, **small, **changes)
    summary = json.loads(one(tmp_path, f"08_reporting/{dataset}/*/summary.json").read_text())
    assert summary["test_mean"] > 30
    assert summary["twin_free_mean"] is not None
