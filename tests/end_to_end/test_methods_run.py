"""The methods that FiGURe is compared with, through the real command and into the same tables."""

import json

import pandas as pd
import pytest

SMALL = {
    "dataset": "csbm",
    "source.nodes": 120,
    "representation.dim": 8,
    "representation.training.max_epochs": 3,
    "representation.training.threads": 1,
    "evaluation.trials": 2,
    "evaluation.splits": 2,
}
NETWORK = {name: value for name, value in SMALL.items() if not name.startswith("representation.")}
TABLES = {"results.csv", "results.md", "timing.csv", "confusion_matrix.png", "tsne.png", "summary.json"}


def summary_of(result, folder):
    assert result.exit_code == 0, result.output
    (path,) = folder.glob("08_reporting/csbm/*/summary.json")
    assert {file.name for file in path.parent.iterdir()} >= TABLES
    return json.loads(path.read_text()), path.parent


@pytest.mark.parametrize("method", ["dgi", "mvgrl", "grace", "sugrl", "deepwalk", "node2vec"])
def test_every_method_runs_from_source_to_summary_with_fourier_features(method, command, tmp_path):
    params = SMALL | {"representation.method": method, "projection.map": "fourier", "projection.dim": 16}
    summary, folder = summary_of(command("run", data_folder=tmp_path, **params), tmp_path)
    assert (summary["method"], summary["dimension"], summary["projection"]) == (method, 8, "fourier")
    assert summary["epochs"] == 3
    assert summary["mean_epoch_seconds"] > 0
    assert len(pd.read_csv(folder / "split_scores.csv")) == 2


@pytest.mark.parametrize("model", ["gcn", "gprgnn", "h2gcn"])
def test_every_supervised_network_runs_into_the_same_tables(model, command, tmp_path):
    params = {**NETWORK, "evaluation.head": model, "evaluation.max_epochs": 5}
    summary, folder = summary_of(command("run", data_folder=tmp_path, **params), tmp_path)
    assert (summary["method"], summary["dimension"], summary["storage_mb"]) == (model, 64, 0)
    assert summary["mean_epoch_seconds"] > 0
    alphas = pd.read_csv(folder / "alphas.csv")
    assert (len(alphas) > 0) == (model == "gprgnn")


def test_the_mlp_head_runs_on_embeddings_and_claims_no_cell_of_the_paper(command, tmp_path):
    params = SMALL | {"evaluation.head": "mlp", "evaluation.max_epochs": 5}
    summary, folder = summary_of(command("run", data_folder=tmp_path, **params), tmp_path)
    assert (summary["method"], summary["head"], summary["paper_mean"]) == ("figure", "mlp", None)
    assert len(pd.read_csv(folder / "alphas.csv")) == 2


def test_the_metric_decides_and_is_what_every_report_shows(command, tmp_path):
    params = SMALL | {"evaluation.metric": "macro_f1"}
    result = command("run", data_folder=tmp_path, **params)
    summary, folder = summary_of(result, tmp_path)
    assert summary["metric"] == "macro_f1"
    assert summary["test_mean"] == summary["scores"]["macro_f1"]["test_mean"]
    assert "macro_f1" in result.output
    scores = pd.read_csv(folder / "split_scores.csv")
    best = pd.read_csv(folder / "alphas.csv").set_index("split")["best"]
    assert best[scores["val_macro_f1"].idxmax()] == "validation"
    assert "test_macro_f1" in (folder / "results.md").read_text()


def test_a_metric_for_two_classes_on_four_is_one_line(command, tmp_path):
    result = command("run", data_folder=tmp_path, **SMALL, **{"evaluation.metric": "roc_auc"})
    assert result.exit_code == 2
    assert "roc_auc needs two classes and the graph has 4" in result.output


def test_a_supervised_network_and_a_method_exclude_each_other_in_one_line(command, tmp_path):
    params = {**NETWORK, "evaluation.head": "gcn", "representation.method": "dgi"}
    result = command("run", data_folder=tmp_path, **params)
    assert result.exit_code != 0
    assert "leave representation.method out" in result.output + str(result.exception)
