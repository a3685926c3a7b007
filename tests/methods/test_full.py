import math

import numpy as np
import pytest
import torch

from examples import (
    NODES,
    assert_same_loss_and_gradients,
    bank_and_filters,
    dense_features,
    example_graph,
    example_model,
    example_operator,
    unweighted,
    words_and_filters,
)
from figure_kedro.filters import build_bank
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.filter_order import is_pair_filter_first
from figure_kedro.methods.full import FullObjective
from oracle import oracle_loss

pytestmark = pytest.mark.usefixtures("one_thread")

BANKS = ("monomial", "bernstein", "chebyshev")
VARIANTS = [
    {"shared": False},
    {"gcn_layers": 2},
    {"gcn_layers": 3},
    {"mlp_layers": 2},
    {"mlp_layers": 3},
    {"gcn_layers": 2, "mlp_layers": 2, "shared": False},
]


def corruption(seed, nodes=NODES):
    return torch.randperm(nodes, generator=torch.Generator().manual_seed(seed))


def fast_loss(objective, seed):
    (loss,) = objective.losses(0, torch.Generator().manual_seed(seed))
    return loss


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("size", range(2, 7))
@pytest.mark.parametrize("name", BANKS)
def test_fast_loss_equals_the_oracle_for_every_bank(name, size, self_loops, directed):
    graph = example_graph(directed=directed, seed=size)
    bank, filters = bank_and_filters(graph, name, size, self_loops=self_loops)
    model = example_model(bank)
    operator = example_operator(graph, self_loops=self_loops)
    for filter_first in (True, False):
        exact = oracle_loss(model, dense_features(graph), filters, corruption(3))
        objective = FullObjective(model, FeatureMatrix(graph.features), operator, bank, filter_first)
        assert objective.filter_first is filter_first
        assert_same_loss_and_gradients(model, fast_loss(objective, 3), exact)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("size", range(2, 6))
def test_fast_loss_equals_the_oracle_for_words_in_both_directions(size, weighted, self_loops):
    graph = example_graph(directed=True, seed=size)
    graph = graph if weighted else unweighted(graph)
    bank, filters = words_and_filters(graph, size, self_loops=self_loops)
    model = example_model(bank)
    operator = example_operator(graph, self_loops=self_loops)
    for filter_first in (True, False):
        objective = FullObjective(model, FeatureMatrix(graph.features), operator, bank, filter_first)
        assert objective.filter_first is filter_first
        for seed in (3, 4):  # the second step writes into the arrays of the first
            exact = oracle_loss(model, dense_features(graph), filters, corruption(seed))
            assert_same_loss_and_gradients(model, fast_loss(objective, seed), exact)


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_fast_loss_equals_the_oracle_for_words_and_every_encoder(variant, features, monkeypatch):
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    graph = example_graph(directed=True, features=features)
    bank, filters = words_and_filters(graph, 3)
    model = example_model(bank, **variant)
    objective = FullObjective(model, FeatureMatrix(graph.features), example_operator(graph), bank)
    exact = oracle_loss(model, dense_features(graph), filters, corruption(7))
    assert_same_loss_and_gradients(model, fast_loss(objective, 7), exact)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", BANKS)
def test_sparse_features_give_the_loss_of_dense_ones(name, directed, monkeypatch):
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    graph = example_graph(directed=directed, features="sparse")
    bank, filters = bank_and_filters(graph, name, 4)
    model = example_model(bank)
    features = FeatureMatrix(graph.features)
    assert features.sparse
    objective = FullObjective(model, features, example_operator(graph), bank)
    exact = oracle_loss(model, dense_features(graph), filters, corruption(5))
    assert_same_loss_and_gradients(model, fast_loss(objective, 5), exact)


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("name", BANKS)
def test_fast_loss_equals_the_oracle_for_every_encoder(name, variant, features):
    graph = example_graph(features=features)
    bank, filters = bank_and_filters(graph, name, 4)
    model = example_model(bank, **variant)
    objective = FullObjective(model, FeatureMatrix(graph.features), example_operator(graph), bank)
    exact = oracle_loss(model, dense_features(graph), filters, corruption(7))
    assert_same_loss_and_gradients(model, fast_loss(objective, 7), exact)


@pytest.mark.parametrize("slope", [0.0, -0.5, 3.0])
@pytest.mark.parametrize("variant", [{}, {"gcn_layers": 2}, {"mlp_layers": 2}], ids=str)
def test_fast_loss_equals_the_oracle_for_any_slope(variant, slope):
    graph = example_graph(directed=True)
    bank, filters = bank_and_filters(graph, "chebyshev", 4, self_loops=False)
    model = example_model(bank, slope=slope, **variant)
    operator = example_operator(graph, self_loops=False)
    objective = FullObjective(model, FeatureMatrix(graph.features), operator, bank)
    exact = oracle_loss(model, dense_features(graph), filters, corruption(1))
    assert_same_loss_and_gradients(model, fast_loss(objective, 1), exact)


@pytest.mark.parametrize("name", BANKS)
def test_corrupting_after_the_product_equals_corrupting_before(name):
    graph = example_graph()
    bank, operator = build_bank(name, 4), example_operator(graph)
    features, order = torch.from_numpy(graph.features), corruption(2)
    theta = torch.randn(6, 5, generator=torch.Generator().manual_seed(0))
    before = bank.apply(operator, features[order] @ theta)
    after = bank.apply(operator, (features @ theta)[order])
    for left, right in zip(before, after, strict=True):
        torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("filter_first", [True, False])
def test_loss_is_log_two_for_a_zero_discriminator(filter_first):
    graph, bank = example_graph(), build_bank("monomial", 4)
    model = example_model(bank)
    torch.nn.init.zeros_(model.discriminators[0])
    objective = FullObjective(model, FeatureMatrix(graph.features), example_operator(graph), bank, filter_first)
    assert fast_loss(objective, 0).item() == pytest.approx(math.log(2), abs=1e-6)


@pytest.mark.parametrize("variant", [{}, *VARIANTS], ids=str)
def test_identity_filter_is_left_out_of_training(variant):
    graph = example_graph()
    bank = build_bank("monomial", 2)
    model = example_model(bank, **variant)
    assert model.trained == (1,)
    asked = []

    class Listening(torch.nn.ParameterList):
        def __getitem__(self, index):
            asked.append(index)
            return super().__getitem__(index)

    model.discriminators = Listening(model.discriminators)
    fast_loss(FullObjective(model, FeatureMatrix(graph.features), example_operator(graph), bank), 0)
    assert asked == [0]


def test_graph_without_edges_trains_on_zeros_and_not_on_what_memory_held():
    graph = example_graph()
    graph.adjacency.data[:] = 0
    graph.adjacency.eliminate_zeros()
    bank, filters = bank_and_filters(graph, "monomial", 3, self_loops=False)
    model = example_model(bank)
    objective = FullObjective(
        model, FeatureMatrix(graph.features), example_operator(graph, self_loops=False), bank, False
    )
    exact = oracle_loss(model, dense_features(graph), filters, corruption(4))
    assert_same_loss_and_gradients(model, fast_loss(objective, 4), exact)


def test_all_zero_features_give_finite_gradients():
    graph, bank = example_graph(), build_bank("monomial", 4)
    features = FeatureMatrix(np.zeros_like(graph.features))
    model = example_model(bank)
    loss = fast_loss(FullObjective(model, features, example_operator(graph), bank), 0)
    loss.backward()
    assert all(torch.isfinite(p.grad).all() for p in model.parameters())


def test_few_features_are_filtered_first_and_many_after_the_weights():
    assert is_pair_filter_first((1000, 8), 512, 10_000)
    assert not is_pair_filter_first((1000, 1433), 32, 10_000)


def test_features_are_multiplied_sparse_where_columns_are_many_and_entries_few():
    assert not FeatureMatrix(np.ones((200, 200), dtype=np.float32)).sparse
    assert not FeatureMatrix(np.eye(10, dtype=np.float32)).sparse
    assert FeatureMatrix(np.eye(200, dtype=np.float32)).sparse


@pytest.mark.parametrize("kind", [np.float64, np.int64, np.float32])
def test_features_of_any_number_type_are_multiplied_in_single_precision(kind):
    weights = torch.ones(200, 3)
    for features in (np.eye(200, dtype=kind), np.ones((200, 200), dtype=kind)):
        product = FeatureMatrix(features) @ weights
        assert product.dtype == torch.float32
        np.testing.assert_allclose(product.numpy(), features @ weights.numpy())
