"""How far an experiment has come."""

import threading
import time
from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console

from figure_kedro.experiments.cells import Outcome
from figure_kedro.progress import Bar, in_words, left_in_words

BEAT_SECONDS = 5.0
"""Between two looks at the time while runs are under way; a pipe gets a line of it only now and then."""


class CellProgress:
    """Shows how many runs have ended and how long the rest may take.

    What is left is estimated from earlier runs like the ones that are to come, scaled by how well the estimates have
    done so far, and from the mean of this session's where there is none. Long runs are told while they last, too.

    Args:
        console: Where to show it.
        estimates: Seconds of each run, or ``None``.
        at_a_time: How many are made at a time.
    """

    def __init__(self, console: Console, estimates: Sequence[float | None], at_a_time: int) -> None:
        self._at_a_time = at_a_time
        self._left = dict(enumerate(estimates))
        self._total = len(estimates)
        self._seconds: list[float] = []
        self._expected = self._compared = 0.0
        self._bar, self._console = Bar("runs", console), console
        self._turn, self._over = threading.Lock(), threading.Event()
        self._last, self._heart = time.monotonic(), threading.Thread(target=self._beat, daemon=True)

    def __enter__(self) -> Self:
        if self._total:
            if self._console.is_terminal:
                self._bar.show(0.0, [self._count, self.left()])
            self._heart.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._over.set()
        if self._heart.is_alive():
            self._heart.join()
        self._bar.close()

    def _beat(self) -> None:
        while not self._over.wait(BEAT_SECONDS):
            with self._turn:
                if self._left:
                    waiting = f"{in_words(time.monotonic() - self._last)} since the last one"
                    self._bar.show(self._share, [self._count, self.left(), waiting])

    @property
    def _share(self) -> float:
        return (self._total - len(self._left)) / self._total

    @property
    def _count(self) -> str:
        return f"{self._total - len(self._left)} of {self._total}"

    def ended(self, number: int, title: str, outcome: Outcome) -> None:
        """Count a run; a pipe gets a line for the first one, every failure and the last one."""
        with self._turn:
            self._ended(number, title, outcome)

    def _ended(self, number: int, title: str, outcome: Outcome) -> None:
        self._last = time.monotonic()
        expected = self._left.pop(number)
        if not outcome.error:
            self._seconds.append(outcome.seconds)
            if expected is not None:
                self._expected, self._compared = self._expected + expected, self._compared + outcome.seconds
        if outcome.error:
            self._bar.print(f"{title}: {outcome.error}")
        telling = not outcome.error and (len(self._seconds) == 1 or not self._left)
        self._bar.show(self._share, [self._count, self.left(), f"last {title}"], line=telling)

    def left(self) -> str:
        """In words, how long the rest may take."""
        if not self._left:
            return "done"
        seconds, passed = self.seconds_left(), time.monotonic() - self._last
        # what is under way has lasted for a while; longer than was thought, nobody knows
        return left_in_words(seconds - passed if seconds is not None and seconds > passed else None)

    def seconds_left(self) -> float | None:
        """Estimated seconds until all have ended; ``None`` as long as nothing is known."""
        ratio = self._compared / self._expected if self._expected else 1.0
        mean = sum(self._seconds) / len(self._seconds) if self._seconds else None
        guesses = [mean if expected is None else ratio * expected for expected in self._left.values()]
        known = [guess for guess in guesses if guess is not None]
        if len(known) < len(guesses):
            return None
        return sum(known) / min(self._at_a_time, max(1, len(known)))
