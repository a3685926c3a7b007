"""What every method that learns node embeddings can do."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from typing import Annotated, Any, ClassVar, Literal, Self

import numpy as np
import torch
from pydantic import Field, ValidationError, model_validator
from torch import nn

from figure_kedro.errors import UserError
from figure_kedro.filters import FilterBank, Operator
from figure_kedro.graph import Graph
from figure_kedro.parts import Decides, Kind, Part, Settings
from figure_kedro.training.loop import TrainingObjective
from figure_kedro.training.settings import MachineSettings, TrainingSettings
from figure_kedro.tuning.settings import TuningSettings

Allocate = Callable[[str, tuple[int, ...]], np.ndarray]
"""Makes a float32 array of a name and shape, in memory or on disk."""

LEARNING_RATES = (1e-5, 1e-4, 1e-3, 1e-2, 1e-1)
"""The range that the FiGURe paper searches."""


class MethodSettings(Settings):
    """What learns the embeddings: the settings that all methods share.

    Attributes:
        ranges: The values that tuning searches unless ``tuning.space`` names others, by the path of the setting.
    """

    ranges: ClassVar[Mapping[str, tuple[Any, ...]]] = {}

    method: str = Field(description="name of the method")
    embeddings: Annotated[Literal["auto", "always", "never"], Decides.NOTHING] = Field(
        "auto", description="whether embeddings are kept on disk; auto: up to 100 million numbers"
    )
    training: MachineSettings = MachineSettings()

    def at(self, path: str) -> Any:
        """The value at a path such as ``training.learning_rate``."""
        value: Any = self
        for part in path.split("."):
            if part not in getattr(type(value), "model_fields", {}):
                raise ValueError(f"tuning.space: {self.method} has no setting {path!r} to search")
            value = getattr(value, part)
        if isinstance(value, Settings):
            raise ValueError(f"tuning.space: {path} is a group; search one of its settings")
        return value

    def changed(self, values: Mapping[str, Any]) -> Self:
        """The same settings with other values at some paths, checked.

        Raises:
            UserError: For a value out of its range.
        """
        settings = self.model_dump()
        for path, value in values.items():
            *groups, name = path.split(".")
            group = settings
            for part in groups:
                group = group[part]
            group[name] = value
        try:
            return type(self)(**settings)
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            path = ".".join(map(str, first["loc"]))
            raise UserError(f"{path} cannot be {first['input']!r}: {first['msg']}") from None


class TrainedSettings(MethodSettings):
    """What a method has that is trained, and so can be tuned."""

    ranges: ClassVar[Mapping[str, tuple[Any, ...]]] = {"training.learning_rate": LEARNING_RATES}

    dim: int = Field(512, ge=1, description="dimension of the embeddings; the paper uses 512, 128 and 32")
    training: TrainingSettings = TrainingSettings()
    tuning: TuningSettings = TuningSettings()

    def idle(self) -> Collection[str]:
        return () if self.tuning.enabled else {"tuning"}

    @property
    def space(self) -> dict[str, list[Any]]:
        """What tuning searches."""
        return {path: list(values) for path, values in (self.tuning.space or self.ranges).items()}

    @model_validator(mode="after")
    def _space_can_be_searched(self) -> Self:
        for path, values in self.tuning.space.items():
            self.at(path)
            for value in values:
                self.changed({"tuning.space": {}, path: value})
        return self


class Method(Part, ABC):
    """A model, the objective that trains it, and the embeddings that it gives.

    Fitting, saving and restoring are the same for all methods
    (:class:`~figure_kedro.estimator.Representation`), and so are epochs, early stop and checkpoints
    (:func:`~figure_kedro.training.loop.train`). A method only says what differs. A new one is one new file in
    ``figure_kedro/methods/kinds`` with its settings and a class that registers itself.

    Args:
        settings: Of the method.
        bank: The filters; a method that does not read a bank leaves it alone.
    """

    reads: ClassVar[frozenset[str]] = frozenset({"features", "operator"})
    """What it looks at: ``features``, the ``operator``, the ``bank`` of filters. Nothing else can change its result.
    A graph without features gets structural ones if the method reads features."""

    inductive: ClassVar[bool] = True
    """Whether the weights can embed another graph; otherwise only the nodes of the one that was trained on."""

    chance_loss: ClassVar[float | None] = None
    """The loss of a model that has learnt nothing, if that is known."""

    def __init__(self, settings: Any, bank: FilterBank) -> None:
        self.settings, self.bank = settings, bank

    @property
    @abstractmethod
    def views(self) -> tuple[str, ...]:
        """Names of the embeddings that a node gets: one for each filter, or a single one."""

    @abstractmethod
    def build(self, num_nodes: int, num_features: int) -> nn.Module:
        """A model with freshly drawn weights; the same seed gives the same weights."""

    def objective(
        self, model: Any, graph: Graph, operator: Operator, device: torch.device, allocate: Allocate | None
    ) -> TrainingObjective | None:
        """What is minimised to train the model, which is on the device already; ``None`` trains nothing.

        Args:
            model: From :meth:`build`.
            graph: With features if the method reads them.
            operator: Its normalised adjacency and the filters.
            device: Where training runs.
            allocate: Makes arrays that may be too large for memory.
        """
        return None

    @abstractmethod
    def embed(self, model: Any, graph: Graph, operator: Operator) -> Iterator[np.ndarray]:
        """Yield the embedding ``(n, width)``, float32, of every view, one at a time."""

    def hops(self, operator: Operator) -> int | None:
        """How often :meth:`embed` applies the operator one after another: nodes that are farther away do not count.

        ``None`` says that nobody knows; new nodes are then embedded with their whole graph only.
        """
        return None

    def embed_first(self, model: Any, graph: Graph, operator: Operator, levels: Sequence[int]) -> Iterator[np.ndarray]:
        """Yield the embeddings of the first nodes alone; the others are their neighbourhood.

        Args:
            model, graph, operator: As in :meth:`embed`, of the first nodes and their neighbourhood.
            levels: How many nodes are at most 0, 1, 2, ... steps away from the first ones, in this order; rows of the
                operator are there for all but the last.
        """
        for view in self.embed(model, graph, operator):
            yield view[: levels[0]]

    def width(self, num_features: int) -> int:
        """Columns of an embedding."""
        return self.settings.dim

    def generator(self) -> torch.Generator:
        """Draws the initial weights."""
        return torch.Generator().manual_seed(self.settings.training.seed)


METHODS: Kind[Method] = Kind("method", tag="method", package="figure_kedro.methods.kinds", default="figure")
