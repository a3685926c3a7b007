"""What every head can do: it learns to predict from embeddings, or from the graph itself."""

from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Annotated, Any, ClassVar, Literal

import numpy as np
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
    trials: int = Field(30, ge=1, description="settings tried on each split; the paper tries 60")
    splits: int = Field(0, ge=0, description="how many of the splits are evaluated; 0 is all of them")
    seed: int = Field(0, ge=0, le=2**32 - 1, description="of the search and of the initial weights")
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
    """

    probabilities: np.ndarray
    classes: np.ndarray
    coefficients: dict[str, float] = field(default_factory=dict)
    cost: dict[str, float] = field(default_factory=dict)


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


HEADS: Kind[Head] = Kind("head", tag="head", package="figure_kedro.evaluation.heads", default="linear")
