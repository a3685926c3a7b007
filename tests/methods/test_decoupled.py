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
from figure_kedro.errors import UserError
from figure_kedro.filters import build_bank, normalised_adjacency
from figure_kedro.methods import decoupled as module
from figure_kedro.methods.decoupled import DecoupledObjective, DecoupledSettings
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.full import FullObjective
from oracle import oracle_loss

pytestmark = pytest.mark.usefixtures("one_thread")

BANKS = ("monomial", "bernstein", "chebyshev")


def decoupled(graph, bank, model, seed=0, allocate=None, self_loops=True, **settings):
    matrix = normalised_adjacency(graph.adjacency, self_loops=self_loops)
    return DecoupledObjective(model, graph.features, matrix, bank, DecoupledSettings(**settings), seed, allocate)


def steps(objective, epochs):
    """The losses of several epochs of plain Adam."""
    optimiser = torch.optim.Adam(objective.module.parameters(), lr=1e-2)
    losses = []
    for epoch in range(epochs):
        for loss in objective.losses(epoch, torch.Generator().manual_seed(epoch)):
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
            losses.append(loss.item())
    return losses


@pytest.mark.parametrize("columns", [1, 3, 6, 7, 32])
@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("name", BANKS)
def test_fresh_corruptions_in_one_batch_equal_full_step_by_step(name, directed, features, columns):
    graph, bank = example_graph(directed=directed, features=features), build_bank(name, 4)
    ours, theirs = example_model(bank), example_model(bank)
    full = FullObjective(theirs, FeatureMatrix(graph.features), example_operator(graph), bank)
    objective = decoupled(graph, bank, ours, corruptions=0, columns=columns)
    np.testing.assert_allclose(steps(objective, 5), steps(full, 5), rtol=1e-5, atol=1e-5)
    for (weight, left), right in zip(ours.named_parameters(), theirs.parameters(), strict=True):
        torch.testing.assert_close(left, right, rtol=1e-5, atol=1e-5, msg=lambda text, weight=weight: weight + text)


@pytest.mark.parametrize("rows", [2, 5, 7, 13, 14, 100])
def test_batches_cover_each_row_exactly_once_an_epoch(rows, monkeypatch):
    monkeypatch.setattr(module, "RUN", 3)
    graph, bank = example_graph(), build_bank("monomial", 3)
    objective = decoupled(graph, bank, example_model(bank), batch_rows=rows)
    for epoch in range(3):
        batches = list(objective._batches(torch.Generator().manual_seed(epoch)))
        seen = [np.r_[tuple(runs)] for runs in batches]
        assert all(len(batch) <= rows for batch in seen)
        np.testing.assert_array_equal(np.sort(np.concatenate(seen)), np.arange(graph.num_nodes))


def test_batches_come_in_another_order_every_epoch():
    graph, bank = example_graph(600), build_bank("monomial", 2)
    objective = decoupled(graph, bank, example_model(bank), batch_rows=10)
    first, again, second = (list(objective._batches(torch.Generator().manual_seed(s))) for s in (0, 0, 1))
    assert first == again != second


def test_a_batch_is_the_loss_of_its_rows_alone(monkeypatch):
    monkeypatch.setattr(module, "RUN", 4)
    graph = example_graph()
    bank, filters = bank_and_filters(graph, "monomial", 3)
    model = example_model(bank)
    objective = decoupled(graph, bank, model, corruptions=0, batch_rows=4)
    generator = torch.Generator().manual_seed(3)
    order = torch.randperm(graph.num_nodes, generator=generator)
    batches = [np.r_[tuple(runs)] for runs in objective._batches(generator)]
    losses = list(objective.losses(0, torch.Generator().manual_seed(3)))
    assert len(losses) == len(batches) == 4
    for rows, loss in zip(batches, losses, strict=True):
        # rows of F X and of F P X, each pretending to be a small graph that a selection has already filtered
        both = torch.cat([torch.cat([f, f[:, torch.argsort(order)]])[:, None] for f in filters[1:]], dim=1)
        parts = []
        for i in range(2):
            x = torch.cat([dense_features(graph), torch.ones(graph.num_nodes, 1)], dim=1)
            theta = torch.cat([model.encoders[0].theta, model.encoders[0].bias[None]]).double()
            u = both[:, i] @ x @ theta
            h, corrupted = (torch.where(part > 0, part, 0.25 * part)[rows] for part in u.chunk(2))
            scores = [part @ model.discriminators[0].double() @ torch.sigmoid(h.mean(0)) for part in (h, corrupted)]
            parts.append((-torch.nn.functional.logsigmoid(torch.stack([scores[0], -scores[1]]))).mean())
        assert loss.item() == pytest.approx(sum(parts).item() / 2, abs=1e-5)


def test_stored_corruptions_are_used_in_turn():
    graph = example_graph()
    bank, filters = bank_and_filters(graph, "chebyshev", 4)
    model = example_model(bank)
    objective = decoupled(graph, bank, model, seed=9, corruptions=3)
    generator = torch.Generator().manual_seed(9)
    orders = [torch.randperm(graph.num_nodes, generator=generator) for _ in range(3)]
    for epoch in range(7):
        (loss,) = objective.losses(epoch, torch.Generator().manual_seed(epoch))
        exact = oracle_loss(model, dense_features(graph), filters, orders[epoch % 3])
        assert loss.item() == pytest.approx(exact.item(), abs=1e-5)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("corruptions", [0, 2])
@pytest.mark.parametrize("size", range(2, 6))
def test_loss_of_words_in_both_directions_equals_the_oracle(size, corruptions, weighted, self_loops):
    graph = example_graph(directed=True, seed=size)
    graph = graph if weighted else unweighted(graph)
    bank, filters = words_and_filters(graph, size, self_loops=self_loops)
    model = example_model(bank)
    objective = decoupled(graph, bank, model, 9, self_loops=self_loops, corruptions=corruptions, columns=3)
    generator = torch.Generator().manual_seed(9)
    for epoch in range(2):
        order = torch.randperm(graph.num_nodes, generator=generator)  # stored ones are drawn by the seed, one by one
        fresh = torch.Generator().manual_seed(epoch)
        if not corruptions:
            order = torch.randperm(graph.num_nodes, generator=torch.Generator().manual_seed(epoch))
        (loss,) = objective.losses(epoch, fresh)
        assert_same_loss_and_gradients(model, loss, oracle_loss(model, dense_features(graph), filters, order))


def test_stored_arrays_live_in_the_files_that_are_handed_in(tmp_path):
    graph, bank = example_graph(), build_bank("monomial", 4)
    made = {}

    def allocate(name, shape):
        made[name] = np.memmap(tmp_path / name, dtype=np.float32, mode="w+", shape=shape)
        return made[name]

    on_disk, in_memory = example_model(bank), example_model(bank)
    settings = {"corruptions": 2, "batch_rows": 5, "columns": 2}
    objective = decoupled(graph, bank, on_disk, allocate=allocate, **settings)
    assert set(made) == {f"{kind}_{i}" for kind in ("true", "corrupted_0", "corrupted_1") for i in (1, 2, 3)}
    assert all((tmp_path / name).stat().st_size == 4 * graph.num_nodes * (6 + 1) for name in made)
    assert steps(objective, 3) == steps(decoupled(graph, bank, in_memory, **settings), 3)
    torch.testing.assert_close(on_disk.encoders[0].theta, in_memory.encoders[0].theta, rtol=0, atol=0)


def test_stored_rows_are_the_filtered_features_and_a_filtered_one(tmp_path):
    graph = example_graph()
    bank, filters = bank_and_filters(graph, "bernstein", 3)
    made = {}

    def allocate(name, shape):
        made[name] = np.full(shape, np.nan, dtype=np.float32)
        return made[name]

    decoupled(graph, bank, example_model(bank), allocate=allocate, corruptions=0, columns=4)
    inputs = torch.cat([dense_features(graph), torch.ones(graph.num_nodes, 1)], dim=1)
    for i, matrix in enumerate(filters):
        np.testing.assert_allclose(made[f"true_{i}"], (matrix @ inputs).numpy(), atol=1e-5)


def test_stored_rows_of_a_word_are_those_of_its_letters():
    graph = example_graph(directed=True)
    bank, filters = words_and_filters(graph, 4)
    made = {}

    def allocate(name, shape):
        made[name] = np.full(shape, np.nan, dtype=np.float32)
        return made[name]

    decoupled(graph, bank, example_model(bank), allocate=allocate, corruptions=0, columns=4)
    inputs = torch.cat([dense_features(graph), torch.ones(graph.num_nodes, 1)], dim=1)
    assert set(made) == {f"true_{i}" for i in range(1, 15)}
    for i in range(1, 15):
        np.testing.assert_allclose(made[f"true_{i}"], (filters[i] @ inputs).numpy(), atol=1e-5, err_msg=bank.names[i])


def test_training_on_stored_rows_holds_no_graph():
    graph, bank = example_graph(), build_bank("monomial", 4)
    objective = decoupled(graph, bank, example_model(bank), corruptions=1)
    assert objective._propagation is None


@pytest.mark.parametrize("name", BANKS)
def test_a_bank_of_one_direction_holds_the_graph_once(name):
    graph, bank = example_graph(directed=True), build_bank(name, 4)
    assert decoupled(graph, bank, example_model(bank), corruptions=0)._propagation.operator.transposed is None


@pytest.mark.parametrize("variant", [{"shared": False}, {"gcn_layers": 2}, {"mlp_layers": 2}], ids=str)
def test_deep_or_independent_encoders_cannot_be_decoupled(variant):
    graph, bank = example_graph(), build_bank("monomial", 4)
    with pytest.raises(UserError, match="choose full or sampled"):
        decoupled(graph, bank, example_model(bank, **variant))
