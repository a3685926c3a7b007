import math

import numpy as np
import pytest
import scipy.sparse as sp
import torch
import torch.nn.functional as F
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import assert_same_loss_and_gradients, dense_features, example_graph, operator_of, relabelled
from figure_kedro.filters import SparseOperator, Workspace, build_bank, normalised_adjacency
from figure_kedro.methods import contrast
from figure_kedro.methods.contrast import cross_contrast
from figure_kedro.methods.diffusion import Diffusion, chebyshev_bound
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.kinds.mvgrl import Mvgrl, MvgrlObjective, MvgrlSettings
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings
from oracle import dense_operator, encode

pytestmark = pytest.mark.usefixtures("one_thread")
CPU = torch.device("cpu")


def method(order=30, **training):
    chosen = MvgrlSettings(dim=5, order=order, training=TrainingSettings(**training))
    return Mvgrl(chosen, build_bank("monomial", 2))


def matrix_of(graph):
    return normalised_adjacency(graph.adjacency)


def dense_views(graph, teleport=0.2):
    """The adjacency and the diffusion as matrices, in double precision."""
    adjacency = dense_operator(torch.from_numpy(graph.adjacency.toarray()).double(), self_loops=True)
    inverse = torch.linalg.inv(torch.eye(len(adjacency)).double() - (1 - teleport) * adjacency)
    return adjacency, teleport * inverse


def example_model(chosen, columns=6):
    model = chosen.build(0, columns)
    generator = torch.Generator().manual_seed(9)
    with torch.no_grad():
        for encoder in model.encoders:
            encoder.bias.normal_(generator=generator)
    return model


def objective_of(chosen, model, graph, filter_first=None):
    filters = chosen._filters(operator_of(graph), CPU)
    return MvgrlObjective(model, FeatureMatrix(graph.features), *filters, filter_first)


def loss_of(objective, seed=3):
    (loss,) = objective.losses(0, torch.Generator().manual_seed(seed))
    return loss


def literal_loss(model, graph, seed=3):
    """The paper's loss with dense matrices and a bilinear form at every node."""
    features = dense_features(graph)
    order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(seed))
    views = list(zip(model.encoders, dense_views(graph), strict=True))
    true = [encode(encoder, features, matrix) for encoder, matrix in views]
    corrupted = [encode(encoder, features[order], matrix) for encoder, matrix in views]
    summaries = [torch.sigmoid(h.mean(0)).expand_as(h) for h in true]
    w = model.discriminator.double()[None]
    groups = []
    for h, fake, c in zip(true, corrupted, reversed(summaries), strict=True):
        for rows, target in ((h, torch.ones_like), (fake, torch.zeros_like)):
            scores = F.bilinear(rows.contiguous(), c.contiguous(), w)
            groups.append(F.binary_cross_entropy_with_logits(scores, target(scores)))
    return sum(groups) / 4


@pytest.mark.parametrize("filter_first", [True, False])
@pytest.mark.parametrize("directed", [False, True])
def test_loss_and_gradients_equal_the_papers_with_a_dense_inverse(directed, filter_first):
    graph, chosen = example_graph(directed=directed), method()
    model = example_model(chosen)
    objective = objective_of(chosen, model, graph, filter_first)
    assert objective.filter_first is filter_first
    assert_same_loss_and_gradients(model, loss_of(objective), literal_loss(model, graph))


def test_sparse_features_give_the_loss_of_dense_ones(monkeypatch):
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    graph, chosen = example_graph(features="sparse"), method()
    model = example_model(chosen)
    objective = objective_of(chosen, model, graph, True)
    assert not objective.filter_first
    assert_same_loss_and_gradients(model, loss_of(objective), literal_loss(model, graph))


@settings(max_examples=30, deadline=None)
@given(
    n=st.integers(1, 9),
    d=st.integers(1, 5),
    slopes=st.tuples(st.floats(-5, 5), st.floats(-5, 5)),
    cache=st.sampled_from([1, 8, 30, contrast.CACHE_ENTRIES]),
    spare=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_hand_written_gradient_equals_automatic_one(n, d, slopes, cache, spare, seed):
    generator = torch.Generator().manual_seed(seed)
    blocks = [torch.randn(n, 2 * d, generator=generator, dtype=torch.float64) for _ in range(2)]
    w = torch.randn(d, d, generator=generator, dtype=torch.float64)
    inputs = [t.requires_grad_() for t in (*blocks, *(torch.tensor([s], dtype=torch.float64) for s in slopes), w)]

    (true_1, false_1), (true_2, false_2) = (
        F.prelu(u, a).chunk(2, 1) for u, a in zip(inputs, inputs[2:4], strict=False)
    )
    c_1, c_2 = (torch.sigmoid(h.mean(0)) for h in (true_1, true_2))
    positive = F.softplus(-true_1 @ w @ c_2) + F.softplus(-true_2 @ w @ c_1)
    plain = (positive + F.softplus(false_1 @ w @ c_2) + F.softplus(false_2 @ w @ c_1)).mean() / 4
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(contrast, "CACHE_ENTRIES", cache)
        fast = cross_contrast(tuple(inputs[:2]), tuple(inputs[2:4]), w, Workspace() if spare else None)
    torch.testing.assert_close(fast, plain)
    for ours, theirs in zip(torch.autograd.grad(3 * fast, inputs), torch.autograd.grad(3 * plain, inputs), strict=True):
        torch.testing.assert_close(ours, theirs)


@settings(max_examples=40, deadline=None)
@given(
    nodes=st.integers(2, 12),
    teleport=st.sampled_from([0.05, 0.2, 0.5, 0.9]),
    order=st.integers(1, 24),
    directed=st.booleans(),
    seed=st.integers(0, 1000),
)
def test_diffusion_equals_the_dense_inverse_to_the_stated_bound(nodes, teleport, order, directed, seed):
    graph = example_graph(nodes, directed=directed, seed=seed)
    operator = SparseOperator(matrix_of(graph), symmetric=not directed)
    diffusion = Diffusion(operator, teleport, order, symmetric=not directed)
    basis = torch.eye(nodes, dtype=torch.float64)
    error = torch.linalg.matrix_norm(diffusion(basis) - dense_views(graph, teleport)[1], 2)
    rounding = 1e-6 / teleport**2  # of the adjacency, which is in single precision
    assert error <= diffusion.bound + rounding
    assert directed or diffusion.products == order


def test_bound_is_four_thirds_of_a_power_of_one_half_for_the_papers_teleport():
    for order in (1, 8, 20):
        assert chebyshev_bound(0.2, order) == pytest.approx(4 / 3 * 0.5**order)


@pytest.mark.parametrize("directed", [False, True])
def test_gradient_of_the_diffusion_is_that_of_its_transpose(directed):
    graph = example_graph(directed=directed)
    diffusion = Diffusion(SparseOperator(matrix_of(graph)), 0.2, 8, symmetric=not directed)
    block = torch.randn(14, 2, generator=torch.Generator().manual_seed(0), dtype=torch.float64, requires_grad=True)
    assert torch.autograd.gradcheck(diffusion, (block,))


def test_isolated_node_keeps_its_features_under_the_diffusion():
    graph = example_graph()
    diffusion = Diffusion(SparseOperator(matrix_of(graph), symmetric=True), 0.2, 20, symmetric=True)
    features = torch.from_numpy(graph.features)
    torch.testing.assert_close(diffusion(features)[-1], features[-1], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("filter_first", [True, False])
def test_loss_is_log_two_for_a_zero_discriminator(filter_first):
    graph, chosen = example_graph(), method()
    model = example_model(chosen)
    torch.nn.init.zeros_(model.discriminator)
    loss = loss_of(objective_of(chosen, model, graph, filter_first))
    assert loss.item() == pytest.approx(chosen.chance_loss) == pytest.approx(math.log(2))


@pytest.mark.parametrize("directed", [False, True])
def test_embedding_is_the_sum_of_both_views_and_follows_the_nodes(directed):
    graph, chosen = example_graph(directed=directed), method()
    model = example_model(chosen)
    (embedding,) = chosen.embed(model, graph, operator_of(graph))
    views = zip(model.encoders, dense_views(graph), strict=True)
    exact = sum(encode(encoder, dense_features(graph), matrix) for encoder, matrix in views)
    np.testing.assert_allclose(embedding, exact.detach().numpy(), rtol=1e-4, atol=1e-5)
    assert embedding.dtype == np.float32
    assert chosen.views == ("mvgrl",)

    order = np.random.default_rng(1).permutation(graph.num_nodes)
    moved = relabelled(graph, order)
    (permuted,) = chosen.embed(model, moved, operator_of(moved))
    np.testing.assert_allclose(permuted, embedding[order], rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("edges", [True, False])
@pytest.mark.parametrize("directed", [False, True])
def test_training_lowers_the_loss_and_stays_finite_on_any_graph(directed, edges, features):
    graph = example_graph(directed=directed, features=features)
    if not edges:
        graph.adjacency.data[:] = 0
        graph.adjacency.eliminate_zeros()
    chosen = method(order=8, max_epochs=40, patience=40, learning_rate=1e-2)
    model = chosen.build(graph.num_nodes, 6)
    objective = chosen.objective(model, graph, operator_of(graph), CPU, None)
    record = train(objective, chosen.settings.training, device=CPU)
    (embedding,) = chosen.embed(model, graph, operator_of(graph))
    assert record.best_loss < record.losses[0]
    assert np.isfinite(embedding).all()
    assert embedding.shape == (graph.num_nodes, 5)


def test_same_seed_gives_identical_weights_and_another_seed_others():
    graph = example_graph()

    def trained(seed):
        chosen = method(max_epochs=5, seed=seed)
        model = chosen.build(graph.num_nodes, 6)
        train(chosen.objective(model, graph, operator_of(graph), CPU, None), chosen.settings.training, device=CPU)
        return model.discriminator.detach()

    assert torch.equal(trained(0), trained(0))
    assert not torch.equal(trained(0), trained(1))


def test_few_dense_features_are_filtered_first_and_many_sparse_ones_after_the_weights():
    few = example_graph(60, columns=2)
    chosen = Mvgrl(MvgrlSettings(dim=64), build_bank("monomial", 2))
    objective = chosen.objective(chosen.build(60, 2), few, operator_of(few), CPU, None)
    assert objective.filter_first
    many = sp.csr_array(np.eye(60, 300, dtype=np.float32))
    assert not MvgrlObjective(
        chosen.build(60, 300), FeatureMatrix(many), *chosen._filters(operator_of(few), CPU)
    ).filter_first
