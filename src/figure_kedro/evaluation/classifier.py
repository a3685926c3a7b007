"""A fitted head with all that it needs to predict: what is kept of an evaluation, without pickle."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import numpy as np
import torch
from pydantic import ValidationError

from figure_kedro.datasets.files.tensor_file import read_tensors, write_json, write_tensors
from figure_kedro.errors import UserError
from figure_kedro.evaluation.head import HEADS, HeadSettings
from figure_kedro.projections import Projection
from figure_kedro.versions import check_format

CLASSIFIER_FORMAT = 1
"""Of the stored classifier."""

WEIGHTS, DESCRIPTION = "classifier.safetensors", "classifier.json"

BLOCK_ROWS = 16_384
"""Nodes that are projected and predicted at a time."""


@dataclass(frozen=True, eq=False)
class Classifier:
    """The last fit of a head: predicts the classes of any node from its embeddings.

    Args:
        settings: Of the head.
        projection: What embeddings go through first, with its fitted scale.
        choice: What was chosen on validation, the arguments of the projection's map among it.
        weights: Of the head, by name.
        classes: The class of each column of the probabilities ``(C,)``.
        views: Names of the embeddings that it reads, in this order.
        metric: What its settings were chosen by.
        split: On which split they were chosen.
        labels: Which labels of that split it was fitted on.
    """

    settings: HeadSettings
    projection: Projection
    choice: dict[str, Any]
    weights: dict[str, torch.Tensor]
    classes: tuple[str, ...]
    views: tuple[str, ...]
    metric: str
    split: int
    labels: str

    @property
    def coefficients(self) -> dict[str, float]:
        """How much each view counts, by its name."""
        return dict(zip(self.views, self.weights["alpha"].tolist(), strict=True))

    def probabilities(self, embeddings: Mapping[str, np.ndarray]) -> np.ndarray:
        """The probability of every class ``(n, C)``, each row summing to 1.

        Args:
            embeddings: ``(n, d)`` of all views by name; others beside them are left aside.
        """
        blocks = list(self.probability_blocks(embeddings))
        return np.concatenate(blocks) if blocks else np.empty((0, len(self.classes)), dtype=np.float32)

    def probability_blocks(self, embeddings: Mapping[str, np.ndarray]) -> Iterator[np.ndarray]:
        """The same, some consecutive rows at a time."""
        for rows in self._in_blocks(embeddings):
            yield torch.softmax(self._logits(rows), dim=1).numpy()

    def combine(self, embeddings: Mapping[str, np.ndarray]) -> np.ndarray:
        r"""The combination that the classifier reads, :math:`Z = \sum_i \alpha_i \phi(E_i)`, ``(n, D)``, float32."""
        alphas = self.weights["alpha"].tolist()
        blocks = [
            torch.stack([a * view for a, view in zip(alphas, rows, strict=True)]).sum(0).numpy()
            for rows in self._in_blocks(embeddings)
        ]
        return np.concatenate(blocks) if blocks else np.empty((0, self.projection.output_dim), dtype=np.float32)

    def _in_blocks(self, embeddings: Mapping[str, np.ndarray]) -> Iterator[list[torch.Tensor]]:
        if missing := [name for name in self.views if name not in embeddings]:
            raise UserError(f"the classifier reads the view {missing[0]!r}, and there are {', '.join(embeddings)}")
        views = [embeddings[name] for name in self.views]
        chosen = {name: value for name, value in self.choice.items() if name in self.projection.choices}
        feature_map = self.projection.feature_map(**chosen)
        for start in range(0, len(views[0]), BLOCK_ROWS):
            rows = (self.projection.scaler.transform(view[start : start + BLOCK_ROWS]) for view in views)
            yield [torch.as_tensor(feature_map.transform(block)) for block in rows]

    def _logits(self, views: list[torch.Tensor]) -> torch.Tensor:
        return HEADS.build(self.settings).logits(self.weights, views)

    def save(self, path: str | Path) -> None:
        """Write ``classifier.safetensors`` and, for people, ``classifier.json`` into a folder."""
        _save(Path(path), *self.state())

    def state(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
        """The weights, and all that :meth:`from_state` needs beside them, as plain values."""
        description = {
            "format": CLASSIFIER_FORMAT,
            "evaluation": self.settings.model_dump(mode="json"),
            "projection": self.projection.description(),
            "choice": self.choice,
            "classes": list(self.classes),
            "views": list(self.views),
            "metric": self.metric,
            "split": self.split,
            "labels": self.labels,
        }
        return self.weights, description

    @classmethod
    def from_state(cls, weights: Mapping[str, torch.Tensor], description: Mapping[str, Any]) -> Self:
        """Make one of what :meth:`state` gave.

        Raises:
            UserError: If the weights are not those of the classes, views and widths that the description names.
        """
        check_format(description.get("format"), CLASSIFIER_FORMAT, "the classifier")
        try:
            found = cls(
                settings=HEADS.parse(description["evaluation"]),
                projection=Projection.from_description(description["projection"]),
                choice=dict(description["choice"]),
                weights=dict(weights),
                classes=tuple(description["classes"]),
                views=tuple(description["views"]),
                metric=description["metric"],
                split=description["split"],
                labels=description["labels"],
            )
            found._check()
        except (KeyError, TypeError, RuntimeError, ValueError, ValidationError) as error:
            raise UserError(
                f"the classifier's weights do not fit what it says of itself ({str(error).splitlines()[0]}); "
                "delete it, and it is made anew"
            ) from error
        return found

    def _check(self) -> None:
        """Predict one row of zeros: what does not fit is found out here, and not in the middle of a table."""
        zeros = torch.zeros(1, self.projection.output_dim)
        found = self._logits([zeros] * len(self.views)).shape
        if found != (1, len(self.classes)):
            raise ValueError(f"it names {len(self.classes)} classes and has weights for {found[1]}")
        if not all(torch.isfinite(value).all() for value in self.weights.values()):
            raise ValueError("a weight is not finite")


@dataclass(frozen=True)
class NoClassifier:
    """In place of a classifier where there is none: says why when it is asked.

    Args:
        reason: One line that says what to do.
    """

    reason: str

    def probabilities(self, embeddings: Mapping[str, np.ndarray]) -> np.ndarray:
        """There are none."""
        raise UserError(self.reason)

    def save(self, path: str | Path) -> None:
        """Write the reason into a folder, in the place of a classifier."""
        _save(Path(path), {}, {"format": CLASSIFIER_FORMAT, "reason": self.reason})


def load_classifier(path: str | Path) -> Classifier | NoClassifier:
    """Read what ``save`` wrote into a folder.

    Raises:
        UserError: If there is nothing, or not a classifier that this program reads.
    """
    file = Path(path) / WEIGHTS
    if not file.exists():
        raise UserError(f"there is no classifier in {path}; run --pipelines=evaluation with the same --params first")
    weights, description = read_tensors(file)
    if "reason" in description:
        check_format(description.get("format"), CLASSIFIER_FORMAT, "the classifier")
        return NoClassifier(description["reason"])
    return Classifier.from_state(weights, description)


def _save(folder: Path, weights: dict[str, torch.Tensor], description: dict[str, Any]) -> None:
    write_tensors(folder / WEIGHTS, weights, description)
    write_json(folder / DESCRIPTION, description)
