"""Networks that are trained on labels in epochs: on embeddings, or on the graph end to end."""

import itertools
import time
from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Annotated, Any, ClassVar

import numpy as np
import torch
import torch.nn.functional as F
from pydantic import Field, ValidationError, model_validator
from torch import nn

from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError, nearest
from figure_kedro.evaluation.graph_inputs import GraphInputs
from figure_kedro.evaluation.head import BestEpoch, Examples, Final, Fitted, Head, HeadSettings, Scorer, Watch
from figure_kedro.parts import LISTED_NUMBERS, Decides, Settings
from figure_kedro.projections import Projection
from figure_kedro.training.device import pick_device
from figure_kedro.tuning.study import Space

Value = int | float

WATCH_EVERY = 50
"""Epochs after which a search is told how a training goes: late enough for a low learning rate to show its worth."""


class Choice(Settings):
    """One choice of what may vary in the training of a network; gives each setting its range."""

    learning_rate: float = Field(0.01, gt=0, description="Adam's")
    weight_decay: float = Field(5e-4, ge=0, description="Adam's, on all weights but coefficients")
    dropout: float = Field(0.5, ge=0, lt=1, description="share of the hidden entries that are dropped")
    hidden: int = Field(64, ge=1, description="width of the hidden layer")


class NetworkSettings(HeadSettings):
    """Training, and the search over its settings.

    Attributes:
        choice: What may vary.
        ranges: The values that are tried unless ``space`` names others: those of the model's paper, thinned out, the
            most sensible first, which makes the first trial.
    """

    choice: ClassVar[type[Choice]] = Choice
    ranges: ClassVar[Mapping[str, tuple[Value, ...]]] = {
        "learning_rate": (0.01, 0.05, 0.002),
        "weight_decay": (5e-4, 0.0, 5e-5, 5e-3),
        "dropout": (0.5, 0.0, 0.7),
        "hidden": (64,),
    }

    device: Annotated[str, Decides.NOTHING] = Field(
        "auto", pattern=r"^(auto|cpu|cuda(:\d{1,4})?)$", description="where the network is trained"
    )
    max_epochs: int = Field(500, ge=1, description="upper limit of epochs of a training")
    patience: int = Field(50, ge=1, description="epochs without a better validation score before a training ends")
    space: dict[str, Annotated[tuple[Value, ...], LISTED_NUMBERS]] = Field(
        {}, description="values to try for each setting, the most sensible first; default: the published ones"
    )

    @model_validator(mode="after")
    def _known_settings_in_their_ranges(self) -> "NetworkSettings":
        for name, values in self.space.items():
            if name not in self.choice.model_fields:
                raise ValueError(f"space: {self.head} has no {name!r}; {nearest(name, self.choice.model_fields)}")
            if not values:
                raise ValueError(f"space: {name} has no value to try; give at least one")
            for value in values:
                try:
                    self.choice(**{name: value})
                except ValidationError as error:
                    raise ValueError(f"space: {name} cannot be {value}: {error.errors()[0]['msg']}") from None
        return self


class Network(nn.Module, ABC):
    """Logits of all rows from whatever a head has as inputs.

    Attributes:
        drops: Whether entries are dropped in training.
        undecayed: Names of parameters that have no weight decay.
    """

    drops: bool = False
    undecayed: ClassVar[tuple[str, ...]] = ()

    @abstractmethod
    def forward(self, inputs: Any, generator: torch.Generator | None = None) -> torch.Tensor:
        """Logits ``(n, C)``; with a generator entries are dropped."""

    def coefficients(self) -> dict[str, float]:
        """How much each filter counts, by its name."""
        return {}


@dataclass(frozen=True)
class Trained:
    """A network with the weights of its best epoch.

    Args:
        network: The network.
        classes: The label of each column of its logits: those seen in training, ascending.
        epochs: That were run.
        seconds: That they took.
    """

    network: Network
    classes: np.ndarray
    epochs: int
    seconds: float


class NetworkHead(Head):
    """A head that trains a :class:`Network`, with a step on all training rows in every epoch."""

    settings: NetworkSettings

    def space(self, inputs: Any) -> Space:
        return {name: list(values) for name, values in {**self.settings.ranges, **self.settings.space}.items()}

    @abstractmethod
    def network(self, inputs: Any, num_classes: int, generator: torch.Generator, choice: dict[str, Any]) -> Network:
        """A network with freshly drawn weights."""

    def fit(
        self, inputs: Any, choice: dict[str, Any], examples: Examples, score: Scorer, watch: Watch | None = None
    ) -> Fitted:
        trained = self.train(inputs, choice, examples, score, watch)
        with torch.no_grad():
            probabilities = torch.softmax(trained.network(inputs), dim=1).cpu().numpy()
        cost = {"epochs": trained.epochs, "epoch_seconds": trained.seconds / trained.epochs}
        return Fitted(probabilities, trained.classes, trained.network.coefficients(), cost)

    def final(
        self, inputs: Any, choice: dict[str, Any], examples: Examples, labelled: Examples, score: Scorer
    ) -> Final:
        """Trained on all rows to fit, for as many epochs as are best on validation with the training part alone."""
        best = BestEpoch(score)
        trained = self.train(inputs, choice, examples, best)
        if not np.array_equal(labelled.train, examples.train):
            rising = itertools.count()  # so that the last epoch is kept
            longer = type(self)(self.settings.model_copy(update={"max_epochs": best.epoch}))
            trained = longer.train(inputs, choice, labelled, lambda proba, classes: next(rising))
        return self._kept(trained, inputs, labelled.train)

    def _kept(self, trained: Trained, inputs: Any, rows: np.ndarray) -> Final:
        with torch.no_grad():
            probabilities = torch.softmax(trained.network(inputs), dim=1).cpu().numpy()
        return Final(trained.classes, rows, probabilities=probabilities)

    def train(
        self, inputs: Any, choice: dict[str, Any], examples: Examples, score: Scorer, watch: Watch | None = None
    ) -> Trained:
        """Train with Adam and keep the best epoch: the one with the highest validation score, the first of equals.

        Training ends after ``patience`` epochs without a better one. The same seed gives the same weights.

        Raises:
            UserError: If the loss is not finite.
        """
        settings, device = self.settings, inputs.device
        classes, codes = np.unique(examples.labels[examples.train], return_inverse=True)
        train, val, targets = (torch.as_tensor(a, device=device) for a in (examples.train, examples.val, codes))
        rest = {name: value for name, value in choice.items() if name not in ("learning_rate", "weight_decay")}
        learning_rate, weight_decay = choice.get("learning_rate", 0.01), choice.get("weight_decay", 0.0)
        network = self.network(inputs, len(classes), torch.Generator().manual_seed(settings.seed), rest).to(device)
        generator = torch.Generator(device).manual_seed(settings.seed)
        optimiser = torch.optim.Adam(_groups(network, weight_decay), lr=learning_rate, fused=True)
        best, best_score, best_epoch, shown = network.state_dict(), -np.inf, 0, np.empty(0)
        started = time.perf_counter()
        for epoch in range(1, settings.max_epochs + 1):
            logits = network(inputs, generator)
            loss = F.cross_entropy(logits.index_select(0, train), targets)
            if not torch.isfinite(loss):
                raise UserError(
                    f"the loss of {settings.head} is not finite in epoch {epoch}; lower the learning rate "
                    f"{learning_rate}"
                )
            with torch.no_grad():
                whole = network(inputs) if network.drops else logits
                probabilities = torch.softmax(whole.index_select(0, val), dim=1).cpu().numpy()
            current = score(probabilities, classes)
            if current > best_score:
                best = {name: weights.detach().clone() for name, weights in network.state_dict().items()}
                best_score, best_epoch, shown = current, epoch, probabilities
            elif epoch - best_epoch >= settings.patience:
                break
            if watch is not None and epoch % WATCH_EVERY == 0:
                watch(epoch, shown, classes)
            optimiser.zero_grad()
            loss.backward()
            optimiser.step()
        seconds = time.perf_counter() - started
        network.load_state_dict(best)
        return Trained(network, classes, epoch, seconds)


class GraphHead(NetworkHead):
    """A network that learns from features and edges end to end; embeddings are compared with it.

    Attributes:
        model: Is built from the numbers of features and classes, a generator, and a choice.
    """

    reads = "graph"
    model: ClassVar[type[Network]]

    def inputs(self, embeddings: Embeddings, projection: Projection, nodes: np.ndarray) -> GraphInputs:
        return GraphInputs(embeddings.graph(), pick_device(self.settings.device), nodes)

    def network(
        self, inputs: GraphInputs, num_classes: int, generator: torch.Generator, choice: dict[str, Any]
    ) -> Network:
        return self.model(inputs.num_features, num_classes, generator, **choice)


def _groups(network: Network, weight_decay: float) -> list[dict[str, Any]]:
    """Parameters with weight decay, and those that a network exempts."""
    decayed = [p for name, p in network.named_parameters() if name not in network.undecayed]
    exempt = [p for name, p in network.named_parameters() if name in network.undecayed]
    groups = [{"params": decayed, "weight_decay": weight_decay}, {"params": exempt, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]
