import numpy as np
import pytest
import torch
import torch.nn.functional as F

from examples import example_graph, gradients, operator_of
from figure_kedro.filters import build_bank
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.methods import skipgram as module
from figure_kedro.methods.kinds.deepwalk import DeepWalk, DeepWalkSettings
from figure_kedro.methods.kinds.node2vec import Node2Vec
from figure_kedro.methods.method import METHODS
from figure_kedro.methods.skipgram import SkipGram, SkipGramObjective, groups_of, skip_gram_loss
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings

pytestmark = pytest.mark.usefixtures("one_thread")


def literal_loss(u, v, walks, noise, window, negatives):
    """The equation, one pair at a time."""
    size = -(-len(walks) // len(noise))
    total = torch.zeros((), dtype=u.dtype)
    for number, walk in enumerate(walks.tolist()):
        drawn = v[noise[number // size]]
        for i, x in enumerate(walk):
            for j, y in enumerate(walk):
                if i == j or abs(i - j) > window or x < 0 or y < 0:
                    continue
                total = total - F.logsigmoid(u[x] @ v[y]) - negatives * F.logsigmoid(-(drawn @ u[x])).mean()
    return total / len(walks)


def random_model(nodes=9, dim=5):
    model = SkipGram(nodes, dim, torch.Generator().manual_seed(0)).double()
    with torch.no_grad():
        for part in model.parameters():
            part.normal_(generator=torch.Generator().manual_seed(part.numel()))
        model.contexts.mul_(-0.7)
    return model


def settings(method="deepwalk", dim=8, epochs=3, learning_rate=0.01, **walks):
    training = TrainingSettings(learning_rate=learning_rate, max_epochs=epochs, device="cpu")
    return METHODS.parse({"method": method, "dim": dim, "training": training, **walks})


def fit(graph, given, kind=DeepWalk):
    method = kind(given, build_bank("monomial", 2))
    operator = operator_of(graph)
    model = method.build(graph.num_nodes, 0)
    start = model.embeddings.detach().numpy().copy()
    objective = method.objective(model, graph, operator, torch.device("cpu"), None)
    record = None if objective is None else train(objective, given.training, device=torch.device("cpu"))
    (embedding,) = method.embed(model, graph, operator)
    return embedding, start, record


@pytest.mark.parametrize("cache", [1, 2**18])
@pytest.mark.parametrize("groups", [1, 3, 7])
@pytest.mark.parametrize("window", [1, 2, 9])
def test_fast_loss_and_its_gradient_equal_the_equation(window, groups, cache, monkeypatch):
    monkeypatch.setattr(module, "CACHE_ENTRIES", cache)
    generator = torch.Generator().manual_seed(window)
    walks = torch.randint(9, (7, 6), generator=generator)
    walks[2, 3:] = -1
    walks[5, 1:] = -1
    noise = torch.randint(9, (groups, 4), generator=generator)
    model = random_model()
    fast = skip_gram_loss(model.embeddings, model.contexts, walks, noise, window, 5)
    exact = literal_loss(model.embeddings, model.contexts, walks, noise, window, 5)
    np.testing.assert_allclose(fast.item(), exact.item(), rtol=1e-12)
    ours, theirs = gradients(model, 3 * fast), gradients(model, 3 * exact)
    for name, gradient in theirs.items():
        np.testing.assert_allclose(ours[name], gradient, rtol=1e-9, atol=1e-12, err_msg=name)


def test_loss_before_training_is_log_two_for_each_pair_and_negative():
    graph = graph_from_edges([0, 1, 2], [1, 2, 0], name="triangle", num_nodes=3)
    given = settings(length=4, window=2, negatives=3, per_node=1)
    objective = DeepWalk(given, build_bank("monomial", 2))
    model = objective.build(3, 0)
    (loss,) = objective.objective(model, graph, None, torch.device("cpu"), None).losses(0, torch.Generator())
    pairs = 2 * (3 + 2)  # three at distance 1 and two at distance 2, both ways
    np.testing.assert_allclose(loss.item(), pairs * (1 + 3) * np.log(2), rtol=1e-6)


@pytest.mark.parametrize("at_once", [1, 2**14])
def test_an_epoch_walks_from_every_start_per_node_times_in_equal_steps(at_once, monkeypatch):
    seen = []

    def loss(embeddings, contexts, walks, *_):
        seen.append(walks[:, 0])
        return embeddings.sum()

    def walk(starts, generator):
        return torch.stack([starts, starts], dim=1)

    monkeypatch.setattr(module, "skip_gram_loss", loss)
    monkeypatch.setattr(module, "WALKS", at_once)
    given = DeepWalkSettings(per_node=3, batch=8, length=2)
    objective = SkipGramObjective(SkipGram(9, 4, torch.Generator()), walk, torch.arange(2, 9), np.ones(9), given)
    losses = list(objective.losses(0, torch.Generator().manual_seed(0)))
    assert [len(part) for part in seen] == [7, 7, 7]
    assert len(losses) == 3
    assert torch.cat(seen).bincount(minlength=9).tolist() == [0, 0] + [3] * 7


def test_negatives_are_drawn_by_the_visits_to_the_power_three_quarters():
    visits = np.array([0.0, 1.0, 16.0, 0.0, 81.0, 0.0])
    objective = SkipGramObjective(SkipGram(6, 2, torch.Generator()), None, torch.arange(1), visits, DeepWalkSettings())
    drawn = objective._draw(3000, torch.Generator().manual_seed(0))
    shares = np.bincount(drawn.flatten(), minlength=6) / drawn.numel()
    np.testing.assert_allclose(shares, np.array([0, 1, 8, 0, 27, 0]) / 36, atol=0.01)
    assert not shares[[0, 3, 5]].any()


def test_every_walk_belongs_to_a_group():
    for walks, length in ((1, 2), (1, 500), (1000, 10), (999, 3)):
        groups = groups_of(walks, length)
        assert 1 <= groups <= walks


@pytest.mark.parametrize("kind", [DeepWalk, Node2Vec])
@pytest.mark.parametrize("directed", [False, True])
def test_isolated_node_keeps_its_finite_beginning(directed, kind):
    graph = example_graph(directed=directed, features=None)
    given = settings(kind.__name__.lower(), **({"p": 0.5, "q": 2.0} if kind is Node2Vec else {}))
    embedding, start, _ = fit(graph, given, kind)
    assert embedding.dtype == np.float32
    assert np.isfinite(embedding).all()
    np.testing.assert_array_equal(embedding[-1], start[-1])
    assert (embedding[:-1] != start[:-1]).any(axis=1).all()


def test_graph_without_edges_trains_nothing():
    graph = graph_from_edges([], [], name="dust", num_nodes=4)
    embedding, start, record = fit(graph, settings())
    assert record is None
    np.testing.assert_array_equal(embedding, start)


def test_same_seed_gives_identical_embeddings():
    graph = example_graph(features=None)
    one, two = (fit(graph, settings("node2vec", p=0.5, q=2.0), Node2Vec)[0] for _ in range(2))
    np.testing.assert_array_equal(one, two)


def test_node2vec_with_p_and_q_one_is_deepwalk():
    graph = example_graph(features=None)
    np.testing.assert_array_equal(fit(graph, settings("node2vec"), Node2Vec)[0], fit(graph, settings())[0])


@pytest.mark.parametrize("kind", [DeepWalk, Node2Vec])
def test_two_cliques_with_a_bridge_are_told_apart(kind):
    pairs = [(a + k, b + k) for k in (0, 10) for a in range(10) for b in range(a)] + [(0, 10)]
    graph = graph_from_edges(*np.array(pairs).T, name="cliques", num_nodes=20)
    embedding, _, record = fit(graph, settings(kind.__name__.lower(), epochs=40, window=2, per_node=10), kind)
    assert record.losses[-1] < record.losses[0]
    unit = embedding / np.linalg.norm(embedding, axis=1, keepdims=True)
    similarity = unit @ unit.T
    same = np.arange(20)[:, None] // 10 == np.arange(20) // 10
    assert similarity[same].min() > similarity[~same].max()
