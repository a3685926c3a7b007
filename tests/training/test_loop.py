import math

import pytest
import torch

from figure_kedro.errors import UserError
from figure_kedro.training.loop import TrainingDivergedError, TrainingRecord, train
from figure_kedro.training.settings import TrainingSettings

pytestmark = pytest.mark.usefixtures("one_thread")

CPU = torch.device("cpu")


class Scripted:
    """Losses as written, whatever the weight; the weight says how many steps were taken."""

    def __init__(self, *epochs):
        self.module = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.zeros_(self.module.weight)
        self._epochs = epochs
        self.seen = []

    def losses(self, epoch, generator):
        self.seen.append(torch.rand(3, generator=generator).tolist())
        script = self._epochs[epoch]
        for value in script if isinstance(script, tuple) else (script,):
            yield value - self.module.weight.sum() + self.module.weight.detach().sum()  # a slope of -1: w grows by lr


class Quadratic:
    """(w - 1)^2 from w = 0."""

    def __init__(self):
        self.module = torch.nn.Linear(1, 1, bias=False)
        torch.nn.init.zeros_(self.module.weight)

    def losses(self, epoch, generator):
        yield (self.module.weight - 1).square().sum()


def settings(**given):
    return TrainingSettings(**{"learning_rate": 1.0, "max_epochs": 100, "patience": 3, **given})


def steps_taken(objective):
    """Adam with a constant gradient moves by the learning rate a step, 1 here."""
    return objective.module.weight.item()


def test_patience_counts_epochs_without_a_lower_loss():
    objective = Scripted(5.0, 4.0, 3.0, 3.5, 3.0, 3.1, 0.0)
    record = train(objective, settings(), device=CPU)
    assert record.losses == [5.0, 4.0, 3.0, 3.5, 3.0, pytest.approx(3.1)]  # an equal loss is not a lower one
    assert (record.best_epoch, record.best_loss, record.waited) == (2, 3.0, 3)
    assert record.finished


def test_patience_starts_anew_at_every_lower_loss():
    objective = Scripted(5.0, 6.0, 6.0, 4.0, 6.0, 6.0, 3.0, 6.0, 6.0, 6.0, 0.0)
    assert train(objective, settings(), device=CPU).epochs == 10


def test_training_ends_at_the_largest_number_of_epochs():
    record = train(Scripted(*range(50, 0, -1)), settings(max_epochs=7), device=CPU)
    assert record.epochs == 7
    assert record.finished
    assert len(record.seconds) == 7
    assert record.timing()["epochs"] == 7
    assert record.peak_memory_mb > 0


def test_early_stop_restores_the_weights_that_the_lowest_loss_was_measured_with():
    objective = Scripted(5.0, 4.0, 3.0, 6.0, 6.0, 6.0)
    train(objective, settings(), device=CPU)
    assert steps_taken(objective) == pytest.approx(2, abs=1e-4)  # the third loss saw the weights after two steps


def test_step_that_overshoots_is_taken_back():
    objective = Quadratic()
    record = train(objective, settings(learning_rate=20.0), device=CPU)
    (restored,) = objective.losses(0, None)
    assert restored.item() == record.best_loss == min(record.losses)


def test_epoch_of_several_steps_restores_the_weights_before_its_last_step():
    objective = Scripted((5.0, 5.0), (1.0, 3.0), (0.5, 8.0), (1.0, 4.0), (1.0, 4.0))
    record = train(objective, settings(), device=CPU)
    assert record.losses == [5.0, 2.0, 4.25, 2.5, 2.5]
    assert record.best_epoch == 1
    assert steps_taken(objective) == pytest.approx(3, abs=1e-4)


@pytest.mark.parametrize("value", [math.nan, math.inf, 1e7])
def test_loss_that_is_no_number_or_diverges_stops_with_epoch_and_learning_rate(value):
    with pytest.raises(TrainingDivergedError, match=r"at epoch 2 with learning rate 0\.125 and seed 4") as caught:
        train(Scripted(5.0, 4.0, value), settings(learning_rate=0.125, seed=4), device=CPU)
    assert isinstance(caught.value, UserError)
    assert "\n" not in str(caught.value)


def test_loss_that_rises_for_a_while_is_no_divergence():
    record = train(Scripted(0.001, 60.0, 50.0, 40.0), settings(), device=CPU)
    assert record.best_epoch == 0


def test_randomness_of_an_epoch_depends_on_seed_and_epoch_alone():
    first, other_losses, other_seed = Scripted(*range(9, 0, -1)), Scripted(*range(90, 0, -10)), Scripted(*range(9))
    train(first, settings(max_epochs=3), device=CPU)
    train(other_losses, settings(max_epochs=3, learning_rate=0.1, patience=1), device=CPU)
    train(other_seed, settings(max_epochs=3, seed=1), device=CPU)
    assert first.seen == other_losses.seen
    assert len({tuple(numbers) for numbers in first.seen + other_seed.seen}) == 6


def test_training_leaves_the_global_random_state_alone():
    objective = Scripted(3.0, 2.0, 1.0)
    before = torch.get_rng_state()
    train(objective, settings(max_epochs=3), device=CPU)
    assert torch.equal(torch.get_rng_state(), before)


def test_listeners_hear_every_epoch_and_are_closed_even_when_training_fails():
    class Ear:
        heard, closed = (), 0

        def on_epoch(self, record):
            self.heard = (*self.heard, (record.epochs, record.losses[-1]))

        def close(self):
            self.closed += 1

    ear = Ear()
    with pytest.raises(TrainingDivergedError):
        train(Scripted(5.0, 4.0, math.nan), settings(), device=CPU, listeners=[ear])
    assert ear.heard == ((1, 5.0), (2, 4.0))
    assert ear.closed == 1


def test_timing_of_one_epoch_has_no_deviation():
    record = TrainingRecord(losses=[1.0], seconds=[0.5])
    assert record.timing()["std_epoch_seconds"] == 0.0


def test_largest_seed_is_accepted():
    train(Scripted(3.0, 2.0), settings(max_epochs=2, seed=2**32 - 1), device=CPU)
    with pytest.raises(ValueError, match="less than or equal to 4294967295"):
        settings(seed=2**32)
