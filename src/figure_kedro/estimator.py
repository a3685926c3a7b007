"""Every method as a plain library: fit a graph, embed it or another, save and load, without Kedro or MLflow."""

import dataclasses
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch

from figure_kedro.datasets.files.tensor_file import read_tensors, write_json, write_tensors
from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.features import structural_features
from figure_kedro.filters import BANKS, BankSettings, Operator
from figure_kedro.graph import Graph
from figure_kedro.graph.digest import digest_arrays
from figure_kedro.methods.method import METHODS, Allocate, Method, MethodSettings
from figure_kedro.migration import MODEL_FORMAT, migrate_model
from figure_kedro.parts import decisive
from figure_kedro.training.device import pick_device
from figure_kedro.training.loop import CheckpointStore, Listener, TrainingObjective, TrainingRecord, train
from figure_kedro.training.progress import ProgressBar
from figure_kedro.training.settings import TrainingSettings
from figure_kedro.training.threads import threads

logger = logging.getLogger(__name__)

WEIGHTS, SETTINGS = "weights.safetensors", "settings.json"

ROUNDING = 1e-5
"""By so much a loss in float32 may be off."""


class Representation:
    """Node embeddings by the method whose settings are given.

    Args:
        dim: Dimension of the embeddings; wins over ``settings.dim``.
        filters: The filter bank.
        settings: Of the method: FiGURe's by default.
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
        filters: BankSettings | None = None,
        settings: MethodSettings | None = None,
        progress: bool = True,
    ) -> None:
        settings = settings or METHODS.parse({})
        if dim is not None and dim < 1:
            raise UserError(f"dim = {dim} is no dimension; choose 1 or more")
        if dim is not None and "dim" not in type(settings).model_fields:
            raise UserError(f"embeddings of {settings.method} are as wide as the features; leave dim out")
        self.settings = settings if dim is None else settings.changed({"dim": dim})
        self.filters = filters or BANKS.parse({})
        self.progress = progress
        self.checksum_: str | None = None
        self.method: Method = METHODS.part(self.settings)(self.settings, BANKS.build(self.filters))

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
        operator: Operator | None = None,
        checkpoints: CheckpointStore | None = None,
        listeners: Iterable[Listener] = (),
        allocate: Allocate | None = None,
    ) -> Self:
        """Train on a graph; a graph without features gets structural ones if the method reads features.

        Args:
            graph: Its labels are not looked at.
            operator: Its normalised adjacency, if that is at hand.
            checkpoints: For instance ``CheckpointFile(path)``: a run that was killed is resumed from there.
            listeners: Told of every epoch.
            allocate: Makes the arrays of the decoupled strategy; in memory by default.
        """
        method, machine = self.method, self.settings.training
        self.structural_ = "features" in method.reads and graph.features is None
        graph = structural_features(graph) if self.structural_ else graph
        operator = operator or Operator.of(graph, self.filters)
        device = pick_device(machine.device, sparse_products=getattr(self.settings, "strategy", "") != "decoupled")
        with threads(machine.threads):
            model = method.build(graph.num_nodes, graph.num_features).to(device)
            objective = method.objective(model, graph, operator, device, allocate)
            self.record_ = TrainingRecord(finished=True)
            if objective is not None and isinstance(machine, TrainingSettings):
                title = f"{self.settings.method} {method.width(graph.num_features)} on {graph.name}"
                bar = [ProgressBar(machine, title)] if self.progress else []
                self.record_ = train(
                    objective,
                    machine,
                    device=device,
                    checkpoints=checkpoints,
                    fingerprint=self._fingerprint(graph, operator, objective),
                    listeners=[*listeners, *bar],
                )
                _warn_of_chance(method, self.record_)
        self.model_ = model.cpu()
        self.num_nodes_, self.num_features_ = graph.num_nodes, graph.num_features
        self.checksum_ = self._checksum(graph)
        return self

    def embed(self, graph: Graph, operator: Operator | None = None) -> Embeddings:
        """The embeddings of every node of a graph, computed when they are asked for.

        The graph need not be the one that was trained on if the method can embed others: new nodes are then embedded
        by the filters of their own graph.

        Args:
            graph: With the features of training.
            operator: Its normalised adjacency, if that is at hand.
        """
        self._check_fitted()
        if not self.method.inductive and not self._is_trained_on(graph):
            raise UserError(
                f"{self.settings.method} knows only the nodes that it was trained on, and {graph.name} is another "
                "graph; fit it on that one, or use a method with an encoder, such as figure"
            )
        given = self._same_features(graph) if "features" in self.method.reads else graph

        def compute() -> Iterator[np.ndarray]:
            views = self.method.embed(self.model_, given, operator or Operator.of(given, self.filters))
            for _ in self.view_names:
                with threads(self.settings.training.threads):  # not while somebody else works with a view
                    view = next(views)
                yield view

        return Embeddings(self.view_names, graph.ids, self.width, compute=compute, graph=lambda: given)

    def transform(self, graph: Graph) -> dict[str, np.ndarray]:
        """The embeddings ``(n, width)`` of all views by name."""
        return dict(self.embed(graph))

    def save(self, path: str | Path) -> None:
        """Write ``weights.safetensors`` and ``settings.json`` into a folder."""
        write_tensors(Path(path) / WEIGHTS, *self.state())
        write_json(Path(path) / SETTINGS, self.description())

    def description(self) -> dict[str, Any]:
        """Everything about the model but its weights and losses, as plain values."""
        self._check_fitted()
        return {
            "format": MODEL_FORMAT,
            "filters": self.filters.model_dump(mode="json"),
            "representation": self.settings.model_dump(mode="json"),
            "num_nodes": self.num_nodes_,
            "num_features": self.num_features_,
            "structural_features": self.structural_,
            "graph_checksum": self.checksum_,
        }

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """The weights, and all that :meth:`from_state` needs beside them, as plain values."""
        description = self.description() | {"training": dataclasses.asdict(self.record_)}
        return self.model_.state_dict(), description

    @classmethod
    def load(cls, path: str | Path) -> Self:
        """Read what :meth:`save` wrote; the result embeds graphs and needs no training."""
        file = Path(path) / WEIGHTS
        if not file.exists():
            raise UserError(f"there is no trained model in {path}; fit one first, or run --pipelines=representation")
        return cls.from_state(*read_tensors(file))

    @classmethod
    def from_state(cls, weights: Mapping[str, torch.Tensor], description: Mapping[str, Any]) -> Self:
        """Make a fitted one of what :meth:`state` gave, also in an older version."""
        weights, description = migrate_model(weights, description)
        fitted = cls(filters=BANKS.parse(description["filters"]), settings=METHODS.parse(description["representation"]))
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

    def _checksum(self, graph: Graph) -> str:
        """Of all that the method looks at."""
        return graph.checksum if "features" in self.method.reads else graph.structure_checksum

    def _is_trained_on(self, graph: Graph) -> bool:
        if self.checksum_ is None:  # of a model that an older version saved
            return graph.num_nodes == self.num_nodes_
        return self._checksum(graph) == self.checksum_

    def _same_features(self, graph: Graph) -> Graph:
        """The graph with features of the same number as in training."""
        if graph.features is None and not self.structural_:
            raise UserError(f"{graph.name} has no features, but the model was trained on {self.num_features_}")
        graph = structural_features(graph) if graph.features is None else graph
        if self.structural_ and not self._is_trained_on(graph):
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

    def _fingerprint(self, graph: Graph, operator: Operator, objective: TrainingObjective) -> str:
        """Of everything that decides the weights.

        The entries of the matrix tell whether it has self-loops; the objective tells which strategy was chosen.
        """
        method = self.method
        bank = decisive(self.filters) if "bank" in method.reads else self.filters.direction
        decided = (bank, type(objective).__name__, method.version, decisive(self.settings))
        entries = [operator.matrix.data] if "operator" in method.reads else []
        return digest_arrays(entries, self._checksum(graph), json.dumps(decided, sort_keys=True))


class FiGURe(Representation):
    """Node embeddings from a bank of graph filters and one shared encoder, learnt without labels.

    Example::

        figure = FiGURe(dim=128).fit(graph)
        views = figure.transform(graph)  # {"I": (n, 128), "A": ..., "A^2": ..., "A^3": ...}
        figure.save("my_model")
    """


def _warn_of_chance(method: Method, record: TrainingRecord) -> None:
    if method.chance_loss is not None and record.best_loss > method.chance_loss - ROUNDING:
        logger.warning(
            "the lowest loss, %.4f at epoch %d, is not below that of guessing, %.4f: training has added little to the "
            "random start; try another representation.training.learning_rate or more epochs",
            record.best_loss,
            record.best_epoch,
            method.chance_loss,
        )
