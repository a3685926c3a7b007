"""All that the splits of one evaluation are evaluated from, by this process or by others."""

from collections.abc import Callable
from dataclasses import dataclass, fields, replace
from functools import cached_property
from typing import Any

import numpy as np
from optuna.storages import BaseStorage

from figure_kedro.embeddings import Embeddings
from figure_kedro.evaluation.head import HEADS, Head, HeadSettings
from figure_kedro.evaluation.selection import (
    SplitResult,
    Tried,
    evaluate_split,
    first_settings,
    fits_of,
    try_settings,
)
from figure_kedro.graph import Graph, Targets
from figure_kedro.graph.digest import digest_arrays
from figure_kedro.projections import Projection


@dataclass(frozen=True, eq=False)
class SplitWork:
    """What a head learns from, for all splits.

    It consists of plain values and arrays, so that an executor can send it, with the arrays by path.

    Args:
        settings: Of the head.
        projection: Fitted on the embeddings of all nodes.
        metrics: The first one decides.
        learnt_from: Digest of what the head learns from.
        names: Of the views.
        views: Embeddings of the nodes that are judged, ``K`` arrays ``(m, d)``; none for a head that reads the graph.
        graph: For a head that reads it.
        nodes: Those that are judged ``(m,)``, as rows of what the head reads.
        labels: Of these nodes ``(m,)``.
        codes: Which part each belongs to, for every split ``(s, m)``.
        twins: Groups of nodes that cannot be told apart ``(m,)``.
    """

    settings: HeadSettings
    projection: Projection
    metrics: tuple[str, ...]
    learnt_from: str
    names: tuple[str, ...]
    views: list[np.ndarray]
    graph: Graph | None
    nodes: np.ndarray
    labels: np.ndarray
    codes: np.ndarray
    twins: np.ndarray | None

    @classmethod
    def of(
        cls,
        embeddings: Embeddings,
        projection: Projection,
        targets: Targets,
        settings: HeadSettings,
        metrics: tuple[str, ...],
    ) -> "SplitWork":
        """Gather it from a graph with labels and splits."""
        assert targets.labels is not None, "there are labels"
        assert targets.splits is not None, "there are splits"
        used, count = targets.used, settings.splits or targets.num_splits
        reads_graph = HEADS.part(settings).reads == "graph"
        return cls(
            settings,
            projection,
            metrics,
            learnt_from=_digest(embeddings, targets, reads_graph),
            names=embeddings.names,
            views=[] if reads_graph else embeddings.rows(used),
            graph=embeddings.graph() if reads_graph else None,
            nodes=used if reads_graph else np.arange(len(used)),
            labels=np.asarray(targets.labels)[used],
            codes=np.asarray(targets.splits)[:count][:, used],
            twins=None if targets.twins is None else targets.twins[used],
        )

    def __getstate__(self) -> dict[str, Any]:
        """What is sent to other processes: nothing that is prepared there, and no ids, which no head reads."""
        state = {part.name: getattr(self, part.name) for part in fields(self)}
        if self.graph is not None:
            state["graph"] = self._numbered
        return state

    @cached_property
    def _numbered(self) -> Graph:
        """The graph with numbers as ids; kept, because files of arrays are there as long as the arrays are."""
        return replace(self._graph(), ids=np.arange(self._graph().num_nodes), trusted=True)

    @cached_property
    def head(self) -> Head:
        return HEADS.build(self.settings)

    @cached_property
    def inputs(self) -> Any:
        """What the head reads, prepared once for all splits and trials."""
        views = dict(zip(self.names, self.views, strict=True)) if self.views else {}
        width = self.views[0].shape[1] if self.views else 0
        judged = Embeddings(
            self.names, self.nodes, width, compute=lambda: iter(self.views), graph=self._graph, arrays=views
        )
        return self.head.inputs(judged, self.projection, self.nodes)

    def _graph(self) -> Graph:
        assert self.graph is not None, "the head reads the graph"
        return self.graph

    @property
    def splits(self) -> int:
        """How many there are."""
        return len(self.codes)

    @property
    def fits(self) -> int:
        """Of every split."""
        return fits_of(self.head, self.inputs)

    def study(self, split: int) -> str:
        """The name of a split's trials; other embeddings, labels or another version of the head have other names."""
        return f"{self.settings.head} {self.head.version}, split {split} of {self.learnt_from}"

    def first_settings(self) -> list[dict[str, Any]]:
        """What the search of each split begins with, whatever comes of it."""
        return first_settings(self.head, self.inputs)

    def evaluate(
        self,
        split: int,
        storage: BaseStorage,
        on_trial: Callable[[int], None],
        tried: Callable[[dict[str, Any]], Tried | None] = lambda choice: None,
    ) -> SplitResult:
        """Choose settings on validation and score the test part."""
        return evaluate_split(
            self.head,
            self.inputs,
            self.labels,
            self.codes[split],
            self.metrics,
            name=self.study(split),
            storage=storage,
            twins=self.twins,
            on_trial=on_trial,
            tried=tried,
        )

    def fit(self, split: int, choice: dict[str, Any]) -> Tried:
        """One fit of the search of a split."""
        return try_settings(self.head, self.inputs, choice, self.labels, self.codes[split], self.metrics[0])


def _digest(embeddings: Embeddings, targets: Targets, reads_graph: bool) -> str:
    """Of what a head learns from, for the names of studies, so that no others are resumed."""
    if reads_graph:
        return digest_arrays([], embeddings.graph().checksum, targets.checksum)[:12]
    return digest_arrays(embeddings.values(), targets.checksum)[:12]
