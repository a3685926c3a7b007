"""How far a training, or a search of many, has come."""

import math
import statistics
from types import TracebackType
from typing import Self

from figure_kedro.progress import Bar, Pace, in_words
from figure_kedro.training.loop import TrainingRecord
from figure_kedro.training.settings import TrainingSettings

RECENT = 20
"""Epochs that the time of the next ones is taken from."""


class ProgressBar:
    """Shows epochs, the loss, the patience that is left, and how long it takes at the least.

    Nobody knows when the loss will have stopped falling. What is known is the earliest end: the patience used up, or
    the last epoch. The bar is full when either comes, and goes back when the loss falls.

    Args:
        settings: For the largest number of epochs and the patience.
        title: What is being trained.
    """

    def __init__(self, settings: TrainingSettings, title: str) -> None:
        self._settings, self._bar = settings, Bar(title)

    def on_epoch(self, record: TrainingRecord) -> None:
        settings = self._settings
        share = max(record.waited / settings.patience, record.epochs / settings.max_epochs)
        self._bar.show(
            share,
            [
                f"epoch {record.epochs}",
                f"loss {record.losses[-1]:.4f}",
                f"patience {settings.patience - record.waited}/{settings.patience}",
                time_left(record, settings),
            ],
        )

    def close(self) -> None:
        self._bar.close()


class TuningBar:
    """Shows the trials of a search, the loss of the one under way, and the lowest of all.

    Args:
        trials: How many there will be.
    """

    def __init__(self, trials: int) -> None:
        self._trials, self._bar, self._pace = trials, Bar("tuning"), Pace()
        self._lowest = math.inf

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def on_trial(self, ended: int) -> None:
        self._pace.reach(ended)

    def on_epoch(self, record: TrainingRecord) -> None:
        self._lowest = min(self._lowest, record.best_loss)
        done, trials = self._pace.done, self._trials
        words = [f"trial {done + 1} of {trials}", f"loss {record.losses[-1]:.4f}", f"lowest {self._lowest:.4f}"]
        self._bar.show(done / trials, [*words, self._pace.left(trials - done), f"epoch {record.epochs}"])

    def close(self) -> None:
        """A trial has ended; the search goes on."""


def time_left(record: TrainingRecord, settings: TrainingSettings) -> str:
    """In words: exact where the last epoch is near, else a lower bound."""
    patience, epochs = settings.patience - record.waited, settings.max_epochs - record.epochs
    seconds = in_words(min(patience, epochs) * statistics.fmean(record.seconds[-RECENT:]))
    return f"{'about' if epochs <= patience else 'at least'} {seconds} left"
