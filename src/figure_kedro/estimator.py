"""Every method as a plain library: fit a graph, embed it or another, save and load, without Kedro or MLflow."""

import dataclasses
import json
import logging
from collections.abc import Iterable, Iterator, Mapping
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from pydantic import ValidationError
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.exceptions import NotFittedError
from sklearn.utils import Tags

from figure_kedro.datasets.files.tensor_file import read_tensors, write_json, write_tensors
from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.execution import executor
from figure_kedro.features import STRUCTURAL, WHERE_NONE, large_columns, structural_features
from figure_kedro.filters import BANKS, BankSettings, Operator
from figure_kedro.graph import Graph, as_graph
from figure_kedro.graph.digest import digest_arrays
from figure_kedro.memory import check_memory
from figure_kedro.methods.method import METHODS, Allocate, Method, MethodSettings
from figure_kedro.migration import MODEL_FORMAT, migrate_model
from figure_kedro.parts import decisive
from figure_kedro.parts.given import Given, parsed
from figure_kedro.training.device import pick_device
from figure_kedro.training.loop import (
    CheckpointStore,
    Listener,
    TrainingDivergedError,
    TrainingObjective,
    TrainingRecord,
)
from figure_kedro.training.progress import ProgressBar
from figure_kedro.training.settings import TrainingSettings
from figure_kedro.training.threads import threads

logger = logging.getLogger(__name__)

WEIGHTS, SETTINGS = "weights.safetensors", "settings.json"

ROUNDING = 1e-5
"""By so much a loss in float32 may be off."""


class NotTrained(UserError, NotFittedError):
    """What scikit-learn expects of an estimator that was not fitted."""


class Representation(TransformerMixin, BaseEstimator):
    """Node embeddings by the method whose settings are given; an estimator of scikit-learn whose input is a graph.

    Wherever a graph is expected, an object of another library will do, see :func:`~figure_kedro.graph.as_graph`.

    Args:
        dim: Dimension of the embeddings; wins over ``settings.dim``.
        filters: The filter bank: its settings, or a dictionary of them.
        settings: Of the method, in the same way: FiGURe's by default.
        progress: Whether to show how training goes, as a bar on a terminal and now and then a line elsewhere.

    Attributes:
        model_: The trained model.
        record_: Losses and times of training.
        num_nodes_, num_features_: Of the graph that was trained on.
        structural_: The kind of features that were made from its edges, because it had none; else empty.
        checksum_: Of the graph that was trained on.
    """

    def __init__(
        self,
        dim: int | None = None,
        *,
        filters: BankSettings | Mapping[str, Any] | None = None,
        settings: MethodSettings | Mapping[str, Any] | None = None,
        progress: bool = True,
    ) -> None:
        self.dim = dim
        self.filters = filters
        self.settings = settings
        self.progress = progress

    def _filled_settings(self) -> Any:
        dim, settings = vars(self)["dim"], parsed(vars(self)["settings"], METHODS)
        if dim is None:
            return settings
        if isinstance(dim, bool) or not isinstance(dim, int | np.integer) or dim < 1:
            raise UserError(f"dim = {dim} is no dimension; choose 1 or more")
        if "dim" not in type(settings).model_fields:
            raise UserError(f"embeddings of {settings.method} are as wide as the features; leave dim out")
        return settings.changed({"dim": int(dim)})

    dim = Given(lambda self: vars(self)["dim"], "_method")
    filters = Given(lambda self: parsed(vars(self)["filters"], BANKS), "_method")
    settings = Given(_filled_settings, "_method")
    checksum_: str | None = None

    @property
    def method(self) -> Method:
        """The method, built once for these parameters."""
        if "_method" not in vars(self):
            settings = self.settings
            self.__dict__["_method"] = METHODS.part(settings)(settings, BANKS.build(self.filters))
        return vars(self)["_method"]

    def get_params(self, deep: bool = True) -> dict[str, Any]:
        """The parameters as they were given."""
        return {name: vars(self)[name] for name in ("dim", "filters", "progress", "settings")}

    def __sklearn_is_fitted__(self) -> bool:
        return hasattr(self, "model_")

    def __sklearn_tags__(self) -> Tags:
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = False  # a graph is no table
        tags.transformer_tags.preserves_dtype = []
        return tags

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
        graph: Any,
        y: Any = None,
        *,
        operator: Operator | None = None,
        checkpoints: CheckpointStore | None = None,
        listeners: Iterable[Listener] = (),
        allocate: Allocate | None = None,
    ) -> Self:
        """Train on a graph; a graph without features gets structural ones if the method reads features.

        Args:
            graph: Its labels are not looked at.
            y: Not looked at, either.
            operator: Its normalised adjacency, if that is at hand.
            checkpoints: For instance ``CheckpointFile(path)``: a run that was killed is resumed from there.
            listeners: Told of every epoch.
            allocate: Makes the arrays of the decoupled strategy; in memory by default.
        """
        graph = as_graph(graph, targets=False)
        method, machine = self.method, self.settings.training
        self.structural_ = WHERE_NONE if "features" in method.reads and graph.features is None else ""
        graph = self._with_structural_features(graph) if self.structural_ else graph
        operator = operator or Operator.of(graph, self.filters)
        device = pick_device(machine.device, sparse_products=getattr(self.settings, "strategy", "") != "decoupled")
        width, way = method.width(graph.num_features), "take a smaller representation.dim"
        check_memory(4 * width * (graph.num_nodes + graph.num_features), f"{width} dimensions for {graph.name}", way)
        with threads(machine.threads):
            model = method.build(graph.num_nodes, graph.num_features).to(device)
            objective = method.objective(model, graph, operator, device, allocate)
            self.record_ = TrainingRecord(finished=True)
            if objective is not None and isinstance(machine, TrainingSettings):
                bar = [ProgressBar(machine, self.settings.method)] if self.progress else []
                try:
                    self.record_ = executor().train(
                        objective,
                        machine,
                        device=device,
                        checkpoints=checkpoints,
                        fingerprint=self._fingerprint(graph, operator, objective),
                        listeners=[*listeners, *bar],
                    )
                except TrainingDivergedError as error:
                    caution = large_columns(graph.features) if "features" in method.reads else None
                    raise error if caution is None else error.because(caution) from None
                _warn_of_chance(method, self.record_, graph)
        self.model_ = model.cpu()
        self.num_nodes_, self.num_features_ = graph.num_nodes, graph.num_features
        self.checksum_ = self._checksum(graph)
        return self

    def embed(self, graph: Any, operator: Operator | None = None) -> Embeddings:
        """The embeddings of every node of a graph, computed when they are asked for.

        The graph need not be the one that was trained on if the method can embed others: new nodes are then embedded
        by the filters of their own graph.

        Args:
            graph: With the features of training.
            operator: Its normalised adjacency, if that is at hand.
        """
        self._check_fitted()
        graph = as_graph(graph, targets=False)
        if not self.method.inductive and not self._is_trained_on(graph):
            raise UserError(
                f"{self.settings.method} knows only the nodes that it was trained on, and {graph.name} is another "
                "graph; fit it on that one, or use a method with an encoder, such as figure"
            )
        given = self._same_features(graph) if "features" in self.method.reads else graph

        def compute() -> Iterator[np.ndarray]:
            views = self.method.embed(self.model_, given, operator or Operator.of(given, self.filters))
            for name in self.view_names:
                with threads(self.settings.training.threads):  # not while somebody else works with a view
                    view = next(views)
                _check_finite(view, name, graph)
                yield view

        return Embeddings(self.view_names, graph.ids, self.width, compute=compute, graph=lambda: given)

    def transform(self, graph: Any) -> dict[str, np.ndarray]:
        """The embeddings ``(n, width)`` of all views by name."""
        return dict(self.embed(graph))

    def fit_transform(self, graph: Any, y: Any = None, **options: Any) -> dict[str, np.ndarray]:
        """Train on a graph and embed it; options are those of :meth:`fit`."""
        graph = as_graph(graph, targets=False)
        return self.fit(graph, **options).transform(graph)

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
            "structural": self.structural_,
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
        try:
            weights, description = migrate_model(weights, description)
            settings = METHODS.parse(description["representation"])
            fitted = cls(filters=BANKS.parse(description["filters"]), settings=settings)
            fitted.num_nodes_, fitted.num_features_ = description["num_nodes"], description["num_features"]
            fitted.structural_, fitted.checksum_ = description["structural"], description["graph_checksum"]
            fitted.record_ = TrainingRecord(**description["training"])
            fitted.model_ = fitted.method.build(fitted.num_nodes_, fitted.num_features_)
            fitted.model_.load_state_dict(weights)
        except (KeyError, TypeError, AttributeError, RuntimeError, ValidationError) as error:
            raise UserError(
                f"the model's weights do not fit what it says of itself ({_first_line(error)}); delete it, and train "
                "again"
            ) from error
        return fitted

    def _check_fitted(self) -> None:
        if not hasattr(self, "model_"):
            name = type(self).__name__
            raise NotTrained(f"this {name} is not trained; call fit first, or {name}.load")

    def _checksum(self, graph: Graph) -> str:
        """Of all that the method looks at."""
        return graph.checksum if "features" in self.method.reads else graph.structure_checksum

    def _is_trained_on(self, graph: Graph) -> bool:
        if self.checksum_ is None:  # of a model that an older version saved
            return graph.num_nodes == self.num_nodes_
        return self._checksum(graph) == self.checksum_

    def _with_structural_features(self, graph: Graph) -> Graph:
        return structural_features(graph, STRUCTURAL.parse({"structural": self.structural_}))

    def _same_features(self, graph: Graph) -> Graph:
        """The graph with features of the same number as in training."""
        if graph.features is None and not self.structural_:
            raise UserError(f"{graph.name} has no features, but the model was trained on {self.num_features_}")
        graph = self._with_structural_features(graph) if graph.features is None else graph
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

    The graph may be a ``Data`` of PyTorch Geometric, a networkx graph, a scipy matrix, a table of edges, ...
    """


def _first_line(error: Exception) -> str:
    """What is wrong, without the lines that name the classes."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    return lines[1] if isinstance(error, RuntimeError) and len(lines) > 1 else lines[0]


def _check_finite(view: np.ndarray, name: str, graph: Graph) -> None:
    with np.errstate(invalid="ignore"):
        finite = np.isfinite(view.sum(dtype=np.float64))  # one pass and no mask: NaN and infinity survive a sum
    if not finite:
        advice = large_columns(graph.features) or "look for very large features or edge weights"
        raise UserError(f"{graph.name}: the embeddings of {name} exceed what single precision holds; {advice}")


def _warn_of_chance(method: Method, record: TrainingRecord, graph: Graph) -> None:
    if method.chance_loss is not None and record.best_loss > method.chance_loss - ROUNDING:
        caution = large_columns(graph.features) if "features" in method.reads else None
        logger.warning(
            "the lowest loss, %.4f at epoch %d, is not below that of guessing, %.4f: training has added little to the "
            "random start; %s",
            record.best_loss,
            record.best_epoch,
            method.chance_loss,
            caution or "try another representation.training.learning_rate or more epochs",
        )
