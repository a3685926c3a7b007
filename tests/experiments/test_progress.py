"""How far an experiment has come, and how long the rest may take."""

import io
import time

import pytest
from rich.console import Console

from figure_kedro import progress
from figure_kedro.experiments import progress as experiment_progress
from figure_kedro.experiments.cells import Outcome
from figure_kedro.experiments.progress import CellProgress


@pytest.fixture
def pipe():
    return Console(file=io.StringIO(), width=60)


def lines(console):
    return console.file.getvalue().splitlines()


def test_estimates_are_scaled_by_how_the_earlier_ones_did(pipe):
    shown = CellProgress(pipe, [10.0, 20.0, 30.0, 40.0], 1)
    assert shown.seconds_left() == 100.0
    shown.ended(0, "a", Outcome(20.0))
    assert shown.seconds_left() == (20.0 / 10.0) * (20.0 + 30.0 + 40.0)
    shown.ended(2, "c", Outcome(40.0))
    assert shown.seconds_left() == pytest.approx((20.0 + 40.0) / (10.0 + 30.0) * (20.0 + 40.0))


def test_what_is_left_is_divided_among_those_who_work(pipe):
    assert CellProgress(pipe, [10.0, 20.0, 30.0], 2).seconds_left() == 30.0
    assert CellProgress(pipe, [10.0, 20.0], 8).seconds_left() == 15.0, "two runs keep no more than two busy"


def test_time_left_is_unknown_as_long_as_nothing_is_known(pipe):
    shown = CellProgress(pipe, [None, None, 10.0], 1)
    assert (shown.seconds_left(), shown.left()) == (None, "time left unknown")
    shown.ended(0, "a", Outcome(4.0, "it failed"))
    assert shown.seconds_left() is None, "a failure says nothing about how long a run takes"
    shown.ended(2, "c", Outcome(5.0))
    assert shown.seconds_left() == 5.0, "the mean of this session, where no earlier run is like it"


def test_runs_without_an_estimate_take_the_mean_of_this_session(pipe):
    shown = CellProgress(pipe, [None, None, None, 100.0], 1)
    shown.ended(0, "a", Outcome(4.0))
    shown.ended(1, "b", Outcome(8.0))
    assert shown.seconds_left() == 6.0 + 100.0, "no estimate has been tried yet, so that none is scaled"


def test_a_pipe_gets_the_first_run_every_failure_and_the_end_in_a_line_each(pipe, monkeypatch):
    with CellProgress(pipe, [100.0] * 5, 1) as shown:
        shown.ended(0, "first", Outcome(50.0))
        shown.ended(1, "second", Outcome(50.0))
        shown.ended(2, "third", Outcome(1.0, "there is no memory [left] " + 20 * "and so on "))
        monkeypatch.setattr(progress, "LINE_SECONDS", -1.0)
        shown.ended(3, "fourth", Outcome(50.0))
        shown.ended(4, "fifth", Outcome(50.0))
    told = lines(pipe)
    assert told[0] == "runs: 1 of 5, about 3 min left, last first"
    assert told[1].startswith("third: there is no memory [left] and so on")
    assert told[2:] == ["runs: 4 of 5, about 50 s left, last fourth", "runs: 5 of 5, done, last fifth"]


def test_a_pipe_hears_of_a_run_that_lasts(pipe, monkeypatch):
    monkeypatch.setattr(progress, "LINE_SECONDS", -1.0)
    monkeypatch.setattr(experiment_progress, "BEAT_SECONDS", 0.01)
    with CellProgress(pipe, [100.0, None], 1):
        end = time.monotonic() + 20
        while not lines(pipe) and time.monotonic() < end:
            time.sleep(0.01)
    assert lines(pipe)[0] == "runs: 0 of 2, time left unknown, 0 s since the last one"


def test_a_terminal_gets_a_bar():
    terminal = Console(file=io.StringIO(), force_terminal=True, width=100)
    with CellProgress(terminal, [100.0, 100.0], 1) as shown:
        shown.ended(0, "first", Outcome(50.0))
        shown.ended(1, "second", Outcome(1.0, "it failed"))
    told = terminal.file.getvalue()
    assert "2 of 2" in told
    assert "second: it failed" in told
    assert "runs:" not in told
