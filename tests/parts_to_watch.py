"""Parts that tell where they work, take their time or die, apart from other work because they take long to import."""

import os
import time
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from figure_kedro.evaluation.split_work import SplitWork
from figure_kedro.filters import BANKS
from figure_kedro.methods.decoupled import DecoupledObjective
from work_to_do import die_once, leave_a_mark


class SlowBank(BANKS["monomial"]):
    """Takes its time, and says where it works."""

    folder, seconds = None, 0.0

    def apply(self, propagate, block):
        leave_a_mark(self.folder, f"block{block.shape[1]}-{time.time_ns()}")
        time.sleep(self.seconds)
        return super().apply(propagate, block)


class SlowObjective(DecoupledObjective):
    """Takes its time, and says where it works."""

    folder, seconds = None, 0.0

    def losses(self, epoch, generator):
        leave_a_mark(self.folder, f"worker{self._team.rank}")
        time.sleep(self.seconds)
        yield from super().losses(epoch, generator)


@dataclass(frozen=True, eq=False)
class WorkThatKills(SplitWork):
    """Kills its process in the middle of one split, the first time."""

    marker: str = ""

    def evaluate(self, split, storage, on_trial, tried=lambda choice: None):
        def die_after_two(ended):
            on_trial(ended)
            if split == 1 and ended == 2:
                die_once(self.marker, None)

        return super().evaluate(split, storage, die_after_two, tried)


@dataclass(frozen=True, eq=False)
class WorkThatTells(SplitWork):
    """Leaves a file for every fit, with the process that made it."""

    folder: str = ""

    @cached_property
    def head(self):
        head, fit = super().head, type(super().head).fit

        def told(inputs, choice, *others):
            Path(self.folder, f"{os.getpid()}-{time.monotonic_ns()}").touch()
            return fit(head, inputs, choice, *others)

        head.fit = told
        return head
