"""A small model, packaged once for all tests."""

import mlflow
import numpy as np
import pytest

from figure_kedro.evaluation.classifier import NoClassifier
from packaged_model import classifier_of, fitted, package, small_graph


@pytest.fixture(scope="session")
def packaged(tmp_path_factory):
    """The graph, the encoder, the classifier and the loaded model."""
    folder = tmp_path_factory.mktemp("packaged")
    graph = small_graph()
    encoder = fitted(graph)
    classifier = classifier_of(encoder, graph)
    info = package(folder, graph, encoder, classifier)
    return graph, encoder, classifier, info, mlflow.pyfunc.load_model(info.artifact_path)


@pytest.fixture(scope="session")
def without_classifier(tmp_path_factory):
    folder = tmp_path_factory.mktemp("unlabelled")
    graph = small_graph(ids=np.array([f"node {i}" for i in range(12)]))
    info = package(folder, graph, fitted(graph), NoClassifier("there are no labels"))
    return mlflow.pyfunc.load_model(info.artifact_path)
