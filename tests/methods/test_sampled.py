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
    unweighted,
    words_and_filters,
)
from figure_kedro.filters import build_bank, normalised_adjacency
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.full import FullObjective
from figure_kedro.methods.sampled import SampledObjective, SampledSettings
from oracle import oracle_loss

pytestmark = pytest.mark.usefixtures("one_thread")

BANKS = ("monomial", "bernstein", "chebyshev")
VARIANTS = [{}, {"shared": False}, {"gcn_layers": 2}, {"mlp_layers": 3}]


def sampled(graph, bank, model, self_loops=True, **settings):
    matrix = normalised_adjacency(graph.adjacency, self_loops=self_loops)
    return SampledObjective(model, graph.features, matrix, bank, SampledSettings(**settings), not graph.directed)


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("name", BANKS)
def test_sample_as_large_as_the_graph_equals_full(name, variant, directed, features):
    graph, bank = example_graph(directed=directed, features=features), build_bank(name, 4)
    model = example_model(bank, **variant)
    generator = torch.Generator().manual_seed(0)
    torch.randint(1, (1,), generator=generator)  # the window that the sampled step draws first
    (full,) = FullObjective(model, FeatureMatrix(graph.features), example_operator(graph), bank).losses(0, generator)
    objective = sampled(graph, bank, model, size=1000, batch=1)
    (loss,) = objective.losses(0, torch.Generator().manual_seed(0))
    assert_same_loss_and_gradients(model, loss, full)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["windows", "random"])
@pytest.mark.parametrize("name", BANKS)
def test_sampled_loss_equals_the_oracle_on_the_sub_matrices(name, kind, directed):
    graph = example_graph(directed=directed)
    bank, filters = bank_and_filters(graph, name, 4)
    assert_equals_the_oracle(graph, bank, filters, kind, example_model(bank))


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("kind", ["windows", "random"])
@pytest.mark.parametrize(("size", "shared"), [(2, True), (3, False), (4, True), (5, False)])
def test_sampled_loss_of_words_equals_the_oracle_on_the_sub_matrices(size, shared, kind, weighted, self_loops):
    """Encoders that are not shared tell one word from another, which a mean over all words does not."""
    graph = example_graph(directed=True, seed=size)
    graph = graph if weighted else unweighted(graph)
    bank, filters = words_and_filters(graph, size, self_loops=self_loops)
    assert_equals_the_oracle(graph, bank, filters, kind, example_model(bank, shared=shared), self_loops=self_loops)


def assert_equals_the_oracle(graph, bank, filters, kind, model, **operator):
    objective = sampled(graph, bank, model, size=6, batch=2, nodes=kind, **operator)
    generator = torch.Generator().manual_seed(8)
    samples = [objective._sample(generator) for _ in range(2)]
    orders = [torch.randperm(6, generator=generator) for _ in range(2)]
    exact = sum(
        oracle_loss(model, dense_features(graph)[nodes], [f[nodes][:, nodes] for f in filters], order)
        for nodes, order in zip(samples, orders, strict=True)
    )
    (loss,) = objective.losses(0, torch.Generator().manual_seed(8))
    assert_same_loss_and_gradients(model, loss, exact / 2)


def test_windows_are_contiguous_and_reach_both_ends():
    graph, bank = example_graph(), build_bank("monomial", 3)
    objective = sampled(graph, bank, example_model(bank), size=4)
    generator = torch.Generator().manual_seed(0)
    windows = [objective._sample(generator) for _ in range(200)]
    assert all((np.diff(nodes) == 1).all() and len(nodes) == 4 for nodes in windows)
    assert {int(nodes[0]) for nodes in windows} == set(range(graph.num_nodes - 3))


def test_random_samples_have_no_node_twice():
    graph, bank = example_graph(), build_bank("monomial", 3)
    objective = sampled(graph, bank, example_model(bank), size=9, nodes="random")
    generator = torch.Generator().manual_seed(0)
    for _ in range(20):
        assert len(np.unique(objective._sample(generator))) == 9
