import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from examples import assert_same_loss_and_gradients, dense_features, example_graph, operator_of, relabelled
from figure_kedro.filters import build_bank
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.methods.feature_dropout import FeatureDropout
from figure_kedro.methods.kinds.sugrl import Sugrl, SugrlSettings, distances_to_permuted, multiplet_loss
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings
from oracle import dense_operator

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")


def method(training=None, **sugrl):
    chosen = SugrlSettings(dim=5, training=TrainingSettings(**training or {}), **sugrl)
    return Sugrl(chosen, build_bank("monomial", 2))


def objective_of(chosen, model, graph):
    return chosen.objective(model, graph, operator_of(graph), CPU, None)


def loss_of(objective, seed=3):
    (loss,) = objective.losses(0, torch.Generator().manual_seed(seed))
    return loss


def dense_anchors(model, graph):
    features = dense_features(graph)
    hidden = torch.nn.functional.normalize(features, dim=1)
    for layer, (weights, bias) in enumerate(zip(model.weights, model.biases, strict=True)):
        hidden = (hidden.clamp(min=0) if layer else hidden) @ weights.double() + bias.double()
    return hidden


def dense_adjacency(graph):
    return dense_operator(torch.from_numpy(graph.adjacency.toarray()).double(), self_loops=True)


def literal_loss(anchors, positives, drawn, orders, chosen):
    """The paper's loss, node by node and negative by negative."""
    total = torch.zeros((), dtype=anchors.dtype)
    for order in orders:
        for i, h in enumerate(anchors):
            near = (h - positives[i]).pow(2).sum()
            beside = (h - torch.stack([anchors[j] for j in drawn[i]]).mean(0)).pow(2).sum()
            far = (h - anchors[order[i]]).pow(2).sum()
            total = total + chosen.weight_structure * torch.relu(near - far + chosen.margin)
            total = total + chosen.weight_neighbours * torch.relu(beside - far + chosen.margin)
            total = total + torch.relu(far - near - chosen.margin - chosen.bound)
    return total / (len(anchors) * len(orders))


def literal_step(chosen, model, graph, objective, seed=3):
    """What a step computes without dropout, with the same draws."""
    generator = torch.Generator().manual_seed(seed)
    drawn = objective.draw_neighbours(generator)
    orders = [torch.randperm(graph.num_nodes, generator=generator) for _ in range(chosen.settings.negatives)]
    anchors = dense_anchors(model, graph)
    return literal_loss(anchors, dense_adjacency(graph) @ anchors, drawn, orders, chosen.settings)


@pytest.mark.parametrize("hidden_layers", [0, 2])
@pytest.mark.parametrize("directed", [False, True])
def test_loss_and_gradients_equal_the_papers(directed, hidden_layers):
    graph = example_graph(directed=directed)
    chosen = method(dropout=0, hidden_layers=hidden_layers, margin=0.3, bound=0.1, negatives=3, neighbours=2)
    model = chosen.build(graph.num_nodes, 6)
    generator = torch.Generator().manual_seed(7)
    for bias in model.biases:
        torch.nn.init.normal_(bias, generator=generator)  # away from the kink of the ReLU at zero
    objective = objective_of(chosen, model, graph)
    exact = literal_step(chosen, model, graph, objective)
    assert_same_loss_and_gradients(model, loss_of(objective), exact)


def test_sparse_features_give_the_loss_of_dense_ones(monkeypatch):
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    graph, chosen = example_graph(features="sparse"), method(dropout=0)
    model = chosen.build(graph.num_nodes, 6)
    objective = objective_of(chosen, model, graph)
    assert objective._dropout.sparse
    exact = literal_step(chosen, model, graph, objective)
    assert_same_loss_and_gradients(model, loss_of(objective), exact)


def test_loss_of_two_nodes_is_the_one_computed_by_hand():
    anchors, positives = torch.tensor([[0.0], [2.0]]), torch.tensor([[1.0], [1.0]])
    drawn, swap = torch.tensor([[1, 0], [1, 1]]), torch.tensor([1, 0])
    chosen = SugrlSettings(margin=3.5, bound=0.0, weight_structure=2.0, weight_neighbours=10.0)
    # near 1, 1; beside 1, 0; far 4, 4: triplets 0.5, 0.5 and 0.5, 0, and nothing beyond the bound
    assert multiplet_loss(anchors, positives, drawn, [swap], chosen).item() == pytest.approx(2 * 0.5 + 10 * 0.25)
    chosen = SugrlSettings(margin=1.0, bound=0.5)
    assert multiplet_loss(anchors, positives, drawn, [swap], chosen).item() == pytest.approx(4 - 1 - 1 - 0.5)


@pytest.mark.parametrize("cache", [1, 12, 10_000])
def test_hand_written_gradient_of_distances_equals_numerical_one(cache, monkeypatch):
    monkeypatch.setattr("figure_kedro.methods.kinds.sugrl.CACHE_ENTRIES", cache)
    generator = torch.Generator().manual_seed(0)
    rows = torch.randn(7, 3, generator=generator, dtype=torch.float64, requires_grad=True)
    orders = torch.stack([torch.arange(7), *(torch.randperm(7, generator=generator) for _ in range(3))])
    exact = (rows[None] - rows[orders]).square().sum(2)
    torch.testing.assert_close(distances_to_permuted(rows, orders), exact)
    assert torch.autograd.gradcheck(lambda h: distances_to_permuted(h, orders), (rows,))


@hypothesis_settings(max_examples=25, deadline=None)
@given(nodes=st.integers(2, 12), directed=st.booleans(), count=st.integers(1, 4), seed=st.integers(0, 1000))
def test_drawn_neighbours_have_an_edge_and_a_node_without_any_is_its_own(nodes, directed, count, seed):
    graph, chosen = example_graph(nodes, directed=directed, seed=seed), method(neighbours=count)
    objective = objective_of(chosen, chosen.build(nodes, 6), graph)
    drawn = objective.draw_neighbours(torch.Generator().manual_seed(seed)).numpy()
    assert drawn.shape == (nodes, count)
    for u, row in enumerate(drawn):
        known = graph.adjacency.indices[graph.adjacency.indptr[u] : graph.adjacency.indptr[u + 1]]
        assert set(row) <= (set(known) or {u})


def test_every_neighbour_is_drawn_sooner_or_later():
    graph, chosen = example_graph(), method(neighbours=400)
    objective = objective_of(chosen, chosen.build(graph.num_nodes, 6), graph)
    drawn = objective.draw_neighbours(torch.Generator().manual_seed(0)).numpy()
    for u in range(graph.num_nodes - 1):
        known = graph.adjacency.indices[graph.adjacency.indptr[u] : graph.adjacency.indptr[u + 1]]
        assert set(drawn[u]) == set(known)


@pytest.mark.parametrize("sparse", [False, True])
def test_dropout_zeroes_entries_keeps_the_mean_and_has_the_gradient_of_what_is_left(sparse):
    features = np.random.default_rng(0).random((400, 200), dtype=np.float32)
    features *= features > (0.9 if sparse else 0.0)
    dropout = FeatureDropout(sp.csr_array(features) if sparse else features, 0.25, CPU)
    assert dropout.sparse is sparse
    weights = torch.eye(200, requires_grad=True)
    dropped = dropout(torch.Generator().manual_seed(1)) @ weights
    left = dropped.detach().numpy()
    kept = left != 0
    np.testing.assert_allclose(left[kept], features[kept] / 0.75, rtol=1e-5)
    assert kept[features != 0].mean() == pytest.approx(0.75, abs=0.03)
    gradient = torch.randn(400, 200, generator=torch.Generator().manual_seed(2))
    dropped.backward(gradient)
    np.testing.assert_allclose(weights.grad.numpy(), left.T @ gradient.numpy(), rtol=1e-3, atol=1e-3)
    again = dropout(torch.Generator().manual_seed(3)) @ weights
    assert not torch.equal(again, dropped)


@pytest.mark.parametrize("sparse", [False, True])
def test_rows_of_features_get_length_one_and_rows_of_zeros_stay(sparse, monkeypatch):
    if sparse:
        monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    features = np.zeros((3, 20), dtype=np.float32)
    features[:, :2] = [[3.0, 4.0], [0.0, 0.0], [0.0, -7.0]]
    given_features = sp.csr_array(features) if sparse else features.copy()
    graph = graph_from_edges([0], [1], name="three", num_nodes=3, features=given_features)
    chosen = method(dropout=0)
    objective = objective_of(chosen, chosen.build(3, 20), graph)
    assert objective._dropout.sparse is sparse
    unit = (objective._dropout(torch.Generator()) @ torch.eye(20)).numpy()
    assert unit.dtype == np.float32
    np.testing.assert_allclose(unit[:, :2], [[0.6, 0.8], [0, 0], [0, -1]], rtol=1e-6)
    assert not unit[:, 2:].any()
    np.testing.assert_array_equal(dense_features(graph), features)  # those of the graph are left alone


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("directed", [False, True])
def test_embedding_is_the_direction_of_propagated_anchors_and_follows_the_nodes(directed, features):
    graph, chosen = example_graph(directed=directed, features=features), method(hidden_layers=1)
    model = chosen.build(graph.num_nodes, 6)
    (embedding,) = chosen.embed(model, graph, operator_of(graph))
    exact = torch.nn.functional.normalize(dense_adjacency(graph) @ dense_anchors(model, graph))
    np.testing.assert_allclose(embedding, exact.detach().numpy(), rtol=1e-4, atol=1e-5)
    assert embedding.dtype == np.float32
    assert chosen.views == ("sugrl",)

    order = np.random.default_rng(1).permutation(graph.num_nodes)
    moved = relabelled(graph, order)
    (permuted,) = chosen.embed(model, moved, operator_of(moved))
    np.testing.assert_allclose(permuted, embedding[order], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("features", ["dense", "sparse", "zeros"])
@pytest.mark.parametrize("edges", [True, False])
@pytest.mark.parametrize("directed", [False, True])
def test_training_stays_finite_on_any_graph(directed, edges, features):
    graph = example_graph(directed=directed, features="sparse" if features == "sparse" else "dense")
    if features == "zeros":
        graph.features[:] = 0
    if not edges:
        graph.adjacency.data[:] = 0
        graph.adjacency.eliminate_zeros()
    chosen = method({"max_epochs": 20, "patience": 20, "learning_rate": 1e-2})
    model = chosen.build(graph.num_nodes, 6)
    record = train(objective_of(chosen, model, graph), chosen.settings.training, device=CPU)
    (embedding,) = chosen.embed(model, graph, operator_of(graph))
    assert np.isfinite(record.losses).all()
    assert np.isfinite(embedding).all()
    assert embedding.shape == (graph.num_nodes, 5)


def test_training_lowers_the_loss():
    graph, chosen = example_graph(60), method({"max_epochs": 60, "patience": 60, "learning_rate": 1e-2})
    model = chosen.build(60, 6)
    record = train(objective_of(chosen, model, graph), chosen.settings.training, device=CPU)
    assert record.best_loss < 0.9 * record.losses[0]


def test_same_seed_gives_identical_weights_and_another_seed_others():
    graph = example_graph()

    def trained(seed):
        chosen = method({"max_epochs": 5, "seed": seed})
        model = chosen.build(graph.num_nodes, 6)
        train(objective_of(chosen, model, graph), chosen.settings.training, device=CPU)
        return model.weights[0].detach()

    assert torch.equal(trained(0), trained(0))
    assert not torch.equal(trained(0), trained(1))
