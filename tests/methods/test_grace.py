import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import NODES, dense_features, example_graph, gradients, operator_of, relabelled
from figure_kedro.filters import build_bank, normalised_adjacency
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.methods.kinds.grace import EdgeDropper, Grace, GraceObjective, GraceSettings
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings
from oracle import dense_operator

pytestmark = pytest.mark.usefixtures("one_thread")

NOTHING = {"drop_edges_1": 0.0, "drop_edges_2": 0.0, "drop_features_1": 0.0, "drop_features_2": 0.0}


def method(dim=5, training=None, **grace):
    chosen = {"dim": dim, "training": training or TrainingSettings(), "projector": 4, "block_rows": 6, **grace}
    return Grace(GraceSettings(**chosen), build_bank("monomial", 3))


def model_of(graph, dim=5):
    """A model with random biases too, so that no gradient is zero by accident."""
    model = method(dim).build(graph.num_nodes, graph.num_features)
    with torch.no_grad():
        for bias in (model.first_bias, model.second_bias):
            bias.normal_(generator=torch.Generator().manual_seed(2))
    return model


def objective_of(graph, *, self_loops=True, direction="auto", **grace):
    operator = operator_of(graph, self_loops=self_loops, direction=direction)
    return method(**grace).objective(model_of(graph), graph, operator, torch.device("cpu"), None)


def loss_of(objective, seed=0):
    (loss,) = objective.losses(0, torch.Generator().manual_seed(seed))
    return loss


def plain_projection(model, features, operator):
    """Encoder and head in double precision, with a dense operator."""
    first, b1, second, b2 = (p.double() for p in (model.first, model.first_bias, model.second, model.second_bias))
    hidden = torch.relu(operator @ (torch.relu(operator @ features @ first + b1) @ second) + b2)
    for layer, activation in zip(model.head, (F.elu, lambda x: x), strict=True):
        hidden = activation(hidden @ layer.weight.double().t() + layer.bias.double())
    return hidden


def plain_loss(u, v, temperature):
    """The paper's loss as a cross-entropy over the other view and the rest of the same one."""
    z = F.normalize(torch.cat([u, v]), dim=1)
    scores = (z @ z.t() / temperature).masked_fill(torch.eye(len(z), dtype=torch.bool), -torch.inf)
    return F.cross_entropy(scores, torch.arange(len(z)).roll(len(u)))


def assert_same(model, ours, theirs):
    torch.testing.assert_close(ours.double(), theirs.double(), rtol=1e-5, atol=1e-5)
    ours, theirs = gradients(model, ours), gradients(model, theirs)
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("nodes", [0, 6])
@pytest.mark.parametrize("columns", [6, 40])  # more than the hidden layer has: the weights are multiplied first
@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize(
    ("directed", "direction"), [(False, "auto"), (True, "auto"), (True, "out"), (True, "in"), (True, "ignore")]
)
def test_loss_and_gradients_equal_a_dense_rendering(directed, direction, self_loops, columns, nodes):
    graph = example_graph(directed=directed, columns=columns)
    dropped = {"drop_features_1": 0.3, "drop_edges_2": 0.4, "nodes": nodes}
    objective = objective_of(graph, self_loops=self_loops, direction=direction, **dropped)
    loss = loss_of(objective, seed=3)

    generator = torch.Generator().manual_seed(3)
    chosen = torch.randperm(NODES, generator=generator)[:nodes] if nodes else torch.arange(NODES)
    out = graph.adjacency
    adjacency = {"in": sp.csr_array(out.T), "ignore": sp.csr_array(out.maximum(out.T))}.get(direction, out)
    matrix = normalised_adjacency(adjacency, self_loops=self_loops)
    dropper = EdgeDropper(adjacency, matrix, directed=directed and direction != "ignore")
    views = []
    for edges, features in ((0.2, 0.3), (0.4, 0.4)):
        operator = torch.from_numpy(dropper.draw(edges, generator).toarray()).double()
        mask = torch.rand(columns, generator=generator) >= features
        views.append(plain_projection(objective.module, dense_features(graph) * mask, operator)[chosen])
    assert_same(objective.module, loss, plain_loss(*views, 0.4))


@pytest.mark.parametrize("nodes", [0, 6])
@pytest.mark.parametrize("directed", [False, True])
def test_sparse_features_give_the_loss_of_dense_ones(directed, nodes, monkeypatch):
    graph = example_graph(directed=directed, features="sparse")
    dense = objective_of(dataclasses.replace(graph, features=graph.features.toarray()), nodes=nodes)
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    sparse = objective_of(graph, nodes=nodes)
    assert sparse._features.sparse
    assert not dense._features.sparse
    ours, theirs = (gradients(o.module, loss_of(o)) for o in (sparse, dense))
    torch.testing.assert_close(loss_of(sparse), loss_of(dense))
    for name in theirs:
        np.testing.assert_allclose(ours[name], theirs[name], rtol=1e-4, atol=1e-5, err_msg=name)


@pytest.mark.parametrize("nodes", [NODES, NODES + 1, 10_000])
def test_as_many_nodes_as_there_are_is_all_of_them(nodes):
    graph = example_graph()
    assert loss_of(objective_of(graph, nodes=nodes)).item() == loss_of(objective_of(graph)).item()


def test_contrasted_nodes_are_drawn_anew_in_every_epoch():
    objective = objective_of(example_graph(), nodes=4, **NOTHING)
    assert len({loss_of(objective, seed).item() for seed in range(5)}) == 5


@settings(max_examples=40, deadline=None)
@given(
    share=st.floats(0.05, 0.95),
    self_loops=st.booleans(),
    directed=st.booleans(),
    shuffled=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_what_is_left_of_the_edges_is_normalised_and_symmetric(share, self_loops, directed, shuffled, seed):
    graph = example_graph(directed=directed, seed=seed % 5)
    given_adjacency = graph.adjacency.copy()
    if shuffled:  # entries of a row in falling order of their columns
        order = np.lexsort((-given_adjacency.indices, np.repeat(np.arange(NODES), np.diff(given_adjacency.indptr))))
        given_adjacency = sp.csr_array(
            (given_adjacency.data[order], given_adjacency.indices[order], given_adjacency.indptr), shape=(NODES, NODES)
        )
    matrix = normalised_adjacency(graph.adjacency, self_loops=self_loops)
    dropper = EdgeDropper(given_adjacency, matrix, directed=directed)
    left = dropper.draw(share, torch.Generator().manual_seed(seed)).toarray()

    off_diagonal = left - np.diag(left.diagonal())
    kept = torch.from_numpy(np.where(off_diagonal > 0, graph.adjacency.toarray(), 0)).double()
    np.testing.assert_allclose(left, dense_operator(kept, self_loops).numpy(), atol=1e-6)
    if not directed:
        np.testing.assert_array_equal(left, left.T)


@pytest.mark.parametrize("self_loops", [True, False])
def test_dropping_nothing_gives_the_original_operator_exactly(self_loops):
    graph = example_graph()
    matrix = normalised_adjacency(graph.adjacency, self_loops=self_loops)
    dropper = EdgeDropper(graph.adjacency, matrix, directed=False)
    generator = torch.Generator().manual_seed(0)
    for share in (0.0, 1e-12):  # the second one goes through the drawing, which then keeps every edge
        left = dropper.draw(share, generator)
        for part in ("data", "indices", "indptr"):
            np.testing.assert_array_equal(getattr(left, part), getattr(matrix, part))


@pytest.mark.parametrize("share", [0.2, 0.7])
@pytest.mark.parametrize("directed", [False, True])
def test_the_given_share_of_edges_is_dropped(directed, share):
    source, target = np.random.default_rng(0).integers(0, 2000, size=(2, 20_000))
    graph = graph_from_edges(source, target, name="large", num_nodes=2000, directed=directed)
    matrix = normalised_adjacency(graph.adjacency, self_loops=False)
    left = EdgeDropper(graph.adjacency, matrix, directed=directed).draw(share, torch.Generator().manual_seed(0))
    edges = graph.num_edges
    kept = left.nnz / (1 if directed else 2)
    assert abs(kept - (1 - share) * edges) < 5 * (share * (1 - share) * edges) ** 0.5


def test_the_two_directions_of_a_directed_pair_are_dropped_apart():
    source, target = np.arange(0, 400, 2), np.arange(1, 400, 2)
    both = np.r_[source, target], np.r_[target, source]
    graph = graph_from_edges(*both, name="pairs", num_nodes=400, directed=True)
    matrix = normalised_adjacency(graph.adjacency)
    left = EdgeDropper(graph.adjacency, matrix, directed=True).draw(0.5, torch.Generator().manual_seed(0)).toarray()
    assert ((left[source, target] > 0) != (left[target, source] > 0)).any()


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("directed", [False, True])
def test_isolated_nodes_and_lost_edges_stay_finite(directed, self_loops):
    features = np.random.default_rng(0).standard_normal((9, 4), dtype=np.float32)
    features[7] = 0
    graph = graph_from_edges([0, 1, 3], [1, 2, 4], name="parts", num_nodes=9, directed=directed, features=features)
    operator = operator_of(graph, self_loops=self_loops)
    chosen = method(drop_edges_2=0.99, drop_features_2=0.99)
    model = chosen.build(9, 4)
    objective = chosen.objective(model, graph, operator, torch.device("cpu"), None)
    record = train(objective, TrainingSettings(max_epochs=30, learning_rate=0.05), device=torch.device("cpu"))
    assert np.isfinite(record.losses).all()
    (embedding,) = chosen.embed(model, graph, operator)
    assert embedding.shape == (9, 5)
    assert np.isfinite(embedding).all()


def test_graph_without_edges_stays_finite():
    features = np.eye(4, dtype=np.float32)
    graph = graph_from_edges([], [], name="alone", num_nodes=4, features=features)
    for self_loops in (True, False):
        for nodes in (0, 2):
            loss = loss_of(objective_of(graph, self_loops=self_loops, nodes=nodes))
            assert torch.isfinite(loss)


@pytest.mark.parametrize("features", ["dense", "sparse"])
def test_embedding_is_the_direction_of_the_encoder_on_the_whole_graph(features):
    graph = example_graph(features=features)
    given_operator = operator_of(graph)
    model = model_of(graph)
    (embedding,) = method().embed(model, graph, given_operator)
    operator = torch.from_numpy(given_operator.matrix.toarray()).double()
    hidden = torch.relu(operator @ dense_features(graph) @ model.first.double() + model.first_bias)
    expected = F.normalize(torch.relu(operator @ hidden @ model.second.double() + model.second_bias))
    assert embedding.dtype == np.float32
    np.testing.assert_allclose(embedding, expected.detach().numpy(), atol=1e-5)


def test_embedding_commutes_with_relabelling():
    graph = example_graph()
    order = np.random.default_rng(1).permutation(NODES)
    model = model_of(graph)
    embeddings = [next(method().embed(model, g, operator_of(g))) for g in (graph, relabelled(graph, order))]
    np.testing.assert_allclose(embeddings[0][order], embeddings[1], atol=1e-5)


def test_same_seed_gives_identical_weights():
    graph = example_graph()
    operator = operator_of(graph)
    trained = []
    for _ in range(2):
        chosen = method(training=TrainingSettings(max_epochs=5, seed=3))
        model = chosen.build(graph.num_nodes, graph.num_features)
        objective = GraceObjective(model, graph, operator, chosen.settings)
        train(objective, chosen.settings.training, device=torch.device("cpu"))
        trained.append(model.state_dict())
    assert all(torch.equal(weights, trained[1][name]) for name, weights in trained[0].items())


def test_training_lowers_the_loss():
    graph = example_graph(30)
    objective = objective_of(graph)
    training = TrainingSettings(max_epochs=60, patience=60, learning_rate=0.01)
    losses = train(objective, training, device=torch.device("cpu")).losses
    assert np.mean(losses[-10:]) < np.mean(losses[:10]) - 0.1


def test_temperature_that_single_precision_cannot_bear_is_refused():
    with pytest.raises(ValueError, match="temperature"):
        GraceSettings(temperature=0.01)
