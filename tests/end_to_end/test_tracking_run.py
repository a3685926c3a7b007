"""What MLflow holds of a run, and where its results can be found."""

import json

import mlflow
import pandas as pd
import pytest

PARAMS = {
    "dataset": "csbm",
    "source.nodes": 200,
    "representation.dim": 8,
    "representation.training.max_epochs": 6,
    "representation.training.threads": 1,
    "evaluation.trials": 2,
    "evaluation.splits": 2,
}
NAMED = {"report", "pictures", "embeddings", "weights", "predictions"}


@pytest.fixture(scope="module")
def data(tmp_path_factory):
    return tmp_path_factory.mktemp("tracked") / "data"


@pytest.fixture(scope="module")
def outputs(kedro, data):
    """What two commands say: a whole run, and its evaluation once more with a model that is registered."""
    outputs = []
    for arguments, more in ((["run"], {}), (["run", "--pipelines=evaluation"], {"model.register": "tiny"})):
        result = kedro(*arguments, **PARAMS, **more, data_folder=data)
        assert result.returncode == 0, result.stdout + result.stderr
        outputs.append("".join(result.stdout.split()))
    return outputs


@pytest.fixture(scope="module")
def client(outputs, data):
    return mlflow.MlflowClient(f"sqlite:///{data / 'mlflow' / 'mlflow.db'}")


@pytest.fixture(scope="module")
def runs(client):
    number = client.get_experiment_by_name("csbm").experiment_id
    return client.search_runs([number], order_by=["attributes.start_time ASC"])


@pytest.fixture(scope="module")
def summary(outputs, data):
    (path,) = data.glob("08_reporting/csbm/*/summary.json")
    return json.loads(path.read_text())


def test_each_command_is_one_finished_run_with_a_name_that_says_it(runs):
    assert [run.info.run_name for run in runs] == ["csbm figure 8"] * 2
    assert {run.info.status for run in runs} == {"FINISHED"}


def test_tags_say_what_was_run(runs, summary):
    tags = runs[0].data.tags
    told = {name: tags[name] for name in ("dataset", "method", "dim", "projection", "key", "data_checksum")}
    assert told == {
        "dataset": "csbm",
        "method": "figure",
        "dim": "8",
        "projection": "identity",
        "key": summary["key"],
        "data_checksum": summary["data_checksum"],
    }
    assert tags["command"].startswith("kedro run --params dataset=csbm,source.nodes=200,representation.dim=8")
    assert runs[1].data.tags["command"].startswith("kedro run --pipelines=evaluation --params dataset=csbm")
    assert tags.get("commit", "") == summary["commit"]


def test_parameters_are_there_once_and_no_object_in_words(runs):
    params = runs[0].data.params
    assert params["representation.training.max_epochs"] == "6"
    assert params["evaluation.trials"] == "2"
    assert not {"parameters", "representation", "evaluation", "filters", "projection", "features"} & set(params)
    values = [*params.values(), *(v for name, v in runs[0].data.tags.items() if not name.startswith("mlflow."))]
    assert not [value for value in values if "Settings(" in value or " object at " in value or "='" in value]


def test_metrics_are_those_of_the_summary(runs, summary):
    for run in runs:
        assert {run.data.metrics[name] for name in ("test_mean", "test_accuracy_mean")} == {summary["test_mean"]}
        assert run.data.metrics["test_std"] == summary["test_std"]
        assert run.data.metrics["epochs"] == summary["epochs"]


def test_a_run_that_did_not_train_has_the_curve_too(client, runs, summary):
    curves = [sorted((m.step, m.value) for m in client.get_metric_history(r.info.run_id, "loss")) for r in runs]
    assert len(curves[0]) == summary["epochs"] == 6
    assert curves[0] == curves[1]


def test_the_graph_is_an_input(runs, summary):
    for run in runs:
        (graph,) = run.inputs.dataset_inputs
        assert graph.dataset.name == "csbm"
        assert summary["data_checksum"].startswith(graph.dataset.digest)
        assert json.loads(graph.dataset.profile)["nodes"] == 200


def test_artefacts_are_report_tables_pictures_weights_and_predictions(client, runs):
    for run in runs:
        report = {artefact.path for artefact in client.list_artifacts(run.info.run_id, "report")}
        assert {f"report/{name}" for name in ("results.md", "results.csv", "summary.json", "tsne.png")} <= report
        (weights,) = client.list_artifacts(run.info.run_id, "weights")
        (predictions,) = client.list_artifacts(run.info.run_id, "predictions")
        assert (weights.path, predictions.path) == ("weights/weights.safetensors", "predictions/predictions.parquet")


def test_panel_summary_and_mlflow_name_the_same_paths(outputs, runs, summary):
    assert set(summary["artefacts"]) >= NAMED
    for name, path in summary["artefacts"].items():
        assert path in outputs[0].replace("│", "")
        assert runs[0].data.tags[f"path.{name}"] == path


def test_one_folder_leads_to_everything(data, summary):
    (folder,) = data.glob("runs/csbm/*")
    assert folder.name == f"figure-8-{summary['key']}"
    assert len(pd.read_parquet(folder / "embeddings" / "I.parquet")) == 200
    assert (folder / "pictures" / "tsne.png").exists()
    assert json.loads((folder / "summary.json").read_text()) == summary
    assert {path.stem for path in folder.iterdir()} >= NAMED


def test_the_registered_model_is_in_the_run_folder_and_predicts(client, runs, data, outputs):
    (version,) = client.search_model_versions("name = 'tiny'")
    assert version.run_id == runs[1].info.run_id
    (folder,) = data.glob("runs/csbm/*")
    model = mlflow.pyfunc.load_model(str(folder / "model" / "artifacts"))
    assert str(folder / "model" / "artifacts") in outputs[1].replace("│", "")
    answer = model.predict(model.input_example)
    assert answer["predicted"].tolist() == [max("0123", key=lambda name: answer[f"p_{name}"][0])]


def test_runs_are_listed_and_one_is_shown_with_its_paths(command, data, summary):
    listed = command("runs", data_folder=data)
    assert listed.exit_code == 0, listed.output
    (line,) = [line for line in listed.output.splitlines() if summary["key"] in line]
    assert f"figure 8  {summary['test_mean']:.2f} ({summary['test_std']:.2f})" in line
    assert "evaluation.trials=2" in line
    shown = command("runs", "--key", summary["key"][:4], data_folder=data)
    assert all(path in shown.output for path in summary["artefacts"].values())
    assert "kedro run --params dataset=csbm,source.nodes=200" in shown.output


def test_a_mistake_about_runs_is_one_line(command, data):
    result = command("runs", "--key", "zzzz", data_folder=data)
    assert (result.exit_code, result.output) == (
        2,
        "Error: there is no run with the key 'zzzz'; `kedro runs` lists those that there are\n",
    )
    result = command("runs", data_folder=data, dataset="cora")
    assert result.exit_code == 2
    assert "choose runs by --datasets and --key" in result.output


@pytest.mark.parametrize(
    ("params", "line"),
    [
        ({"representation.method": "deepwalk"}, "deepwalk knows only those that it was trained on"),
        ({"evaluation.head": "gcn"}, "gcn has no encoder"),
    ],
)
def test_a_model_that_cannot_be_packaged_is_refused_before_anything_runs(params, line, command, tmp_path):
    result = command("run", dataset="csbm", **params, **{"model.package": True}, data_folder=tmp_path / "data")
    assert result.exit_code == 2
    assert line in result.output
    assert not (tmp_path / "data").exists()


def test_system_metrics_are_recorded_on_request_and_large_files_stay(session, tmp_path, monkeypatch):
    monkeypatch.setenv("MLFLOW_SYSTEM_METRICS_SAMPLING_INTERVAL", "0.05")
    small = {"source": {"nodes": 60}, "representation": {"dim": 4, "training": {"max_epochs": 3, "threads": 1}}}
    tracking = {"system_metrics": True, "artefact_mb": 0}
    session(["representation"], data_folder=str(tmp_path), dataset="csbm", tracking=tracking, **small)
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path / 'mlflow' / 'mlflow.db'}")
    (run,) = client.search_runs([client.get_experiment_by_name("csbm").experiment_id])
    assert run.data.metrics["system/system_memory_usage_megabytes"] > 0
    assert client.list_artifacts(run.info.run_id) == []
    assert run.data.tags["path.weights"].endswith("weights.safetensors")


def test_an_experiment_that_another_first_run_has_just_made_is_used(session, tmp_path, monkeypatch):
    session(["data_processing"], dataset="csbm", source={"nodes": 40}, data_folder=str(tmp_path))
    find, looked = mlflow.MlflowClient.get_experiment_by_name, []

    def not_yet(client, name):  # what the slower of two first runs sees when it looks
        looked.append(name)
        return find(client, name) if len(looked) > 1 else None

    monkeypatch.setattr(mlflow.MlflowClient, "get_experiment_by_name", not_yet)
    session(["data_processing"], dataset="csbm", source={"nodes": 40}, data_folder=str(tmp_path))
    client = mlflow.MlflowClient(f"sqlite:///{tmp_path}/mlflow/mlflow.db")
    experiment = find(client, "csbm")
    assert [run.info.status for run in client.search_runs([experiment.experiment_id])] == ["FINISHED", "FINISHED"]
