"""DGI is FiGURe with the adjacency for its only filter, and is computed and trained as that."""

import numpy as np
import pytest
import torch

from examples import (
    assert_same_loss_and_gradients,
    dense_features,
    exact_filters,
    example_graph,
    operator_of,
    relabelled,
)
from figure_kedro.estimator import Representation
from figure_kedro.filters import BANKS, build_bank
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.full import FullObjective
from figure_kedro.methods.kinds.dgi import Adjacency, Dgi, DgiSettings
from oracle import encode, oracle_loss

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")
VARIANTS = [{}, {"gcn_layers": 2}, {"mlp_layers": 2}, {"shared": False}]
STRATEGIES = {
    "full": {},
    "sampled": {"sampled": {"size": 9, "batch": 2}},
    "decoupled": {"decoupled": {"batch_rows": 5, "corruptions": 2}},
}


def method(bank="monomial", **settings):
    return Dgi(DgiSettings(dim=5, **settings), build_bank(bank, 4))


def model_of(chosen, columns=6):
    """A model with a random bias too, so that no gradient is zero by accident."""
    model = chosen.build(0, columns)
    with torch.no_grad():
        for encoder in model.encoders:
            encoder.bias.normal_(generator=torch.Generator().manual_seed(2))
    return model


def only_filter(graph, *, self_loops=True):
    """The normalised adjacency as a matrix: the second of the powers."""
    return exact_filters(graph, "monomial", 2, self_loops=self_loops)[1]


def corruption(seed, nodes=14):
    return torch.randperm(nodes, generator=torch.Generator().manual_seed(seed))


def loss_of(objective, seed=3):
    (loss,) = objective.losses(0, torch.Generator().manual_seed(seed))
    return loss


@pytest.mark.parametrize("filter_first", [True, False])
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("directed", [False, True])
def test_loss_equals_the_oracle_with_the_single_filter_a(directed, self_loops, filter_first):
    graph, chosen = example_graph(directed=directed), method()
    model = model_of(chosen)
    operator = operator_of(graph, self_loops=self_loops).on()
    objective = FullObjective(model, FeatureMatrix(graph.features), operator, chosen.bank, filter_first)
    assert objective.filter_first is filter_first
    exact = oracle_loss(model, dense_features(graph), [only_filter(graph, self_loops=self_loops)], corruption(3))
    assert_same_loss_and_gradients(model, loss_of(objective), exact)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("features", ["dense", "sparse"])
def test_objective_of_the_method_equals_the_oracle_for_every_encoder(features, variant, monkeypatch):
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    graph, chosen = example_graph(features=features), method(strategy="full", encoder=variant)
    model = model_of(chosen)
    objective = chosen.objective(model, graph, operator_of(graph), CPU, None)
    exact = oracle_loss(model, dense_features(graph), [only_filter(graph)], corruption(5))
    assert_same_loss_and_gradients(model, loss_of(objective, 5), exact)


@pytest.mark.parametrize("directed", [False, True])
def test_decoupled_step_on_all_rows_equals_the_oracle(directed):
    graph, chosen = example_graph(directed=directed), method(strategy="decoupled", decoupled={"corruptions": 0})
    model = model_of(chosen)
    objective = chosen.objective(model, graph, operator_of(graph), CPU, None)
    exact = oracle_loss(model, dense_features(graph), [only_filter(graph)], corruption(3))
    assert_same_loss_and_gradients(model, loss_of(objective), exact)


@pytest.mark.parametrize("directed", [False, True])
def test_sampled_step_equals_the_oracle_on_the_sub_matrix(directed):
    graph = example_graph(directed=directed)
    chosen = method(strategy="sampled", sampled={"size": 6, "batch": 1, "nodes": "random"})
    model = model_of(chosen)
    objective = chosen.objective(model, graph, operator_of(graph), CPU, None)
    generator = torch.Generator().manual_seed(3)
    nodes, order = torch.randperm(14, generator=generator)[:6], torch.randperm(6, generator=generator)
    exact = oracle_loss(model, dense_features(graph)[nodes], [only_filter(graph)[nodes][:, nodes]], order)
    assert_same_loss_and_gradients(model, loss_of(objective), exact)


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_every_strategy_trains_it(strategy, directed, features):
    graph = example_graph(40, directed=directed, features=features)
    training = {"max_epochs": 60, "patience": 60, "learning_rate": 1e-2, "threads": 1, "device": "cpu"}
    settings = DgiSettings(dim=5, strategy=strategy, training=training, **STRATEGIES[strategy])
    dgi = Representation(settings=settings, progress=False).fit(graph)
    losses = dgi.record_.losses
    assert len(losses) == 60
    assert np.mean(losses[-10:]) < np.mean(losses[:10])
    (view,) = dgi.transform(graph).values()
    expected = encode(dgi.model_.encoders[0], dense_features(graph), only_filter(graph)).detach()
    np.testing.assert_allclose(view, expected, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("bank", BANKS.names())
def test_bank_of_filters_does_not_matter(bank):
    graph = example_graph()
    chosen, other = method(bank, strategy="full"), method(strategy="full")
    assert chosen.views == ("A",)
    losses = [loss_of(m.objective(model_of(m), graph, operator_of(graph), CPU, None)).item() for m in (chosen, other)]
    assert losses[0] == losses[1]


def test_embedding_commutes_with_relabelling():
    graph, chosen = example_graph(), method()
    order = np.random.default_rng(1).permutation(graph.num_nodes)
    model, moved = model_of(chosen), relabelled(graph, order)
    (before,), (after,) = (chosen.embed(model, g, operator_of(g)) for g in (graph, moved))
    np.testing.assert_allclose(before[order], after, atol=1e-5)


def test_only_filter_is_no_identity_and_its_response_that_of_the_adjacency():
    bank = Adjacency()
    assert bank.identities == (False,)
    assert (bank.size, bank.degree, len(bank.names)) == (1, 1, 1)
    eigenvalues = np.linspace(0, 2, 9)
    np.testing.assert_allclose(bank.response(eigenvalues), [1 - eigenvalues])


def test_adjacency_that_dgi_brings_is_no_bank_to_choose():
    assert "adjacency" not in BANKS.names()
