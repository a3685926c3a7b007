"""Workers that share the rows of a training: what they minimise together, and that they stay together."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import example_graph, example_model
from figure_kedro.datasets.sources.kinds.csbm import CsbmSettings
from figure_kedro.filters import build_bank, normalised_adjacency
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.methods.decoupled import DecoupledObjective, DecoupledSettings
from figure_kedro.methods.full import average_contrast
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings
from figure_kedro.training.team import ALONE, Team, count_rows
from thread_team import ThreadTeam, in_threads

pytestmark = pytest.mark.usefixtures("one_thread")


class Rank(Team):
    def __init__(self, rank, size):
        self.rank, self.size = rank, size


@given(lengths=st.lists(st.integers(1, 9), min_size=1, max_size=6), size=st.integers(1, 8))
def test_every_row_has_one_worker_and_all_have_about_as_many(lengths, size):
    starts = np.cumsum([0, *(length + 3 for length in lengths)])
    runs = [slice(int(start), int(start) + length) for start, length in zip(starts, lengths, strict=False)]
    shares = [np.r_[tuple(Rank(rank, size).share(runs))].astype(int) for rank in range(size)]
    np.testing.assert_array_equal(np.concatenate(shares), np.r_[tuple(runs)])
    assert max(map(len, shares)) - min(map(len, shares)) <= 1


def objective(graph, batch_rows, filters=3, kind=DecoupledObjective):
    bank = build_bank("monomial", filters)
    settings = DecoupledSettings(batch_rows=batch_rows, corruptions=2)
    return kind(
        example_model(bank, columns=5), graph.features, normalised_adjacency(graph.adjacency), bank, settings, seed=3
    )


def trained(of, team=ALONE, epochs=8):
    settings = TrainingSettings(max_epochs=epochs, patience=epochs, learning_rate=1e-2)
    return train(of.for_team(team), settings, device=torch.device("cpu"), team=team)


class InShares(DecoupledObjective):
    """One worker that does the work of several: the loss of a batch is the mean over their rows."""

    def losses(self, epoch, generator):
        corrupted = self._corrupted[epoch % len(self._corrupted)]
        for runs in self._batches(generator):
            shares = [Rank(rank, self.size).share(runs) for rank in range(self.size)]
            weights = self.module.encoders[0].linear_map()
            yield sum(
                count_rows(share) / count_rows(runs) * average_contrast(self.module, blocks)
                for share in shares
                for blocks in [self._blocks(share, corrupted, weights)]
            )


@pytest.mark.parametrize("filters", [3, 6])
def test_a_step_takes_one_message_however_many_filters_there_are(filters, monkeypatch):
    messages = []
    add = ThreadTeam.add
    monkeypatch.setattr(ThreadTeam, "add", lambda team, tensor: messages.append(team.rank) or add(team, tensor))
    objectives = [objective(example_graph(40, columns=5), 100, filters) for _ in range(2)]
    in_threads(lambda team: trained(objectives[team.rank], team, epochs=4), 2)
    assert sorted(messages) == [0] * 4 + [1] * 4


@pytest.mark.parametrize(("rows", "batch_rows", "size"), [(40, 100, 2), (1100, 600, 2), (1100, 600, 3), (7, 2, 3)])
def test_workers_together_minimise_the_mean_loss_of_their_shares(rows, batch_rows, size):
    graph = example_graph(rows, columns=5)
    alone = objective(graph, batch_rows, kind=InShares)
    alone.size = size
    expected = trained(alone)
    objectives = [objective(graph, batch_rows) for _ in range(size)]
    records = in_threads(lambda team: trained(objectives[team.rank], team), size)
    for one, record in zip(objectives, records, strict=True):
        assert record.losses == records[0].losses, "all have the loss of all rows"
        np.testing.assert_allclose(record.losses, expected.losses, rtol=1e-5)
        for ours, theirs, first in zip(
            one.module.parameters(), alone.module.parameters(), objectives[0].module.parameters(), strict=True
        ):
            assert torch.equal(ours, first), "and the same weights"
            torch.testing.assert_close(ours, theirs, rtol=1e-4, atol=1e-5)


@pytest.mark.parametrize("size", [2, 4])
def test_workers_reach_the_loss_of_one_alone_within_a_hundredth(size):
    drawn = CsbmSettings(nodes=4000, degree=20, features=5, splits=1)
    graph = generate_csbm(**drawn.model_dump(exclude={"kind"}), name="csbm")
    expected = trained(objective(graph, 2000), epochs=40)
    objectives = [objective(graph, 2000) for _ in range(size)]
    record = in_threads(lambda team: trained(objectives[team.rank], team, epochs=40), size)[0]
    assert expected.losses[-1] < 0.9 * expected.losses[0], "there is something to learn"
    np.testing.assert_allclose(record.losses, expected.losses, rtol=0.01)
