"""Bars that say what is known, whole words at any width, and lines where there is no terminal."""

import io
import re

import pytest
from rich.console import Console

from figure_kedro import progress
from figure_kedro.evaluation.split_progress import SplitProgress
from figure_kedro.progress import Bar, Pace
from figure_kedro.training.loop import TrainingRecord
from figure_kedro.training.progress import ProgressBar, TuningBar, time_left
from figure_kedro.training.settings import TrainingSettings


@pytest.fixture
def terminal(monkeypatch):
    """A terminal of a given width that the bars take for the console of the log."""

    def of_width(width):
        console = Console(file=io.StringIO(), force_terminal=True, width=width)
        monkeypatch.setattr("rich.get_console", lambda: console)
        return console

    return of_width


def shown(console):
    """The last state of the bar, without colours."""
    plain = re.sub(r"\x1b\[[0-9;?]*[A-Za-z]", "", console.file.getvalue())
    return [line for line in re.split(r"[\r\n]+", plain) if "\u2501" in line][-1].rstrip()


def record_of(losses, seconds=2.0):
    best = min(range(len(losses)), key=losses.__getitem__)
    return TrainingRecord(list(losses), [seconds] * len(losses), best, losses[best])


def test_the_least_time_left_is_the_patience_left_and_never_all_epochs():
    settings = TrainingSettings(max_epochs=30_000, patience=20)
    assert time_left(record_of([0.7, 0.6, 0.65]), settings) == "at least 38 s left"


def test_near_the_last_epoch_the_time_left_is_known():
    settings = TrainingSettings(max_epochs=10, patience=20)
    assert time_left(record_of([0.7, 0.6, 0.65]), settings) == "about 14 s left"


@pytest.mark.parametrize("width", [60, 80, 120])
def test_no_word_is_cut_and_no_line_is_longer_than_the_terminal(terminal, width):
    console = terminal(width)
    bar = ProgressBar(TrainingSettings(max_epochs=30_000, patience=500), "node2vec")
    bar.on_epoch(record_of([0.6931] * 12_345, seconds=3.0))
    bar._bar._progress.refresh()
    line = shown(console)
    bar.close()
    assert len(line) <= width
    assert line.startswith("node2vec ")
    assert "epoch 12345  loss 0.6931" in line
    assert "\u2026" not in line, "an ellipsis stands where something was cut"
    assert ("at least" in line) == ("left" in line)


def test_a_terminal_of_80_columns_shows_the_patience_and_the_time(terminal):
    console = terminal(80)
    bar = ProgressBar(TrainingSettings(max_epochs=30_000, patience=20), "figure")
    bar.on_epoch(record_of([0.7, 0.6, 0.65]))
    bar._bar._progress.refresh()
    line = shown(console)
    bar.close()
    assert "epoch 3  loss 0.6500  patience 19/20  at least 38 s left" in line
    assert re.search(r"\d:\d\d:\d\d$", line)


def test_tuning_shows_the_trial_its_loss_and_the_lowest(terminal):
    console = terminal(80)
    with TuningBar(20) as bar:
        bar.on_trial(0)
        bar.on_epoch(record_of([0.7, 0.4]))
        bar.on_trial(1)
        bar.on_epoch(record_of([0.7, 0.6]))
        bar._bar._progress.refresh()
        line = shown(console)
    assert re.search(r"trial 2 of 20  loss 0\.6000  lowest 0\.4000  about \d+ s left", line)


def test_a_pipe_gets_whole_lines_and_only_when_one_is_due(monkeypatch):
    pipe = Console(file=io.StringIO(), width=20)
    bar = Bar("evaluation", pipe)
    bar.show(0.1, ["fit 1 of 10", "about 3 min left"])
    assert not pipe.file.getvalue()
    monkeypatch.setattr(progress, "LINE_SECONDS", -1.0)
    bar.show(0.2, ["fit 2 of 10", "about 2 min left"])
    assert pipe.file.getvalue() == "evaluation: fit 2 of 10, about 2 min left\n"


def test_steps_of_an_earlier_run_say_nothing_about_the_time_left(monkeypatch):
    clock = iter([0.0, 1.0, 11.0, 21.0])
    monkeypatch.setattr("time.monotonic", lambda: next(clock))
    pace = Pace()
    pace.reach(20)  # resumed
    assert pace.left(10) == "time left unknown"
    pace.reach(21)
    pace.reach(22)
    assert pace.left(8) == "about 80 s left"
    assert pace.left(0) == "done"


def test_fits_of_splits_that_are_evaluated_at_a_time_are_counted_together(terminal):
    console = terminal(100)
    with Bar("evaluation") as bar:
        seen = SplitProgress(bar, splits=3, fits=5)
        for split, ended in ((0, 0), (2, 0), (0, 2), (2, 5)):
            seen.on_trial(split, ended)
    assert "split 2 of 3  fit 7 of 15  about" in shown(console)
