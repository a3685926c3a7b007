"""How far an experiment has come."""

from collections.abc import Sequence
from types import TracebackType
from typing import Self

from rich.console import Console

from figure_kedro.experiments.cells import Outcome
from figure_kedro.progress import Bar, left_in_words


class CellProgress:
    """Shows how many runs have ended and how long the rest may take.

    What is left is estimated from earlier runs like the ones that are to come, scaled by how well the estimates have
    done so far, and from the mean of this session's where there is none.

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
        self._bar = Bar("runs", console)
        self._terminal = console.is_terminal

    def __enter__(self) -> Self:
        if self._terminal and self._total:
            self._bar.show(0.0, [f"0 of {self._total}", self.left()])
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._bar.close()

    def ended(self, number: int, title: str, outcome: Outcome) -> None:
        """Count a run; a pipe gets a line for the first one, every failure and the last one."""
        expected = self._left.pop(number)
        if not outcome.error:
            self._seconds.append(outcome.seconds)
            if expected is not None:
                self._expected, self._compared = self._expected + expected, self._compared + outcome.seconds
        if outcome.error:
            self._bar.print(f"{title}: {outcome.error}")
        done = self._total - len(self._left)
        telling = not outcome.error and (len(self._seconds) == 1 or not self._left)
        self._bar.show(done / self._total, [f"{done} of {self._total}", self.left(), f"last {title}"], line=telling)

    def left(self) -> str:
        """In words, how long the rest may take."""
        return left_in_words(self.seconds_left()) if self._left else "done"

    def seconds_left(self) -> float | None:
        """Estimated seconds until all have ended; ``None`` as long as nothing is known."""
        ratio = self._compared / self._expected if self._expected else 1.0
        mean = sum(self._seconds) / len(self._seconds) if self._seconds else None
        guesses = [mean if expected is None else ratio * expected for expected in self._left.values()]
        known = [guess for guess in guesses if guess is not None]
        if len(known) < len(guesses):
            return None
        return sum(known) / min(self._at_a_time, max(1, len(known)))
