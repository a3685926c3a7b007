"""The alpha-combined linear classifier, the paper's."""

import itertools
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field

from figure_kedro.embeddings import Embeddings
from figure_kedro.evaluation.alpha_classifier import AlphaClassifier
from figure_kedro.evaluation.head import HEADS, Examples, Fitted, Head, HeadSettings, Scorer, Watch
from figure_kedro.evaluation.views import Views
from figure_kedro.projections import Projection
from figure_kedro.tuning.study import Space

LEARNING_RATES = [1e-5, 1e-4, 1e-3, 1.5e-3, 1e-2, 1.5e-2, 1e-1, 0.5, 1.0, 2.0]
WEIGHT_DECAYS = [0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.5, 1.0, 3.0]
RELATIVE_DECAYS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0]
"""For ``lbfgs``: weight decay in units of the variance of the combined views, so that their scale does not matter."""
ALPHA_RATIOS = [0.0, 1.0]
"""For ``lbfgs``: whether the coefficients move or stay equal. It stands for the two learning rates."""


class LinearSettings(HeadSettings):
    """The solver of the classifier."""

    head: Literal["linear"] = "linear"
    solver: Literal["lbfgs", "adam"] = Field("lbfgs", description="lbfgs is quick and deterministic; adam the paper's")
    max_epochs: int | None = Field(None, ge=1, description="of a fit; default 200 for lbfgs, 10,000 for adam")
    masks: bool = Field(True, description="whether filters may be left out")


@HEADS.register
class Linear(Head):
    """:class:`~figure_kedro.evaluation.alpha_classifier.AlphaClassifier` on the projected embeddings of all filters."""

    Settings = LinearSettings
    settings: LinearSettings

    def inputs(self, embeddings: Embeddings, projection: Projection, nodes: np.ndarray) -> Views:
        return Views(embeddings.rows(nodes), projection, embeddings.names)

    def space(self, inputs: Views) -> Space:
        """The paper's ranges for ``adam``: learning rates, weight decay, a mask for each filter, activation, gamma.

        ``lbfgs`` has no learning rates, and its weight decay is relative. A single view has no coefficients to choose.
        """
        several = len(inputs) > 1
        if self.settings.solver == "adam":
            space: Space = {"weight_decay": WEIGHT_DECAYS, "learning_rate": LEARNING_RATES}
            space |= {"alpha_learning_rate": LEARNING_RATES} if several else {}
        else:
            space = {"relative_decay": RELATIVE_DECAYS}
            space |= {"alpha_ratio": ALPHA_RATIOS} if several else {}
        if several:
            space["activation"] = ["none", "exp"]
        if self.settings.masks and several:
            space |= {f"mask_{i}": [0, 1] for i in range(len(inputs))}
        return space | inputs.choices

    def first_trials(self, space: Space) -> list[dict[str, Any]]:
        """Where a search begins: all filters, all but the first, and each but the first alone, over the decays.

        The first filter of most banks is the identity; the others have smoother views and often do better without it.
        ``lbfgs`` goes to the minimum, so that the decay alone decides how smooth its classifier is; ``adam``, which
        ends before it, needs two values only. Single filters pay where little decay does.
        """
        middle: dict[str, Any] = {name: values[len(values) // 3] for name, values in space.items()}
        middle |= {"learning_rate": 1e-2, "alpha_learning_rate": 1e-2, "activation": "none", "alpha_ratio": 1.0}
        masks = [name for name in space if name.startswith("mask_")]
        everything = dict.fromkeys(masks, 1)
        but_first = everything | dict.fromkeys(masks[:1], 0)
        alone = [{other: int(other == name) for other in masks} for name in masks[1:]]
        plan: list[tuple[dict[str, int], tuple[float, ...]]]
        if "relative_decay" in space:
            decay, plan = "relative_decay", [(everything, (3e-1, 3e-2, 1e-3, 1e-5)), (but_first, (1e-1, 1e-4, 1e-6))]
            plan += [(filters, (1e-6,)) for filters in alone]
        else:
            decay, plan = "weight_decay", [(filters, (1e-3, 1e-5)) for filters in (everything, but_first, *alone)]
        return [
            {**{name: middle[name] for name in space}, **filters, decay: value}
            for filters, decays in (plan if masks else plan[:1])
            for value in decays
        ]

    def fit(
        self, inputs: Views, choice: dict[str, Any], examples: Examples, score: Scorer, watch: Watch | None = None
    ) -> Fitted:
        if not any(choice.get(f"mask_{i}", 1) for i in range(len(inputs))):
            return _frequencies(inputs, examples)
        projected = inputs.projected(choice)
        classifier = self._classifier(choice, len(inputs))
        train, val = (_rows(projected, rows, classifier.masks) for rows in (examples.train, examples.val))
        if self.settings.solver == "lbfgs":
            classifier.set_params(weight_decay=choice["relative_decay"] * _start_variance(train, classifier))
        steps = itertools.count(1)

        def show(unfinished: AlphaClassifier) -> None:
            if watch is not None:
                watch(next(steps), unfinished.predict_proba(val), unfinished.classes_)

        classifier.fit(
            train,
            examples.labels[examples.train],
            validation=(val, examples.labels[examples.val]),
            score=score,
            watch=None if watch is None else show,
        )
        coefficients = dict(zip(inputs.names, classifier.alpha_.tolist(), strict=True))
        return Fitted(classifier.predict_proba(projected), classifier.classes_, coefficients)

    def _classifier(self, choice: dict[str, Any], count: int) -> AlphaClassifier:
        learning_rate = choice.get("learning_rate", 1e-2)
        return AlphaClassifier(
            masks=[choice.get(f"mask_{i}", 1) for i in range(count)],
            activation=choice.get("activation", "none"),
            weight_decay=choice.get("weight_decay", 0.0),
            solver=self.settings.solver,
            learning_rate=learning_rate,
            alpha_learning_rate=choice.get("alpha_learning_rate", choice.get("alpha_ratio", 1.0) * learning_rate),
            max_epochs=self.settings.max_epochs,
            random_state=self.settings.seed,
        )


def _frequencies(inputs: Views, examples: Examples) -> Fitted:
    """What can be said without any filter: how frequent each class is in training."""
    classes, counts = np.unique(examples.labels[examples.train], return_counts=True)
    probabilities = np.tile(counts / counts.sum(), (len(examples.labels), 1))
    return Fitted(probabilities, classes, dict.fromkeys(inputs.names, 0.0))


def _start_variance(rows: list[torch.Tensor | None], classifier: AlphaClassifier) -> float:
    """Mean variance of a column of the combined views, with the coefficients where they start."""
    first, *others = (view for view in rows if view is not None)
    combined = sum(others, start=first)
    start = np.exp(classifier.alpha_init) if classifier.activation == "exp" else classifier.alpha_init
    return float(combined.var(dim=0).mean()) * start**2


def _rows(views: list[torch.Tensor], rows: np.ndarray, masks: Any) -> list[torch.Tensor | None]:
    index = torch.from_numpy(rows)
    return [view.index_select(0, index) if mask else None for view, mask in zip(views, masks, strict=True)]
