"""FiGURe as a plain library: fit a graph, embed it or another, save and load, without Kedro or MLflow."""

import dataclasses
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.datasets.tensor_file import read_tensors, write_json, write_tensors
from figure_kedro.errors import UserError
from figure_kedro.filters import normalised_adjacency
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.filters.structural import FeatureSettings, with_structural_features
from figure_kedro.graph import Graph
from figure_kedro.methods.decoupled import Allocate
from figure_kedro.methods.figure import build_model, embed, train_figure
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.training.loop import CheckpointStore, Listener, TrainingRecord
from figure_kedro.training.progress import ProgressBar

logger = logging.getLogger(__name__)

WEIGHTS, SETTINGS = "weights.safetensors", "settings.json"


class FiGURe:
    """Node embeddings from a bank of graph filters and one shared encoder, learnt without labels.

    Example::

        figure = FiGURe(dim=128).fit(graph)
        views = figure.transform(graph)  # {"I": (n, 128), "A": ..., "A^2": ..., "A^3": ...}
        figure.save("my_model")

    Args:
        dim: Dimension of the embeddings; wins over ``settings.dim``.
        filters: The filter bank.
        settings: Encoder, strategy and training.
        progress: Whether to show a progress bar.

    Attributes:
        model_: The trained model.
        record_: Losses and times of training.
        num_features_: Of the graph that was trained on.
        structural_: Whether these features were made from its edges, because it had none.
        checksum_: Of the graph that was trained on.
    """

    def __init__(
        self,
        dim: int | None = None,
        *,
        filters: FilterSettings | None = None,
        settings: RepresentationSettings | None = None,
        progress: bool = True,
    ) -> None:
        settings = settings or RepresentationSettings()
        if dim is not None and dim < 1:
            raise UserError(f"dim = {dim} is no dimension; choose 1 or more")
        self.settings = settings if dim is None else settings.model_copy(update={"dim": dim})
        self.filters = filters or FilterSettings()
        self.progress = progress

    @property
    def filter_names(self) -> tuple[str, ...]:
        return self.filters.build().names

    def fit(
        self,
        graph: Graph,
        *,
        matrix: sp.csr_array | None = None,
        checkpoints: CheckpointStore | None = None,
        listeners: Iterable[Listener] = (),
        allocate: Allocate | None = None,
    ) -> "FiGURe":
        """Train on a graph; a graph without features gets structural ones.

        Args:
            graph: Its labels are not looked at.
            matrix: Its normalised adjacency, if that is at hand.
            checkpoints: For instance ``CheckpointFile(path)``: a run that was killed goes on from there.
            listeners: Told of every epoch.
            allocate: Makes the arrays of the decoupled strategy; in memory by default.
        """
        structural, graph = graph.features is None, _with_features(graph)
        listeners = [*listeners]
        if self.progress:
            listeners.append(ProgressBar(self.settings.training, f"FiGURe {self.settings.dim} on {graph.name}"))
        matrix = self._normalised(graph) if matrix is None else matrix
        self.model_, self.record_ = train_figure(
            graph,
            matrix,
            self.filters.build(),
            self.settings,
            checkpoints=checkpoints,
            listeners=listeners,
            allocate=allocate,
        )
        self.num_features_, self.checksum_ = graph.num_features, graph.checksum()
        self.structural_ = structural
        return self

    def views(self, graph: Graph, matrix: sp.csr_array | None = None) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the name of every filter and its embedding ``(n, dim)``, one at a time.

        The graph need not be the one that was trained on: new nodes are embedded by the filters of their own graph.
        """
        self._check_fitted()
        if graph.features is None and not self.structural_:
            raise UserError(f"{graph.name} has no features, but the model was trained on {self.num_features_}")
        graph = _with_features(graph)
        if self.structural_ and graph.checksum() != self.checksum_:
            logger.warning(
                "%s has no features of its own: structural features of another graph than the one trained on have "
                "another basis, so these embeddings cannot be compared with those",
                graph.name,
            )
        if graph.num_features != self.num_features_:
            raise UserError(
                f"{graph.name} has {graph.num_features} features, but the model was trained on {self.num_features_}"
            )
        bank = self.filters.build()
        matrix = self._normalised(graph) if matrix is None else matrix
        yield from zip(bank.names, embed(self.model_, graph, matrix, bank), strict=True)

    def transform(self, graph: Graph) -> dict[str, np.ndarray]:
        """The embeddings ``(n, dim)`` of all filters by name."""
        return dict(self.views(graph))

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            raise UserError("this FiGURe is not trained; call fit first, or FiGURe.load")

    def _normalised(self, graph: Graph) -> sp.csr_array:
        return normalised_adjacency(graph.adjacency, self_loops=self.filters.self_loops)

    def save(self, path: str | Path) -> None:
        """Write ``weights.safetensors`` and ``settings.json`` into a folder."""
        weights, description = self.state()
        write_tensors(Path(path) / WEIGHTS, weights, description)
        readable = {name: value for name, value in description.items() if name != "training"}
        write_json(Path(path) / SETTINGS, readable)

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """The weights, and all that :meth:`from_state` needs beside them, as plain values."""
        self._check_fitted()
        description = {
            "filters": self.filters.model_dump(mode="json"),
            "representation": self.settings.model_dump(mode="json"),
            "num_features": self.num_features_,
            "structural_features": self.structural_,
            "graph_checksum": self.checksum_,
            "training": dataclasses.asdict(self.record_),
        }
        return self.model_.state_dict(), description

    @classmethod
    def load(cls, path: str | Path) -> "FiGURe":
        """Read what :meth:`save` wrote; the result embeds graphs and needs no training."""
        file = Path(path) / WEIGHTS
        if not file.exists():
            raise UserError(f"there is no trained model in {path}; fit one first, or run --pipelines=representation")
        return cls.from_state(*read_tensors(file))

    @classmethod
    def from_state(cls, weights: dict[str, torch.Tensor], description: dict[str, Any]) -> "FiGURe":
        """Make a fitted model of what :meth:`state` gave."""
        figure = cls(
            filters=FilterSettings(**description["filters"]),
            settings=RepresentationSettings(**description["representation"]),
        )
        figure.num_features_, figure.checksum_ = description["num_features"], description["graph_checksum"]
        figure.structural_ = description["structural_features"]
        figure.record_ = TrainingRecord(**description["training"])
        figure.model_ = build_model(figure.num_features_, figure.filters.build(), figure.settings)
        figure.model_.load_state_dict(weights)
        return figure


def _with_features(graph: Graph) -> Graph:
    return graph if graph.features is not None else with_structural_features(graph, FeatureSettings(structural="svd"))
