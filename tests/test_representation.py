"""Methods share one interface; the training-free ones go through it too."""

import numpy as np
import pytest

from examples import example_graph
from figure_kedro.filters import build_bank, normalised_adjacency
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.representation import METHODS, build_representation, restore_representation

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("method", METHODS)
@pytest.mark.parametrize("features", ["dense", "sparse"])
def test_every_method_embeds_all_filters_and_survives_its_state(method, features):
    graph = example_graph(features=features)
    settings = RepresentationSettings(method=method, dim=4, training={"max_epochs": 2})
    fitted = build_representation(FilterSettings(), settings).fit(graph)
    views = dict(fitted.views(graph))
    assert list(views) == ["I", "A", "A^2", "A^3"]
    restored = dict(restore_representation(fitted.state()).views(graph))
    for name, view in views.items():
        np.testing.assert_array_equal(view, restored[name])


def test_propagation_is_the_filtered_features():
    graph = example_graph()
    fitted = build_representation(FilterSettings(), RepresentationSettings(method="propagation")).fit(graph)
    matrix = normalised_adjacency(graph.adjacency).toarray()
    for power, (_, view) in enumerate(fitted.views(graph)):
        expected = np.linalg.matrix_power(matrix, power) @ graph.features
        np.testing.assert_allclose(view, expected, atol=1e-5)


def test_untrained_encoder_takes_no_step():
    graph = example_graph()
    fitted = build_representation(FilterSettings(), RepresentationSettings(method="untrained", dim=4)).fit(graph)
    assert fitted.record_.epochs == 0
    assert build_bank("monomial", 4).size == len(dict(fitted.views(graph)))
