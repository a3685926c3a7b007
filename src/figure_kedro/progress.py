"""How far long work has come: a bar on a terminal, a line now and then elsewhere."""

import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

import rich
from rich.console import Console
from rich.progress import BarColumn, Progress, TextColumn, TimeElapsedColumn

LINE_SECONDS = 30.0
"""What is no terminal, a pipe or a file, gets a line in so many seconds."""

WIDEST_BAR, NARROWEST_BAR = 24, 4
ELAPSED = 7  # 0:00:00


class Bar:
    """A bar with some words behind it, on the console that log lines go to as well.

    Words that do not fit into the width of the console are left out as a whole, the last ones first: none is cut.
    Nothing is shown before the first step, so that work that fails at once leaves nothing behind.

    Args:
        title: What is being done, short.
        console: Where; the one of the log by default.
    """

    def __init__(self, title: str, console: Console | None = None) -> None:
        self._title, self._console = title, console or rich.get_console()
        self._last_line = time.monotonic()
        self._column = BarColumn(bar_width=WIDEST_BAR)
        self._progress = Progress(
            TextColumn("{task.description}", markup=False),
            self._column,
            TextColumn("{task.fields[words]}", markup=False),
            TimeElapsedColumn(),
            console=self._console,
            transient=True,
            disable=not self._console.is_terminal,
        )
        self._task = self._progress.add_task(title, total=1.0, words="")

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def show(self, share: float, words: Sequence[str], line: bool = False) -> None:
        """Say how far it is.

        Args:
            share: Of the whole, from 0 to 1.
            words: What there is to say, the most important first.
            line: Whether a pipe gets a line now, and not only when one is due.
        """
        if self._console.is_terminal:
            room = self._console.width - len(self._title) - ELAPSED - 3  # a space between the columns
            fitting = fit(words, room - NARROWEST_BAR)
            self._column.bar_width = max(NARROWEST_BAR, min(WIDEST_BAR, room - len(fitting)))
            self._progress.update(self._task, completed=share, words=fitting)
            self._progress.start()
        elif line or time.monotonic() - self._last_line > LINE_SECONDS:
            self.print(f"{self._title}: {', '.join(words)}")

    def print(self, line: str) -> None:
        """A line that stays, above the bar."""
        self._last_line = time.monotonic()
        self._console.print(line, markup=False, highlight=False, soft_wrap=True)

    def close(self) -> None:
        self._progress.stop()


class Pace:
    """How long steps take, from those that were seen one by one: several at once were left by an earlier run."""

    def __init__(self) -> None:
        self.done, self._seconds, self._steps = 0, 0.0, 0
        self._last = time.monotonic()

    def reach(self, done: int) -> None:
        """So many steps are done by now."""
        now = time.monotonic()
        if done == self.done + 1:
            self._seconds, self._steps = self._seconds + now - self._last, self._steps + 1
        self.done, self._last = done, now

    def left(self, steps: int) -> str:
        """In words, how long so many more steps may take."""
        if not steps:
            return "done"
        return left_in_words(steps * self._seconds / self._steps if self._steps else None)


def fit(words: Sequence[str], room: int) -> str:
    """As many of the words, from the first on, as there is room for.

    >>> fit(["epoch 12", "loss 0.5", "at least 3 s left"], 20)
    'epoch 12  loss 0.5'
    """
    kept = list(words)
    while len(kept) > 1 and len("  ".join(kept)) > room:
        kept.pop()
    return "  ".join(kept)


def left_in_words(seconds: float | None) -> str:
    """How long it may take, or that nobody knows."""
    return "time left unknown" if seconds is None else f"about {in_words(seconds)} left"


def in_words(seconds: float) -> str:
    """Seconds as people say them.

    >>> in_words(5), in_words(200), in_words(9000)
    ('5 s', '3 min', '2.5 h')
    """
    if seconds < 90:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 5400 else f"{seconds / 3600:.1f} h"
