"""What every head can do: it learns to predict from embeddings, or from the graph itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
import torch
from pydantic import AfterValidator, Field

from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import nearest
from figure_kedro.evaluation.metric import METRICS
from figure_kedro.graph.splits import TEST, TRAIN, VAL
from figure_kedro.parts import Decides, Kind, Part, Settings
from figure_kedro.projections import Projection
from figure_kedro.tuning.study import Space


def _known_metric(name: str) -> str:
    if name not in ("auto", *METRICS.names()):
        raise ValueError(f"there is no {name!r}; {nearest(name, ['auto', *METRICS.names()])}")
    return name


class HeadSettings(Settings):
    """How embeddings are judged: the settings that all heads share, so that all are compared with one budget."""

    head: str = Field(description="name of the head")
    metric: Annotated[str, AfterValidator(_known_metric)] = Field(
        "auto", description="what decides on validation and is reported; auto is what the graph says, mostly accuracy"
    )
    trials: int = Field(
        30,
        ge=1,
        description="settings tried on each split, every weight decay counted as one; the paper tries 60",
    )
    splits: int = Field(0, ge=0, description="how many of the splits are evaluated; 0 is all of them")
    seed: int = Field(0, ge=0, description="of the search and of the initial weights")
    threads: Annotated[int, Decides.NOTHING] = Field(
        0, ge=0, le=4096, description="of the CPU; 0: OMP_NUM_THREADS, or as many as the machine has free"
    )


@dataclass(frozen=True)
class Examples:
    """The nodes of one split, as rows of what a head was given, with the labels of the test part hidden.

    Args:
        train, val, test: Rows of each part, ascending.
        labels: Of all rows ``(n,)``, -1 where they are hidden.
    """

    train: np.ndarray
    val: np.ndarray
    test: np.ndarray
    labels: np.ndarray

    @classmethod
    def of(cls, labels: np.ndarray, codes: np.ndarray) -> "Examples":
        """From labels and split codes ``(n,)``."""
        train, val, test = (np.flatnonzero(codes == part) for part in (TRAIN, VAL, TEST))
        return cls(train, val, test, np.where(codes == TEST, -1, labels))


@dataclass(frozen=True)
class Fitted:
    """A head that was trained on one split.

    Args:
        probabilities: Of every row ``(n, C)``.
        classes: The label of each column ``(C,)``.
        coefficients: How much each filter counts, by its name.
        cost: Epochs, and seconds per epoch, of a head that is trained in epochs.
        chosen: Settings that the fit itself chose on validation, see :meth:`Head.settings_per_fit`.
    """

    probabilities: np.ndarray
    classes: np.ndarray
    coefficients: dict[str, float] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)
    chosen: dict[str, Any] = field(default_factory=dict)


@dataclass(frozen=True)
class Final:
    """What is left of a head after its last fit.

    Args:
        classes: The label of each column of its probabilities ``(C,)``.
        rows: Those that were fitted.
        weights: All that :meth:`Head.logits` needs, by name; empty for a head that does not keep them.
        probabilities: Of every row ``(n, C)``, of a head that does not keep its weights.
    """

    classes: np.ndarray
    rows: np.ndarray
    weights: dict[str, torch.Tensor] = field(default_factory=dict)
    probabilities: np.ndarray | None = None


Scorer = Callable[[np.ndarray, np.ndarray], float]
"""Scores probabilities of the validation rows ``(m, C)``, given the label of each column ``(C,)``."""

Watch = Callable[[int, np.ndarray, np.ndarray], None]
"""Sees the same after a number of steps; what it raises ends the fit."""


class Head(Part, ABC):
    """Learns from the labels of training what to predict for every node.

    One loop chooses the settings of every head on validation and reads the test labels once
    (:func:`~figure_kedro.evaluation.selection.evaluate_split`); a head only says what may vary and how it is fitted. A
    new one is one new file in ``figure_kedro/evaluation/heads`` with its settings and a class that registers itself.
    """

    reads: ClassVar[Literal["embeddings", "graph"]] = "embeddings"
    """Whether it learns from embeddings, or from the graph end to end; then nothing is learnt before it."""

    keeps: ClassVar[bool] = False
    """Whether its weights predict from the embeddings of any node, so that they are worth keeping; then it has
    :meth:`logits` and a :meth:`final` that gives weights."""

    chosen: ClassVar[tuple[str, ...]] = ()
    """Names of what a fit chooses on validation by itself, all numbers; see :meth:`settings_per_fit`."""

    def __init__(self, settings: Any) -> None:
        self.settings = settings

    @abstractmethod
    def inputs(self, embeddings: Embeddings, projection: Projection, nodes: np.ndarray) -> Any:
        """What the head reads of these nodes ``(n,)``, prepared once for all splits and trials."""

    @abstractmethod
    def space(self, inputs: Any) -> Space:
        """What may vary; the values of each setting."""

    def first_trials(self, space: Space) -> list[dict[str, Any]]:
        """Where a search begins: the first value of every setting."""
        return [{name: values[0] for name, values in space.items()}]

    def settings_per_fit(self, space: Space) -> int:
        """How many settings one fit tries: more than one if it chooses some of them on validation by itself."""
        return 1

    @abstractmethod
    def fit(
        self, inputs: Any, choice: dict[str, Any], examples: Examples, score: Scorer, watch: Watch | None = None
    ) -> Fitted:
        """Train with one choice of what may vary.

        Args:
            inputs: From :meth:`inputs`.
            choice: One value for each setting of the space.
            examples: Which rows are for training and for validation, and their labels.
            score: Says how good an epoch is, for a head that keeps its best one.
            watch: May be shown how far training has come.
        """

    def final(
        self, inputs: Any, choice: dict[str, Any], examples: Examples, labelled: Examples, score: Scorer
    ) -> Final:
        """Train for the last time, with settings that were chosen before.

        Args:
            inputs: From :meth:`inputs`.
            choice: One value for each setting of the space, and for each of ``chosen``.
            examples: The split on which the settings were chosen: whatever else validation decides, such as the number
                of epochs, is decided here.
            labelled: Its training part are the rows to fit, which may hold those of validation; a head that says no
                more than this one leaves it aside.
            score: As in :meth:`fit`.
        """
        fitted = self.fit(inputs, choice, examples, score)
        return Final(fitted.classes, examples.train, probabilities=fitted.probabilities)

    def logits(self, weights: Mapping[str, torch.Tensor], views: list[torch.Tensor]) -> torch.Tensor:
        """Logits ``(n, C)`` of nodes from their projected embeddings, ``K`` tensors ``(n, D)``, by kept weights."""
        raise NotImplementedError(f"{type(self).__name__} keeps no weights")


class BestEpoch:
    """A scorer that remembers in which epoch the highest score was, the first of equals, counting from 1."""

    def __init__(self, score: Scorer) -> None:
        self._score, self._best, self._calls = score, -np.inf, 0
        self.epoch = 1

    def __call__(self, proba: np.ndarray, classes: np.ndarray) -> float:
        value, self._calls = self._score(proba, classes), self._calls + 1
        if value > self._best:
            self._best, self.epoch = value, self._calls
        return value


HEADS: Kind[Head] = Kind("head", tag="head", package="figure_kedro.evaluation.heads", default="linear")
