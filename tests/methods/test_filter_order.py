"""Filters before or after the weights: the results are the same, and the cheaper order is taken."""

import numpy as np
import pytest
import torch

from examples import (
    assert_same_loss_and_gradients,
    bank_and_filters,
    dense_features,
    example_graph,
    example_model,
    example_operator,
    operator_of,
)
from figure_kedro.filters import build_bank
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.filter_order import FilteredPairs, is_filter_first, is_pair_filter_first, transformed_pair
from figure_kedro.methods.full import FullObjective
from figure_kedro.methods.kinds.dgi import Adjacency
from figure_kedro.methods.kinds.grace import GraceModel
from figure_kedro.methods.kinds.mvgrl import Mvgrl, MvgrlObjective, MvgrlSettings

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")
BANKS = {name: build_bank(name, 4) for name in ("monomial", "bernstein", "chebyshev")} | {"adjacency": Adjacency()}


def full(graph, bank, filter_first, self_loops=True):
    operator = example_operator(graph, self_loops=self_loops)
    objective = FullObjective(
        example_model(bank, graph.num_features), FeatureMatrix(graph.features), operator, bank, filter_first
    )
    assert objective.filter_first is filter_first
    return objective


def mvgrl(graph, filter_first, self_loops=True, order=8):
    chosen = Mvgrl(MvgrlSettings(dim=5, order=order), build_bank("monomial", 2))
    model = chosen.build(graph.num_nodes, graph.num_features)
    with torch.no_grad():
        for encoder in model.encoders:
            encoder.bias.normal_(generator=torch.Generator().manual_seed(9))
    filters = chosen._filters(operator_of(graph, self_loops=self_loops), CPU)
    objective = MvgrlObjective(model, FeatureMatrix(graph.features), *filters, filter_first)
    assert objective.filter_first is filter_first
    return objective


def loss_of(objective, seed):
    (loss,) = objective.losses(0, torch.Generator().manual_seed(seed))
    return loss


def assert_same_steps(first, second, epochs=5):
    """Losses and gradients are the same in several steps of training, which use arrays again."""
    optimisers = [torch.optim.Adam(objective.module.parameters(), lr=1e-2) for objective in (first, second)]
    for epoch in range(epochs):
        losses = [loss_of(objective, epoch) for objective in (first, second)]
        np.testing.assert_allclose(losses[0].item(), losses[1].item(), rtol=1e-5, atol=1e-5)
        for optimiser, loss in zip(optimisers, losses, strict=True):
            optimiser.zero_grad()
            loss.backward()
        for (name, ours), theirs in zip(first.module.named_parameters(), second.module.parameters(), strict=True):
            np.testing.assert_allclose(ours.grad, theirs.grad, rtol=1e-4, atol=1e-5, err_msg=f"{name}, epoch {epoch}")
        for optimiser in optimisers:
            optimiser.step()


@pytest.mark.parametrize("columns", [1, 6, 30])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", BANKS)
def test_full_takes_the_same_steps_in_both_orders(name, directed, columns):
    graph = example_graph(directed=directed, columns=columns)
    assert_same_steps(*(full(graph, BANKS[name], filter_first) for filter_first in (True, False)))


@pytest.mark.parametrize("columns", [1, 6, 30])
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("directed", [False, True])
def test_mvgrl_takes_the_same_steps_in_both_orders(directed, self_loops, columns):
    graph = example_graph(directed=directed, columns=columns)
    assert_same_steps(*(mvgrl(graph, filter_first, self_loops) for filter_first in (True, False)))


@pytest.mark.parametrize("seed", range(3))
def test_orders_of_full_agree_for_every_corruption_without_self_loops(seed):
    graph, bank = example_graph(directed=True, seed=seed), build_bank("chebyshev", 5)
    before, after = (full(graph, bank, filter_first, self_loops=False) for filter_first in (True, False))
    after.module = before.module
    assert_same_loss_and_gradients(before.module, loss_of(before, seed), loss_of(after, seed))


def test_a_step_that_filters_first_filters_nothing_in_its_backward_pass():
    graph, bank = example_graph(), build_bank("monomial", 4)
    products = []
    for filter_first in (True, False):
        objective = full(graph, bank, filter_first)
        operator, counted = objective._operator, []
        multiply = operator.multiply
        operator.multiply = lambda *given, multiply=multiply, counted=counted: counted.append(1) or multiply(*given)
        loss = loss_of(objective, 0)
        forward = len(counted)
        loss.backward()
        products.append((forward, len(counted) - forward))
    assert products == [(3, 0), (3, 3)]


@pytest.mark.parametrize("reuse", [True, False])
@pytest.mark.parametrize("name", ["monomial", "bernstein", "chebyshev"])
def test_filtered_pairs_are_the_true_and_the_corrupted_pre_activations_side_by_side(name, reuse):
    graph = example_graph()
    bank, filters = bank_and_filters(graph, name, 4)
    operator, wanted = example_operator(graph), (1, 3)
    pairs = FilteredPairs(
        FeatureMatrix(graph.features), lambda block: bank.apply(operator, block), wanted, 5, reuse=reuse
    )
    weights = [torch.randn(7, 5, generator=torch.Generator().manual_seed(i)) for i in range(4)]
    inputs = torch.cat([dense_features(graph), torch.ones(14, 1)], dim=1)
    for seed in range(3):
        order = torch.randperm(14, generator=torch.Generator().manual_seed(seed))
        seen = []
        for index, block in pairs.blocks(order, weights.__getitem__):
            seen.append(index)
            exact = [filters[index] @ x @ weights[index].double() for x in (inputs, inputs[order])]
            np.testing.assert_allclose(block, torch.cat(exact, dim=1), rtol=1e-4, atol=1e-5)
        assert tuple(seen) == wanted


def test_pairs_that_are_held_together_do_not_overwrite_each_other():
    graph, bank = example_graph(), build_bank("monomial", 3)
    operator, order = example_operator(graph), torch.arange(14).flip(0)
    theta = torch.randn(7, 5, generator=torch.Generator().manual_seed(0))
    features = FeatureMatrix(graph.features)
    pairs = FilteredPairs(features, lambda block: bank.apply(operator, block), (1, 2), 5, reuse=False)
    in_turn = [block.clone() for _, block in pairs.blocks(order, lambda index: theta)]
    together = [block for _, block in pairs.blocks(order, lambda index: theta)]
    assert not torch.equal(*together)
    assert all(torch.equal(*both) for both in zip(in_turn, together, strict=True))


def test_transformed_pair_is_the_block_beside_its_rows_in_another_order():
    hidden, order = torch.arange(6.0).view(3, 2), torch.tensor([2, 0, 1])
    assert transformed_pair(hidden, order).tolist() == [[0, 1, 4, 5], [2, 3, 0, 1], [4, 5, 2, 3]]


@pytest.mark.parametrize("variant", [{"shared": False}, {"gcn_layers": 2}, {"mlp_layers": 2}], ids=str)
def test_an_encoder_that_is_not_linear_is_never_filtered_first(variant):
    graph, bank = example_graph(), build_bank("monomial", 4)
    model = example_model(bank, **variant)
    objective = FullObjective(model, FeatureMatrix(graph.features), example_operator(graph), bank, True)
    assert not objective.filter_first


def test_sparse_features_are_never_filtered_first(monkeypatch):
    assert not is_filter_first((1000, 8), 512, 10_000, sparse=True)
    assert not is_pair_filter_first((1000, 8), 512, 10_000, sparse=True)
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    graph, bank = example_graph(features="sparse"), build_bank("monomial", 4)
    features = FeatureMatrix(graph.features)
    assert features.sparse
    assert not FullObjective(example_model(bank), features, example_operator(graph), bank, True).filter_first
    assert not GraceModel(6, 5, 4, torch.Generator()).filters_first(features)


def test_features_are_filtered_first_while_they_have_fewer_columns_than_both_passes_after_the_weights():
    assert is_filter_first((1000, 19), 10, 5000)
    assert not is_filter_first((1000, 20), 10, 5000)


def test_dense_products_that_there_are_only_before_the_weights_count_against_that_order():
    assert is_filter_first((1000, 15), 10, 5000)
    assert not is_filter_first((1000, 15), 10, 5000, further=1e7)
    # the weights meet every filter: on a graph with few edges that costs more than filtering
    assert is_pair_filter_first((1000, 100), 64, 100_000)
    assert not is_pair_filter_first((1000, 100), 64, 1000)


@pytest.mark.parametrize(("columns", "expected"), [(2, True), (60, False)])
def test_the_cheaper_order_is_taken_where_none_is_asked_for(columns, expected):
    graph, bank = example_graph(40, columns=columns), build_bank("monomial", 4)
    objective = FullObjective(
        example_model(bank, columns), FeatureMatrix(graph.features), example_operator(graph), bank
    )
    assert objective.filter_first is expected
    assert objective.filter_first is is_pair_filter_first((40, columns), 5, example_operator(graph).nnz)
