"""Every method as a plain library: fit a graph, embed it or another, save and load, without Kedro or MLflow."""

import dataclasses
import hashlib
import logging
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any, Self

import numpy as np
import scipy.sparse as sp
import torch

from figure_kedro.datasets.tensor_file import read_tensors, write_json, write_tensors
from figure_kedro.errors import UserError
from figure_kedro.filters import normalised_adjacency
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.filters.structural import FeatureSettings, with_structural_features
from figure_kedro.graph import Graph
from figure_kedro.methods.method import Allocate, Method
from figure_kedro.methods.registry import build_method
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.training.device import pick_device, set_threads
from figure_kedro.training.loop import CheckpointStore, Listener, Objective, TrainingRecord, train
from figure_kedro.training.progress import ProgressBar

logger = logging.getLogger(__name__)

WEIGHTS, SETTINGS = "weights.safetensors", "settings.json"

State = tuple[dict[str, torch.Tensor], dict[str, Any]]
"""Weights by name, and plain values that describe them."""


class Representation:
    """Node embeddings by the method that ``settings.method`` names.

    Args:
        dim: Dimension of the embeddings; wins over ``settings.dim``.
        filters: The filter bank.
        settings: Method, encoder, strategy and training.
        progress: Whether to show a progress bar.

    Attributes:
        model_: The trained model.
        record_: Losses and times of training.
        num_nodes_, num_features_: Of the graph that was trained on.
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
    def method(self) -> Method:
        return build_method(self.settings, self.filters)

    @property
    def view_names(self) -> tuple[str, ...]:
        """Names of the embeddings that every node gets: those of the filters, or a single one."""
        return self.method.views

    @property
    def width(self) -> int:
        """Columns of an embedding."""
        return self.method.width(self.num_features_)

    def fit(
        self,
        graph: Graph,
        *,
        matrix: sp.csr_array | None = None,
        checkpoints: CheckpointStore | None = None,
        listeners: Iterable[Listener] = (),
        allocate: Allocate | None = None,
    ) -> Self:
        """Train on a graph; a graph without features gets structural ones if the method needs any.

        Args:
            graph: Its labels are not looked at.
            matrix: Its normalised adjacency, if that is at hand.
            checkpoints: For instance ``CheckpointFile(path)``: a run that was killed goes on from there.
            listeners: Told of every epoch.
            allocate: Makes the arrays of the decoupled strategy; in memory by default.
        """
        method, training = self.method, self.settings.training
        self.structural_ = method.needs_features and graph.features is None
        graph = _with_features(graph) if self.structural_ else graph
        matrix = self._normalised(graph) if matrix is None else matrix
        device = pick_device(training.device, sparse_products=self.settings.strategy != "decoupled")
        set_threads(training.threads)
        num_features = 0 if graph.features is None else graph.num_features
        model = method.build(graph.num_nodes, num_features).to(device)
        objective = method.objective(model, graph, matrix, device, allocate)
        self.record_ = TrainingRecord(finished=True)
        if objective is not None:
            listeners = [*listeners]
            if self.progress:
                title = f"{self.settings.method} {self.settings.dim} on {graph.name}"
                listeners.append(ProgressBar(training, title))
            self.record_ = train(
                objective,
                training,
                device=device,
                checkpoints=checkpoints,
                fingerprint=self._fingerprint(graph, matrix, objective, device),
                listeners=listeners,
            )
            _warn_of_chance(method, self.record_)
        self.model_ = model.cpu()
        self.num_nodes_, self.num_features_, self.checksum_ = graph.num_nodes, num_features, graph.checksum()
        return self

    def views(self, graph: Graph, matrix: sp.csr_array | None = None) -> Iterator[tuple[str, np.ndarray]]:
        """Yield the name of every view and its embedding ``(n, width)``, one at a time.

        The graph need not be the one that was trained on if the method can embed others: new nodes are then embedded
        by the filters of their own graph.
        """
        self._check_fitted()
        method = self.method
        if not method.inductive and graph.checksum() != self.checksum_:
            raise UserError(
                f"{self.settings.method} knows only the nodes that it was trained on, and {graph.name} is another "
                "graph; fit it on that one, or use a method with an encoder, such as figure"
            )
        if method.needs_features:
            graph = self._same_features(graph)
        matrix = self._normalised(graph) if matrix is None else matrix
        yield from zip(method.views, method.embed(self.model_, graph, matrix), strict=True)

    def transform(self, graph: Graph) -> dict[str, np.ndarray]:
        """The embeddings ``(n, width)`` of all views by name."""
        return dict(self.views(graph))

    def save(self, path: str | Path) -> None:
        """Write ``weights.safetensors`` and ``settings.json`` into a folder."""
        weights, description = self.state()
        write_tensors(Path(path) / WEIGHTS, weights, description)
        readable = {name: value for name, value in description.items() if name != "training"}
        write_json(Path(path) / SETTINGS, readable)

    def state(self) -> State:
        """The weights, and all that :meth:`from_state` needs beside them, as plain values."""
        self._check_fitted()
        description = {
            "filters": self.filters.model_dump(mode="json"),
            "representation": self.settings.model_dump(mode="json"),
            "num_nodes": self.num_nodes_,
            "num_features": self.num_features_,
            "structural_features": self.structural_,
            "graph_checksum": self.checksum_,
            "training": dataclasses.asdict(self.record_),
        }
        return self.model_.state_dict(), description

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; the result embeds graphs and needs no training."""
        file = Path(path) / WEIGHTS
        if not file.exists():
            raise UserError(f"there is no trained model in {path}; fit one first, or run --pipelines=representation")
        return cls.from_state(*read_tensors(file))

    @classmethod
    def from_state(cls, weights: dict[str, torch.Tensor], description: dict[str, Any]) -> Self:
        """Make a fitted one of what :meth:`state` gave."""
        fitted = cls(
            filters=FilterSettings(**description["filters"]),
            settings=RepresentationSettings(**description["representation"]),
        )
        fitted.num_nodes_, fitted.num_features_ = description["num_nodes"], description["num_features"]
        fitted.structural_, fitted.checksum_ = description["structural_features"], description["graph_checksum"]
        fitted.record_ = TrainingRecord(**description["training"])
        fitted.model_ = fitted.method.build(fitted.num_nodes_, fitted.num_features_)
        fitted.model_.load_state_dict(weights)
        return fitted

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            name = type(self).__name__
            raise UserError(f"this {name} is not trained; call fit first, or {name}.load")

    def _normalised(self, graph: Graph) -> sp.csr_array:
        return normalised_adjacency(graph.adjacency, self_loops=self.filters.self_loops)

    def _same_features(self, graph: Graph) -> Graph:
        """The graph with features of the same number as in training."""
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
        return graph

    def _fingerprint(self, graph: Graph, matrix: sp.csr_array, objective: Objective, device: torch.device) -> str:
        """Of everything that the weights depend on, to the last bit.

        The entries of the matrix tell whether it has self-loops; the objective tells which strategy was chosen.
        """
        machine = (type(objective).__name__, str(device), torch.get_num_threads())
        digest = hashlib.sha256(np.ascontiguousarray(matrix.data).view(np.uint8))
        names = self.filters.build().names
        digest.update(repr((graph.checksum(), names, self.settings.model_dump_json(), machine)).encode())
        return digest.hexdigest()


class FiGURe(Representation):
    """Node embeddings from a bank of graph filters and one shared encoder, learnt without labels.

    Example::

        figure = FiGURe(dim=128).fit(graph)
        views = figure.transform(graph)  # {"I": (n, 128), "A": ..., "A^2": ..., "A^3": ...}
        figure.save("my_model")
    """


def _warn_of_chance(method: Method, record: TrainingRecord) -> None:
    if method.chance_loss is not None and record.best_loss > 0.99 * method.chance_loss:
        logger.warning(
            "the loss never fell below %.4f, its value by chance (lowest %.4f at epoch %d): these embeddings are "
            "hardly better than untrained ones; try another representation.training.learning_rate",
            method.chance_loss,
            record.best_loss,
            record.best_epoch,
        )


def _with_features(graph: Graph) -> Graph:
    return graph if graph.features is not None else with_structural_features(graph, FeatureSettings(structural="svd"))
