"""GCN, GPRGNN and H2GCN compute what their papers say, on any graph."""

import numpy as np
import pytest
import torch
from torch_geometric.nn import GCNConv
from torch_geometric.utils import from_scipy_sparse_matrix

from examples import dense_features, example_graph
from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS, graph_inputs
from figure_kedro.evaluation.dropout import dropout
from figure_kedro.evaluation.graph_inputs import GraphInputs
from figure_kedro.evaluation.heads.gcn import GCN
from figure_kedro.evaluation.heads.gprgnn import GPRGNN
from figure_kedro.evaluation.heads.h2gcn import H2GCN
from figure_kedro.graph import Graph
from figure_kedro.graph.build import graph_from_edges
from oracle import dense_operator

pytestmark = pytest.mark.usefixtures("one_thread")
CLASSES = 3
MODELS = {"gcn": GCN, "gprgnn": GPRGNN, "h2gcn": H2GCN}
GRAPHS = [
    {"directed": directed, "features": features, "columns": columns}
    for directed in (False, True)
    for features, columns in (("dense", 6), ("sparse", 200))
]


def generator() -> torch.Generator:
    return torch.Generator().manual_seed(1)


def randomised(model: torch.nn.Module) -> torch.nn.Module:
    """With random biases too, so that nothing is zero by accident."""
    with torch.no_grad():
        for name, parameter in model.named_parameters():
            if parameter.ndim == 1 and name != "gamma":
                parameter.normal_(generator=generator())
    return model


def build(name: str, graph: Graph, **settings: object) -> torch.nn.Module:
    return randomised(MODELS[name](graph.num_features, CLASSES, generator(), hidden=5, **settings))


def dense(graph: Graph, *, self_loops: bool) -> torch.Tensor:
    return dense_operator(torch.from_numpy(graph.adjacency.toarray()).double(), self_loops)


def dense_two_hop(graph: Graph) -> torch.Tensor:
    edges = torch.from_numpy(graph.adjacency.toarray()).double() > 0
    strict = torch.zeros(edges.shape, dtype=torch.float64)
    for u in range(len(edges)):
        for w in torch.nonzero(edges[u]).flatten():
            for v in torch.nonzero(edges[w]).flatten():
                if v != u and not edges[u, v]:
                    strict[u, v] = 1
    return dense_operator(strict, self_loops=False)


def literal(model: torch.nn.Module, graph: Graph) -> torch.Tensor:
    """The papers' equations with dense matrices, in double precision."""
    p = {name: parameter.double() for name, parameter in model.named_parameters()}
    x, a = dense_features(graph), dense(graph, self_loops=True)
    if isinstance(model, GCN):
        return a @ torch.relu(a @ x @ p["w_1"] + p["b_1"]) @ p["w_2"] + p["b_2"]
    if isinstance(model, GPRGNN):
        h = torch.relu(x @ p["w_1"] + p["b_1"]) @ p["w_2"] + p["b_2"]
        return sum(p["gamma"][k] * torch.linalg.matrix_power(a, k) @ h for k in range(len(p["gamma"])))
    one, two = dense(graph, self_loops=False), dense_two_hop(graph)
    rounds = [torch.relu(x @ p["w_e"])]
    for _ in range(2):
        rounds.append(torch.cat([one @ rounds[-1], two @ rounds[-1]], dim=1))
    return torch.cat(rounds, dim=1) @ p["w_c"] + p["bias"]


@pytest.mark.parametrize("name", MODELS)
def test_the_head_of_a_models_name_trains_that_model(name):
    graph = example_graph()
    head = HEADS.build(HEADS.parse({"head": name}))
    choice = {"hidden": 5, "dropout": 0.5}
    network = head.network(GraphInputs(graph), CLASSES, generator(), choice)
    assert type(network) is MODELS[name]
    drawn = MODELS[name](graph.num_features, CLASSES, generator(), **choice)
    assert all(torch.equal(*pair) for pair in zip(network.parameters(), drawn.parameters(), strict=True))


@pytest.mark.parametrize("kind", GRAPHS)
@pytest.mark.parametrize("name", MODELS)
def test_logits_and_gradients_equal_the_dense_equations(name, kind):
    graph = example_graph(**kind)
    model = build(name, graph)
    fast, exact = model(GraphInputs(graph)), literal(model, graph)
    np.testing.assert_allclose(fast.detach(), exact.detach(), rtol=1e-5, atol=1e-5)
    ours, theirs = (torch.autograd.grad(logits.square().sum(), list(model.parameters())) for logits in (fast, exact))
    for (parameter, _), a, b in zip(model.named_parameters(), ours, theirs, strict=True):
        np.testing.assert_allclose(a, b, rtol=1e-4, atol=1e-4, err_msg=parameter)


def test_gcn_equals_two_gcnconv_layers_of_pytorch_geometric():
    graph = example_graph()
    model = build("gcn", graph)
    edges, weights = from_scipy_sparse_matrix(graph.adjacency)
    layers = GCNConv(graph.num_features, 5), GCNConv(5, CLASSES)
    with torch.no_grad():
        for layer, w, b in zip(layers, (model.w_1, model.w_2), (model.b_1, model.b_2), strict=True):
            layer.lin.weight.copy_(w.T)
            layer.bias.copy_(b)
    hidden = torch.relu(layers[0](torch.from_numpy(graph.features), edges, weights))
    expected = layers[1](hidden, edges, weights)
    np.testing.assert_allclose(model(GraphInputs(graph)).detach(), expected.detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("k", [0, 1, 4, 10])
def test_gprgnn_with_one_coefficient_is_the_network_filtered_by_that_power(k):
    graph = example_graph()
    model = build("gprgnn", graph)
    with torch.no_grad():
        model.gamma.copy_(torch.eye(11)[k])
    network = torch.relu(torch.from_numpy(graph.features) @ model.w_1 + model.b_1) @ model.w_2 + model.b_2
    expected = torch.linalg.matrix_power(dense(graph, self_loops=True), k) @ network.double()
    np.testing.assert_allclose(model(GraphInputs(graph)).detach(), expected.detach(), rtol=1e-5, atol=1e-5)


@pytest.mark.parametrize("alpha", [0.1, 0.5, 0.9])
def test_gprgnn_starts_as_personalised_pagerank(alpha):
    gamma = list(GPRGNN(4, 2, generator(), alpha=alpha, steps=3).coefficients().items())
    expected = [alpha, alpha * (1 - alpha), alpha * (1 - alpha) ** 2, (1 - alpha) ** 3]
    assert [name for name, _ in gamma] == ["A^0", "A^1", "A^2", "A^3"]
    np.testing.assert_allclose([value for _, value in gamma], expected, rtol=1e-6)
    assert sum(value for _, value in gamma) == pytest.approx(1)


def test_two_hop_neighbours_of_a_path_with_a_triangle_by_hand():
    """0 - 1 - 2 - 3 with 2 - 4 - 3 beside it: neighbours and the node itself do not count as two steps away."""
    graph = graph_from_edges(np.array([0, 1, 2, 2, 3]), np.array([1, 2, 3, 4, 4]), name="path", num_nodes=5)
    strict = graph_inputs.strict_two_hop(graph.adjacency).toarray()
    assert [np.flatnonzero(row).tolist() for row in strict] == [[2], [3, 4], [0], [1], [1]]
    assert set(np.unique(strict)) == {0, 1}


@pytest.mark.parametrize("directed", [False, True])
def test_two_hop_neighbourhood_equals_a_walk_over_all_pairs_of_edges(directed):
    graph = example_graph(30, directed=directed)
    strict = graph_inputs.normalised_adjacency(graph_inputs.strict_two_hop(graph.adjacency), self_loops=False)
    np.testing.assert_allclose(strict.toarray(), dense_two_hop(graph), atol=1e-6)


def test_two_hop_neighbourhood_that_is_too_large_is_one_clear_line(monkeypatch):
    monkeypatch.setattr(graph_inputs, "MAX_TWO_HOP_ENTRIES", 3)
    with pytest.raises(UserError, match=r"^example: .*choose gcn or gprgnn$"):
        _ = GraphInputs(example_graph()).two_hop


@pytest.mark.parametrize("nodes", [[3], [0, 5, 13], [13, 2, 7], list(range(14))], ids=str)
@pytest.mark.parametrize("name", MODELS)
def test_logits_of_the_nodes_that_are_judged_are_their_rows_of_all(name, nodes):
    graph = example_graph()
    model = build(name, graph)
    everyone, some = (model(GraphInputs(graph, nodes=given)) for given in (None, np.array(nodes)))
    assert torch.equal(some, everyone[nodes])


@pytest.mark.parametrize("name", MODELS)
def test_isolated_nodes_and_a_graph_without_edges_stay_finite(name):
    alone = graph_from_edges(np.array([], int), np.array([], int), name="alone", num_nodes=4, features=np.eye(4))
    for graph in (example_graph(), alone):
        model = build(name, graph)
        logits = model(GraphInputs(graph), generator())
        gradients = torch.autograd.grad(logits.sum(), list(model.parameters()))
        assert torch.isfinite(logits).all()
        assert all(torch.isfinite(gradient).all() for gradient in gradients)


@pytest.mark.parametrize("name", MODELS)
def test_dropout_is_drawn_from_the_generator_alone(name):
    graph = example_graph()
    model, given = build(name, graph), GraphInputs(graph)
    state = torch.get_rng_state()
    first, second, other = model(given, generator()), model(given, generator()), model(given)
    assert torch.equal(first, second)
    assert not torch.equal(first, other)
    assert torch.equal(torch.get_rng_state(), state)


@pytest.mark.parametrize("rate", [0.25, 0.5, 0.7])
def test_dropout_keeps_the_mean_and_drops_the_given_share(rate):
    dropped = dropout(torch.ones(1001, 301), rate, generator())
    assert (dropped == 0).double().mean().item() == pytest.approx(rate, abs=0.006)
    assert dropped.double().mean().item() == pytest.approx(1, abs=0.01)
    # each of the eight bytes of a draw is as random as the others
    by_byte = (dropped.flatten()[: 301301 // 8 * 8].view(-1, 8) == 0).double().mean(0)
    np.testing.assert_allclose(by_byte, rate, atol=0.012)


def test_rate_zero_drops_nothing_and_a_rate_next_to_one_keeps_something():
    block = torch.ones(100, 100)
    assert dropout(block, 0.0, generator()) is block
    assert dropout(block, 0.999, generator()).any()


def test_a_graph_without_features_is_one_clear_line():
    with pytest.raises(UserError, match=r"^example has no features; set features.structural"):
        GraphInputs(example_graph(features=None))


def test_h2gcn_keeps_a_node_apart_from_its_neighbours():
    """With weights of round 0 alone the edges do not matter."""
    graph = example_graph()
    model = H2GCN(graph.num_features, CLASSES, generator(), hidden=5)
    with torch.no_grad():
        model.w_c[5:] = 0
    expected = torch.relu(torch.from_numpy(graph.features) @ model.w_e) @ model.w_c[:5]
    np.testing.assert_allclose(model(GraphInputs(graph)).detach(), expected.detach(), rtol=1e-5, atol=1e-6)
