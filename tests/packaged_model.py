"""A small model, and ways to package it and to ask it."""

import json
import urllib.error
import urllib.request

import mlflow
import numpy as np
import torch

from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset
from figure_kedro.estimator import Representation
from figure_kedro.evaluation.classifier import Classifier
from figure_kedro.evaluation.head import HEADS
from figure_kedro.filters import Operator
from figure_kedro.graph import graph_from_edges
from figure_kedro.methods.method import METHODS
from figure_kedro.projections import MAPS, Projection
from figure_kedro.serving.package import log_model

NAMES = ("height", "width", "depth")


def small_graph(ids=None):
    """Twelve nodes in a ring with chords, three named features."""
    nodes = np.arange(12)
    source, target = np.concatenate([nodes, nodes[:4]]), np.concatenate([(nodes + 1) % 12, nodes[:4] + 6])
    features = np.random.default_rng(0).normal(size=(12, 3)).astype(np.float32)
    graph = graph_from_edges(
        source, target, name="ring", num_nodes=12, ids=nodes if ids is None else ids, features=features
    )
    return type(graph)(**{**vars(graph), "feature_names": NAMES})


def fitted(graph):
    settings = METHODS.parse({"method": "figure", "dim": 4, "training": {"max_epochs": 3, "threads": 1}})
    return Representation(settings=settings, progress=False).fit(graph)


def package(folder, graph, encoder, classifier, store=None, **rest):
    """Log the model to a store, by default in the same folder, and return what MLflow says of it."""
    store = store or folder
    operator = Operator.of(graph, encoder.filters)
    GraphDataset(filepath=str(folder / "graph")).save(graph)
    OperatorDataset(filepath=str(folder / "operator")).save(operator)
    encoder.save(folder / "encoder")
    classifier.save(folder / "classifier")
    files = {"graph": folder / "graph", "operator": folder / "operator"}
    files |= {"weights": folder / "encoder" / "weights.safetensors"}
    files |= {"classifier": folder / "classifier" / "classifier.safetensors"}
    before = mlflow.get_tracking_uri()
    mlflow.set_tracking_uri(f"sqlite:///{store}/mlflow.db")
    try:
        number = mlflow.create_experiment(folder.name, artifact_location=(folder / "kept").as_uri())
        with mlflow.start_run(experiment_id=number):
            return log_model(files, graph, encoder.method, normalise="none", **rest)
    finally:
        mlflow.set_tracking_uri(before)


def classifier_of(encoder, graph):
    """A linear classifier of two classes with weights that are drawn."""
    views = encoder.transform(graph)
    projection = Projection.fit(MAPS.parse({}), list(views.values()))
    generator = torch.Generator().manual_seed(0)
    weights = {
        "alpha": torch.ones(len(views)),
        "weights": torch.randn(2, encoder.width, generator=generator),
        "bias": torch.zeros(2),
    }
    classes, chosen = ("no", "yes"), ("accuracy", 0, "train_and_val")
    return Classifier(HEADS.parse({}), projection, {}, weights, classes, tuple(views), *chosen)


def post(port, body):
    """Status and answer of a request."""
    data = body if isinstance(body, bytes) else json.dumps(body).encode()
    request = urllib.request.Request(
        f"http://127.0.0.1:{port}/invocations", data, headers={"Content-Type": "application/json"}
    )
    try:
        with urllib.request.urlopen(request, timeout=60) as answer:
            return answer.status, json.load(answer)
    except urllib.error.HTTPError as error:
        return error.code, json.load(error)
