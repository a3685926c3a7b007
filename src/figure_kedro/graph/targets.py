"""What there is to predict about the nodes: labels, splits, and the score that counts."""

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from figure_kedro.graph.digest import digest_arrays
from figure_kedro.graph.splits import UNUSED


@dataclass(frozen=True, eq=False)
class Targets:
    """Labels and splits of the nodes of a graph; small, so that evaluation needs no graph.

    Args:
        labels: Class of each node ``(n,)`` as an index into ``classes``, -1 where it is unknown; ``None`` if no node
            has a label.
        classes: The names of the classes.
        splits: Split codes ``(s, n)``, int8, one row per split, see :mod:`figure_kedro.graph.splits`; ``None`` if there
            are none.
        metric: What predictions on this graph are scored by unless the settings say otherwise.
        twins: Groups of nodes that cannot be told apart ``(n,)``, see :mod:`figure_kedro.graph.twins`; ``None`` if
            nobody has looked.
    """

    labels: np.ndarray | None = None
    classes: tuple[str, ...] = ()
    splits: np.ndarray | None = None
    metric: str = "accuracy"
    twins: np.ndarray | None = None

    @property
    def num_classes(self) -> int:
        return len(self.classes)

    @property
    def num_splits(self) -> int:
        return 0 if self.splits is None else len(self.splits)

    @property
    def used(self) -> np.ndarray:
        """The nodes that are in some part of some split, ascending."""
        return np.arange(0) if self.splits is None else np.flatnonzero((self.splits != UNUSED).any(axis=0))

    @cached_property
    def checksum(self) -> str:
        """SHA-256 of labels, classes, splits and metric."""
        return digest_arrays((self.labels, self.splits), self.classes, self.metric)
