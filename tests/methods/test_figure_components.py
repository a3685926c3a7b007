"""Components of the features beside a trained encoder, against numpy."""

import numpy as np
import pytest
import torch

from examples import example_graph
from figure_kedro.estimator import Representation
from figure_kedro.filters import normalised_adjacency
from figure_kedro.methods.method import METHODS

pytestmark = pytest.mark.usefixtures("one_thread")


def fitted(graph, **settings):
    given = {"dim": 8, "training": {"max_epochs": 5}, **settings}
    return Representation(settings=METHODS.parse({"method": "figure_components", **given}), progress=False).fit(graph)


@pytest.mark.parametrize("features", ["dense", "sparse"])
def test_the_last_columns_are_filtered_components_as_large_as_the_encoder_makes_the_features(features):
    graph = example_graph(features=features)
    x = np.asarray(graph.features.todense() if features == "sparse" else graph.features, dtype=np.float64)
    representation = fitted(graph, components=0.4)  # 3 of 8
    theta = representation.model_.encoders[0].theta.detach().numpy()
    directions = np.linalg.svd(x)[2][:3].T
    components = x @ directions
    components *= np.linalg.norm(components @ directions.T @ theta) / np.linalg.norm(components)
    matrix = normalised_adjacency(graph.adjacency).toarray()
    for power, view in enumerate(representation.transform(graph).values()):
        expected = np.linalg.matrix_power(matrix, power) @ components
        assert view.shape == (graph.num_nodes, 8)
        np.testing.assert_allclose(np.abs(view[:, 5:]), np.abs(expected), atol=1e-4)  # a direction may be reversed


def test_the_first_columns_are_those_of_figure_in_fewer_dimensions():
    graph = example_graph()
    alone = METHODS.parse({"method": "figure", "dim": 6, "training": {"max_epochs": 5}})
    expected = Representation(settings=alone, progress=False).fit(graph).transform(graph)
    for name, view in fitted(graph, components=0.25).transform(graph).items():
        np.testing.assert_array_equal(view[:, :6], expected[name])


@pytest.mark.parametrize("share", [0.01, 0.99])
def test_both_have_a_dimension_at_least_and_there_are_no_more_components_than_features(share):
    graph = example_graph()
    representation = fitted(graph, components=share, dim=40)
    trained = representation.model_.encoders[0].theta.shape[1]
    assert trained == (39 if share < 0.5 else 40 - min(39, graph.num_features))
    assert all(view.shape[1] == 40 for view in representation.transform(graph).values())


def test_features_that_are_all_zero_have_components_of_zero():
    graph = example_graph()
    graph = type(graph)(graph.name, graph.ids, graph.adjacency, features=np.zeros_like(graph.features))
    for view in fitted(graph).transform(graph).values():
        np.testing.assert_array_equal(view[:, 4:], 0.0)


def test_components_are_no_parameters_and_are_saved_with_the_weights(tmp_path):
    graph = example_graph()
    representation = fitted(graph)
    assert not {"directions", "strengths"} & {name for name, _ in representation.model_.named_parameters()}
    representation.save(tmp_path)
    restored = Representation.load(tmp_path)
    torch.testing.assert_close(restored.model_.directions, representation.model_.directions, rtol=0, atol=0)
