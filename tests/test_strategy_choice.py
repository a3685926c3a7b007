"""The way of training that fits into memory is chosen, and said."""

import logging

import numpy as np
import pytest

from estimators import VARIANTS, estimator
from examples import example_graph
from figure_kedro.filters import Operator
from figure_kedro.methods import strategy as strategies

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.fixture
def short_of_memory(monkeypatch, caplog):
    monkeypatch.setattr(strategies, "available_memory", lambda device: 1000)
    caplog.set_level(logging.INFO)
    return caplog


def test_auto_strategy_takes_the_whole_graph_where_it_fits_and_says_so(caplog):
    caplog.set_level(logging.INFO)
    estimator().fit(example_graph())
    assert "strategy full on cpu: a whole-graph step takes about" in caplog.text


def test_auto_strategy_is_decoupled_when_memory_is_short_and_says_so(short_of_memory):
    made = []

    def allocate(name, shape):
        made.append(name)
        return np.empty(shape, dtype=np.float32)

    figure = estimator().fit(example_graph(), allocate=allocate)
    assert "strategy decoupled on cpu: a whole-graph step takes about" in short_of_memory.text
    assert "true_1" in made
    assert figure.record_.epochs == 4


@pytest.mark.parametrize("variant", VARIANTS[1:], ids=str)
def test_auto_strategy_stays_full_for_encoders_that_cannot_be_decoupled(variant, short_of_memory):
    estimator(encoder=variant).fit(example_graph())
    assert "strategy full on cpu" in short_of_memory.text


def test_estimate_of_memory_counts_what_every_layer_keeps(monkeypatch):
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    graph = example_graph(4000, features="sparse")
    estimates = []
    for layers in (1, 2, 3):
        figure = estimator(64, encoder={"gcn_layers": layers})
        model = figure.method.build(4000, 6)
        nnz = Operator.of(graph, figure.filters).matrix.nnz
        estimates.append(strategies.estimate_memory(figure.settings, model, graph.features, nnz))
    block = 4 * 4000 * 2 * 64  # three filters, two blocks a layer
    assert np.diff(estimates).tolist() == [6 * block, 6 * block]


@pytest.mark.parametrize("strategy", ["full", "sampled", "decoupled"])
def test_strategy_that_is_asked_for_is_taken(strategy, short_of_memory):
    estimator(strategy=strategy).fit(example_graph())
    assert f"strategy {strategy} on cpu, as asked for" in short_of_memory.text
