"""The packaged model in Python, as MLflow loads it."""

import dataclasses
import json
import shutil
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import pytest
from mlflow.exceptions import MlflowException

from figure_kedro.errors import UserError
from figure_kedro.evaluation.classifier import NoClassifier
from figure_kedro.filters import BANKS
from figure_kedro.graph import graph_from_edges
from figure_kedro.methods.method import METHODS
from figure_kedro.serving.package import local_path, log_model
from packaged_model import NAMES, fitted, package, small_graph

NO_CLASSIFIER = NoClassifier("there are no labels")


def request(**changes):
    """Two new nodes, one beside known nodes and one beside the first."""
    table = pd.DataFrame(
        {
            "id": [100, 101],
            "neighbours": [[0, 3], [100]],
            "depth": [0.5, -0.5],
            "height": [1.0, 0.0],
            "width": [2.0, 0.25],
        }
    )
    return table.assign(**changes)


def joined(graph):
    """The graph with the nodes of :func:`request` in it."""
    known = graph.adjacency.tocoo()
    source = np.concatenate([known.row, [12, 12, 13]])
    target = np.concatenate([known.col, [0, 3, 12]])
    features = np.concatenate([graph.features, request()[list(NAMES)].to_numpy(np.float32)])
    return graph_from_edges(source, target, name="joined", num_nodes=14, features=features)


def test_predictions_are_those_of_the_joined_graph(packaged):
    graph, encoder, classifier, _, model = packaged
    answer = model.predict(request(), params={"embeddings": True})
    views = encoder.transform(joined(graph))
    expected = classifier.probabilities({name: view[12:] for name, view in views.items()})
    np.testing.assert_allclose(answer[["p_no", "p_yes"]], expected, atol=1e-6)
    assert answer["id"].tolist() == [100, 101]
    assert answer["predicted"].tolist() == [classifier.classes[i] for i in expected.argmax(axis=1)]
    for name, view in views.items():
        np.testing.assert_allclose(np.stack(answer[f"embedding_{name}"]), view[12:], atol=1e-6)


def test_embeddings_come_on_request_and_in_place_of_predictions_where_there_is_no_classifier(
    packaged, without_classifier
):
    assert list(packaged[-1].predict(request())) == ["id", "predicted", "p_no", "p_yes"]
    model = without_classifier
    table = request(id=["a", "b"], neighbours=[["node 0"], ["a", "node 5"]])
    assert list(model.predict(table)) == ["id", *(f"embedding_{name}" for name in ("I", "A", "A^2", "A^3"))]


def test_the_order_of_columns_does_not_matter(packaged):
    model, table = packaged[-1], request()
    pd.testing.assert_frame_equal(model.predict(table), model.predict(table[list(reversed(table.columns))]))


def test_a_call_does_not_change_the_next(packaged):
    model = packaged[-1]
    pd.testing.assert_frame_equal(model.predict(request()), model.predict(request()))


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"neighbours": [[0], [55]]}, "there is no node '55'"),
        ({"id": [3, 101], "neighbours": [[0], [1]]}, "node '3' is in ring already"),
        ({"id": [100, 100]}, "node '100' is there twice"),
        ({"width": [np.nan, 1.0]}, "column 'width': node '100' has 'nan', which is no finite number"),
        ({"weights": [[1.0], [1.0]]}, "node '100' has 2 neighbours and 1 weights"),
        ({"weights": [[1.0, -1.0], [1.0]]}, "the weights of edges must be positive numbers"),
    ],
)
def test_a_mistake_in_a_request_is_one_line(changes, line, packaged):
    with pytest.raises(MlflowException) as error:
        packaged[-1].predict(request(**changes))
    assert line in error.value.message
    assert "\n" not in error.value.message
    assert error.value.get_http_status_code() == 400


@pytest.mark.parametrize("column", ["id", "depth"])
def test_a_missing_column_is_named(column, packaged):
    with pytest.raises(MlflowException, match=f"the request has no column '{column}'"):
        packaged[-1].predict(request().drop(columns=column))


def test_signature_and_example_say_what_a_request_is(packaged):
    _, _, _, info, model = packaged
    assert info.signature.inputs.input_names() == ["id", "neighbours", "weights", *NAMES]
    assert str(info.signature.inputs.input_dict()["neighbours"].type) == "Array(long)"
    assert info.signature.params.to_dict()[0]["name"] == "embeddings"
    assert len(model.predict(model.input_example)) == 1


def test_the_model_holds_no_pickle_and_names_the_package(packaged):
    folder = local_path(packaged[3])
    names = {path.name for path in folder.rglob("*") if path.is_file()}
    assert not [name for name in names if name.endswith((".pkl", ".pickle", ".pt"))]
    assert {"model_code.py", "weights.safetensors", "classifier.safetensors"} <= names
    assert "figure-kedro==" in (folder / "requirements.txt").read_text()


def test_a_model_whose_weights_are_cut_short_is_one_line(packaged, tmp_path):
    folder = tmp_path / "cut"
    shutil.copytree(local_path(packaged[3]), folder)
    weights = folder / "artifacts" / "weights.safetensors"
    weights.write_bytes(weights.read_bytes()[:-20])
    with pytest.raises(UserError, match="is damaged"):
        mlflow.pyfunc.load_model(str(folder))


def test_a_registered_model_is_loaded_by_its_name(tmp_path):
    graph = small_graph()
    for version in ("1", "2"):
        info = package(tmp_path / version, graph, fitted(graph), NO_CLASSIFIER, store=tmp_path, register="ring")
        assert str(info.registered_model_version) == version
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{tmp_path}/mlflow.db")
    try:
        model = mlflow.pyfunc.load_model("models:/ring/2")
    finally:
        mlflow.set_tracking_uri(before)
    assert len(model.predict(model.input_example)) == 1


def test_methods_and_features_that_new_nodes_cannot_have_are_refused():
    graph = small_graph()
    settings = METHODS.parse({"method": "deepwalk"})
    with pytest.raises(UserError, match="deepwalk knows only the nodes that it was trained on"):
        log_model({}, graph, METHODS.part(settings)(settings, BANKS.build(BANKS.parse({}))), normalise="none")
    structural = dataclasses.replace(graph, feature_names=NAMES[:2], trusted=True)
    with pytest.raises(UserError, match="are made from all of its edges"):
        log_model({}, structural, fitted(graph).method, normalise="none")


def test_the_example_is_a_request_that_the_server_takes(packaged):
    example = json.loads((Path(local_path(packaged[3])) / "serving_input_example.json").read_text())
    assert example["dataframe_split"]["columns"] == ["id", "neighbours", *NAMES]
