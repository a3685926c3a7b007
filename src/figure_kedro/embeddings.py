"""The embeddings of a graph, one array for each view."""

from collections.abc import Callable, Iterator, Mapping

import numpy as np

from figure_kedro.graph import Graph
from figure_kedro.graph.row_blocks import take_rows
from figure_kedro.memory import is_mapped
from figure_kedro.methods.method import Allocate

STORED_NUMBERS = 100_000_000
"""Embeddings of at most so many numbers are kept unless asked otherwise."""


class Embeddings(Mapping[str, np.ndarray]):
    """The embeddings ``(n, width)`` under every view by name, in the order of the filter bank.

    They are computed, or read from disk, when one of them is asked for, all of them once.

    Args:
        names: Of the views.
        ids: The user's node ids ``(n,)``.
        width: Columns of an embedding.
        compute: Yields the embedding of every view in order, one at a time.
        arrays: The embeddings themselves if they are there already, for instance mapped from disk.
        graph: Gives the graph that was embedded, for whoever needs more than embeddings.
    """

    def __init__(
        self,
        names: tuple[str, ...],
        ids: np.ndarray,
        width: int,
        *,
        compute: Callable[[], Iterator[np.ndarray]],
        graph: Callable[[], Graph],
        arrays: Mapping[str, np.ndarray] | None = None,
    ) -> None:
        self.names, self.ids, self.width = names, ids, width
        self.graph = graph
        self._compute = compute
        self._arrays = None if arrays is None else dict(arrays)

    @property
    def numbers(self) -> int:
        """How many numbers all of them are."""
        return len(self.ids) * self.width * len(self.names)

    def items_in_turn(self) -> Iterator[tuple[str, np.ndarray]]:
        """Every name with its embedding; if they are to be computed, only one of them is held at a time."""
        yield from self.items() if self._arrays is not None else zip(self.names, self._compute(), strict=True)

    def materialise(self, allocate: Allocate) -> None:
        """Compute all of them into arrays that ``allocate`` makes, unless they are there."""
        if self._arrays is None:
            arrays = {}
            for number, (name, view) in enumerate(self.items_in_turn()):
                if is_mapped(view):  # it is on the disk already
                    arrays[name] = view
                    continue
                arrays[name] = allocate(f"view_{number}", view.shape)
                arrays[name][:] = view
            self._arrays = arrays

    def rows(self, nodes: np.ndarray) -> list[np.ndarray]:
        """The embeddings of some nodes, ascending, under every view; nothing is copied if these are all nodes."""
        everyone = len(nodes) == len(self.ids)
        return [view if everyone else take_rows(view, nodes) for view in self.values()]

    def __getitem__(self, name: str) -> np.ndarray:
        if self._arrays is None:
            self._arrays = dict(self.items_in_turn())
        return self._arrays[name]

    def __iter__(self) -> Iterator[str]:
        return iter(self.names)

    def __len__(self) -> int:
        return len(self.names)
