"""How far an evaluation has come, over all its splits."""

import threading

from figure_kedro.progress import Bar, Pace


class SplitProgress:
    """Shows the fits of all splits, whichever of them are under way; several threads may tell it.

    Args:
        bar: Where.
        splits: How many there are.
        fits: Of each.
    """

    def __init__(self, bar: Bar, splits: int, fits: int) -> None:
        self._bar, self._splits, self._fits = bar, splits, fits
        self._ended: dict[int, int] = {}
        self._pace, self._one_at_a_time = Pace(), threading.Lock()

    def on_trial(self, split: int, ended: int) -> None:
        """So many fits of a split have ended."""
        with self._one_at_a_time:
            begun = split in self._ended
            steps = range(self._ended.get(split, 0) + 1, ended + 1) if begun else [ended]
            for step in steps or [ended]:  # several at once of a split that has just begun are of an earlier run
                self._ended[split] = step
                self._pace.reach(sum(self._ended.values()))
            self._show()

    def _show(self) -> None:
        done, total = self._pace.done, self._splits * self._fits
        finished = sum(ended >= self._fits for ended in self._ended.values())
        words = [f"split {min(finished + 1, self._splits)} of {self._splits}", f"fit {done} of {total}"]
        self._bar.show(done / total, [*words, self._pace.left(total - done)])
