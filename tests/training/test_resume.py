import logging
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import torch

from examples import example_graph
from figure_kedro.datasets.files.tensor_file import CheckpointFile, read_tensors
from figure_kedro.estimator import FiGURe
from figure_kedro.filters import BANKS
from figure_kedro.methods.kinds.figure import FigureSettings

pytestmark = pytest.mark.usefixtures("one_thread")

EVERY_EPOCH = 1e-9
STRATEGIES = {
    "full": {"strategy": "full"},
    "deep": {"strategy": "full", "encoder": {"gcn_layers": 2, "mlp_layers": 2, "shared": False}},
    "sampled": {"strategy": "sampled", "sampled": {"size": 8}},
    "stored": {"strategy": "decoupled", "decoupled": {"batch_rows": 5}},
    "fresh": {"strategy": "decoupled", "decoupled": {"batch_rows": 5, "corruptions": 0}},
}


class Memory:
    """Keeps a checkpoint in memory, and the power fails after some of them."""

    def __init__(self, fail_after=None, keep=None):
        self.fail_after, self.keep = fail_after, keep
        self.saves, self.kept = 0, None

    def load(self):
        return self.kept and ({name: tensor.clone() for name, tensor in self.kept[0].items()}, self.kept[1])

    def save(self, tensors, description):
        self.saves += 1
        if self.keep is None or self.saves <= self.keep:
            self.kept = ({name: tensor.detach().clone() for name, tensor in tensors.items()}, description)
        if self.saves == self.fail_after:
            raise KeyboardInterrupt


def estimator(strategy="full", filters=None, **training):
    training = {
        "max_epochs": 12,
        "learning_rate": 1e-2,
        "threads": 1,
        "device": "cpu",
        "checkpoint_seconds": EVERY_EPOCH,
        **training,
    }
    settings = FigureSettings(dim=4, training=training, **STRATEGIES[strategy])
    return FiGURe(settings=settings, filters=filters, progress=False)


def assert_same_run(left, right):
    assert left.record_.losses == right.record_.losses
    assert left.record_.best_epoch == right.record_.best_epoch
    for (name, ours), theirs in zip(left.model_.named_parameters(), right.model_.parameters(), strict=True):
        assert torch.equal(ours, theirs), name


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_same_seed_gives_identical_weights(strategy):
    assert_same_run(*(estimator(strategy).fit(example_graph()) for _ in range(2)))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_another_seed_gives_other_weights(strategy):
    first, second = (estimator(strategy, seed=seed).fit(example_graph()) for seed in (0, 1))
    assert not torch.equal(first.model_.encoders[0].theta, second.model_.encoders[0].theta)
    assert first.record_.losses != second.record_.losses


@pytest.mark.parametrize("epoch", [1, 5, 11])
@pytest.mark.parametrize("strategy", STRATEGIES)
def test_interrupted_run_goes_on_to_the_very_weights_of_an_uninterrupted_one(strategy, epoch):
    store = Memory(fail_after=epoch)
    with pytest.raises(KeyboardInterrupt):
        estimator(strategy).fit(example_graph(), checkpoints=store)
    resumed = estimator(strategy).fit(example_graph(), checkpoints=store)
    assert store.saves == 12
    assert_same_run(resumed, estimator(strategy).fit(example_graph()))


def test_run_interrupted_long_after_its_last_checkpoint_takes_the_lost_epochs_again():
    store = Memory(fail_after=9, keep=4)
    with pytest.raises(KeyboardInterrupt):
        estimator().fit(example_graph(), checkpoints=store)
    store.keep = None
    assert_same_run(estimator().fit(example_graph(), checkpoints=store), estimator().fit(example_graph()))


def test_early_stop_after_resuming_counts_the_epochs_before():
    training = {"max_epochs": 200, "patience": 4}
    plain = estimator(**training).fit(example_graph())
    assert 0 < plain.record_.best_epoch < plain.record_.epochs < 200
    store = Memory(fail_after=plain.record_.best_epoch + 3)  # in the middle of the patience
    with pytest.raises(KeyboardInterrupt):
        estimator(**training).fit(example_graph(), checkpoints=store)
    assert_same_run(estimator(**training).fit(example_graph(), checkpoints=store), plain)


def test_finished_run_is_not_trained_again(tmp_path):
    class Silence:
        def on_epoch(self, record):
            raise AssertionError("an epoch was trained")

        def close(self):
            pass

    store = CheckpointFile(tmp_path / "checkpoint")
    first = estimator().fit(example_graph(), checkpoints=store)
    assert_same_run(estimator().fit(example_graph(), checkpoints=store, listeners=[Silence()]), first)


def test_checkpoint_of_other_data_or_settings_is_not_used(caplog):
    graph, other = example_graph(), example_graph(seed=1)
    runs = [
        (estimator(), other),
        (estimator(learning_rate=2e-2), graph),
        (estimator(seed=1), graph),
        (estimator(filters=BANKS.parse({"bank": "chebyshev"})), graph),
        (estimator(filters=BANKS.parse({"self_loops": False})), graph),
    ]
    for figure, data in runs:
        store = Memory()
        estimator().fit(graph, checkpoints=store)
        caplog.clear()
        figure.fit(data, checkpoints=store)
        assert "a checkpoint of other data, other settings or another version" in caplog.text
        assert_same_run(figure, FiGURe(settings=figure.settings, filters=figure.filters, progress=False).fit(data))


@pytest.mark.parametrize("strategy", STRATEGIES)
def test_run_is_resumed_on_another_number_of_threads_with_a_warning(strategy, caplog):
    caplog.set_level(logging.INFO)
    store = Memory(fail_after=5)
    with pytest.raises(KeyboardInterrupt):
        estimator(strategy, threads=1).fit(example_graph(), checkpoints=store)
    kept = store.kept[1]["record"]["losses"].copy()
    resumed = estimator(strategy, threads=2).fit(example_graph(), checkpoints=store)
    assert "resuming after epoch 5 of an earlier run" in caplog.text
    assert "the earlier run was on cpu with 1 threads, this one is on cpu with 2 threads" in caplog.text
    assert "other data or settings" not in caplog.text
    assert store.saves == 12
    assert len(kept) == 5
    assert resumed.record_.losses[:5] == kept
    plain = estimator(strategy, threads=1).fit(example_graph())
    assert resumed.record_.losses == pytest.approx(plain.record_.losses, rel=1e-4)


def test_finished_run_of_another_number_of_threads_is_not_trained_again():
    store = Memory()
    first = estimator(threads=1).fit(example_graph(), checkpoints=store)
    assert_same_run(estimator(threads=2).fit(example_graph(), checkpoints=store), first)
    assert store.saves == 12


def test_run_is_resumed_on_the_same_machine_without_a_warning(caplog):
    store = Memory(fail_after=5)
    with pytest.raises(KeyboardInterrupt):
        estimator().fit(example_graph(), checkpoints=store)
    caplog.clear()
    estimator().fit(example_graph(), checkpoints=store)
    assert [entry.message for entry in caplog.records if entry.levelno >= logging.WARNING] == []


def test_checkpoint_of_a_version_that_did_not_name_the_machine_is_resumed_without_a_warning(caplog):
    store = Memory(fail_after=5)
    with pytest.raises(KeyboardInterrupt):
        estimator().fit(example_graph(), checkpoints=store)
    del store.kept[1]["machine"]
    caplog.clear()
    assert_same_run(estimator().fit(example_graph(), checkpoints=store), estimator().fit(example_graph()))
    assert "the earlier run" not in caplog.text


SCRIPT = """
import sys, time
from test_resume import run_with_checkpoint

class Slow:
    def on_epoch(self, record):
        time.sleep(0.2)

    def close(self):
        pass

run_with_checkpoint(sys.argv[1], Slow())
"""


def run_with_checkpoint(path, *listeners):
    figure = estimator(max_epochs=40)
    return figure.fit(example_graph(), checkpoints=CheckpointFile(Path(path)), listeners=listeners)


def test_killed_process_goes_on_to_the_very_weights_of_an_uninterrupted_one(tmp_path):
    here, checkpoint = Path(__file__).parent, tmp_path / "checkpoint"
    environment = os.environ | {"PYTHONPATH": os.pathsep.join([str(here), str(here.parent)])}
    process = subprocess.Popen([sys.executable, "-c", SCRIPT, str(checkpoint)], env=environment)
    while process.poll() is None:
        if checkpoint.exists() and len(read_tensors(checkpoint)[1]["record"]["losses"]) >= 3:
            process.send_signal(signal.SIGKILL)
            break
        time.sleep(0.02)
    assert process.wait() == -signal.SIGKILL
    record = read_tensors(checkpoint)[1]["record"]
    assert not record["finished"]

    resumed = run_with_checkpoint(checkpoint)
    assert resumed.record_.losses[: len(record["losses"])] == record["losses"]
    assert resumed.record_.epochs > len(record["losses"])
    assert_same_run(resumed, estimator(max_epochs=40).fit(example_graph()))
