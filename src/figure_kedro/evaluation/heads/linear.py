"""The alpha-combined linear classifier, the paper's."""

import itertools
from collections.abc import Mapping
from typing import Any, Literal

import numpy as np
import torch
from pydantic import Field

from figure_kedro.embeddings import Embeddings
from figure_kedro.evaluation.alpha_classifier import AlphaClassifier
from figure_kedro.evaluation.head import (
    HEADS,
    BestEpoch,
    Examples,
    Final,
    Fitted,
    Head,
    HeadSettings,
    Scorer,
    Watch,
)
from figure_kedro.evaluation.metric import mean_log_loss
from figure_kedro.evaluation.solvers import combined_logits
from figure_kedro.evaluation.views import Views
from figure_kedro.graph.row_blocks import fitting_blocks
from figure_kedro.projections import Projection
from figure_kedro.tuning.study import Space

LEARNING_RATES = [1e-5, 1e-4, 1e-3, 1.5e-3, 1e-2, 1.5e-2, 1e-1, 0.5, 1.0, 2.0]
WEIGHT_DECAYS = [0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.5, 1.0, 3.0]
RELATIVE_DECAYS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0]
"""For ``lbfgs``: weight decay in units of the variance of the combined views, so that their scale does not matter."""
FEW_DECAYS = [3e-1, 1e-4, 3e-2, 1e-6, 1e-1, 1e-5]
"""Those that are tried where there is more to choose than the decay; the first ones where fewer may be tried.

Chosen among a dozen lists by validation scores of the first two or three splits of cora, chameleon and
minesweeper_generated, so scores on the validation parts of these splits are not independent of the list.
"""
MAPPED_DECAYS = [1e-2, 1e-6, 1e-4]
"""The same beside several widths of a map, each of which needs fits of its own."""
ALPHA_RATIOS = [0.0, 1.0]
"""For ``lbfgs``: whether the coefficients move or stay equal. It stands for the two learning rates."""


class LinearSettings(HeadSettings):
    """The solver of the classifier."""

    head: Literal["linear"] = "linear"
    solver: Literal["lbfgs", "adam", "paper"] = Field(
        "lbfgs",
        description="lbfgs is quick and deterministic; adam has the paper's ranges and stops early; paper is adam to "
        "the letter: no early stop, Glorot's start, a bias that decays",
    )
    max_epochs: int | None = Field(None, ge=1, description="of a fit; default 200 for lbfgs, 10,000 for the others")
    masks: bool = Field(True, description="whether filters may be left out")


@HEADS.register
class Linear(Head):
    """:class:`~figure_kedro.evaluation.alpha_classifier.AlphaClassifier` on the projected embeddings of all filters."""

    version = 3
    Settings = LinearSettings
    settings: LinearSettings
    keeps = True
    chosen = ("relative_decay",)

    def inputs(self, embeddings: Embeddings, projection: Projection, nodes: np.ndarray) -> Views:
        return Views(embeddings.rows(nodes), projection, embeddings.names)

    def space(self, inputs: Views) -> Space:
        """The paper's ranges for ``adam`` and ``paper``: learning rates, decay, masks of filters, activation, gamma.

        ``lbfgs`` has no learning rates, and each of its fits tries several weight decays, so that they are not in the
        space. A single view has no coefficients to choose.
        """
        several = len(inputs) > 1
        if self.settings.solver != "lbfgs":
            space: Space = {"weight_decay": WEIGHT_DECAYS, "learning_rate": LEARNING_RATES}
            space |= {"alpha_learning_rate": LEARNING_RATES} if several else {}
        else:
            space = {"alpha_ratio": ALPHA_RATIOS} if several else {}
        if several:
            space["activation"] = ["none", "exp"]
        if self.settings.masks and several:
            space |= {f"mask_{i}": [0, 1] for i in range(len(inputs))}
        return space | inputs.choices

    def settings_per_fit(self, space: Space) -> int:
        """The weight decays that ``lbfgs`` tries in one fit, for which they are solved together."""
        return len(self._relative_decays(space)) if self.settings.solver == "lbfgs" else 1

    def _relative_decays(self, space: Space) -> list[float]:
        """All where nothing else is to be chosen, else a few, fewer still beside the widths of a map.

        Of a small budget every set of filters that a search begins with gets its share, of two decays at least: which
        filters are used matters more than how smooth the classifier is. Never more than trials.
        """
        trials = self.settings.trials
        if not space:
            return (FEW_DECAYS + sorted({*RELATIVE_DECAYS} - {*FEW_DECAYS}))[:trials]
        decays = MAPPED_DECAYS if _widths(space) else FEW_DECAYS
        share = max(2, trials // len(self.first_trials(space)))
        return decays[: min(share, trials)]

    def first_trials(self, space: Space) -> list[dict[str, Any]]:
        """Where a search begins: all filters, all but the first, and each but the first alone.

        With ``lbfgs``, 30 trials are five fits of six decays, and ten trials five fits of two. For four filters without
        a map these are all that is tried: the activation stays at its first value unless there are more trials.

        The first filter of most banks is the identity; the others have smoother views and often do better without it.
        ``adam``, which ends before its minimum, tries two decays of each. Where a map has widths to choose, ``lbfgs``
        begins with two of them.
        """
        middle: dict[str, Any] = {name: values[len(values) // 3] for name, values in space.items()}
        middle |= {"learning_rate": 1e-2, "alpha_learning_rate": 1e-2, "activation": "none", "alpha_ratio": 1.0}
        masks = [name for name in space if name.startswith("mask_")]
        everything = dict.fromkeys(masks, 1)
        but_first = everything | dict.fromkeys(masks[:1], 0)
        alone = [{other: int(other == name) for other in masks} for name in masks[1:]]
        plan: list[dict[str, Any]] = [everything, but_first, *alone] if masks else [everything]
        if "weight_decay" in space:
            plan = [{**filters, "weight_decay": value} for filters in plan for value in (1e-3, 1e-5)]
        elif widths := _widths(space):
            pair = middle["gamma"], widths[-2]  # in turn, so that a small budget sees both
            plan = [{**plan[i], "gamma": pair[(i + turn) % 2]} for turn in (0, 1) for i in range(len(plan))]
        return [{**{name: middle[name] for name in space}, **begun} for begun in plan]

    def fit(
        self, inputs: Views, choice: dict[str, Any], examples: Examples, score: Scorer, watch: Watch | None = None
    ) -> Fitted:
        masks = [choice.get(f"mask_{i}", 1) for i in range(len(inputs))]
        if not any(masks):
            return _frequencies(inputs, examples)
        projected = inputs.projected(choice)
        classifier = self._classifier(choice, masks)
        train, val = (
            [view if mask else None for view, mask in zip(rows, masks, strict=True)]
            for rows in inputs.rows(choice, examples.train, examples.val)
        )
        if self.settings.solver == "lbfgs":
            decays = self._relative_decays(self.space(inputs))
            classifier, decay = _best_decay(classifier, decays, train, val, examples, score, watch)
            chosen = {"relative_decay": decay}
        else:
            chosen, steps = {}, itertools.count(1)

            def show(unfinished: AlphaClassifier) -> None:
                if watch is not None:
                    watch(next(steps), unfinished.predict_proba(val), unfinished.classes_)

            validation = val, examples.labels[examples.val]
            seen = None if watch is None else show
            classifier.fit(train, examples.labels[examples.train], validation, score, seen)
        coefficients = dict(zip(inputs.names, classifier.alpha_.tolist(), strict=True))
        return Fitted(classifier.predict_proba(projected), classifier.classes_, coefficients, chosen=chosen)

    def final(
        self, inputs: Views, choice: dict[str, Any], examples: Examples, labelled: Examples, score: Scorer
    ) -> Final:
        """Fitted on all rows to fit: ``lbfgs`` to the minimum, the others for as many epochs as are best on validation
        with the training part alone."""
        masks = [choice.get(f"mask_{i}", 1) for i in range(len(inputs))]
        if not any(masks):
            return _final_frequencies(inputs, choice, labelled)
        projected, classifier = inputs.projected(choice), self._classifier(choice, masks)

        def taken(rows: np.ndarray) -> list[torch.Tensor | None]:
            return [view[torch.from_numpy(rows)] if mask else None for view, mask in zip(projected, masks, strict=True)]

        everyone, truth = taken(labelled.train), labelled.labels[labelled.train]
        if self.settings.solver == "lbfgs":
            classifier.weight_decay = choice["relative_decay"] * _start_variance(everyone, classifier)
            classifier.fit(everyone, truth)
        else:
            best, validation = BestEpoch(score), (taken(examples.val), examples.labels[examples.val])
            classifier.fit(taken(examples.train), examples.labels[examples.train], validation, best)
            if not np.array_equal(labelled.train, examples.train):
                classifier.set_params(max_epochs=best.epoch).fit(everyone, truth)
        fitted = {"alpha": classifier.alpha_, "weights": classifier.coef_, "bias": classifier.intercept_}
        weights = {name: torch.as_tensor(value).float() for name, value in fitted.items()}
        return Final(classifier.classes_, labelled.train, weights)

    def logits(self, weights: Mapping[str, torch.Tensor], views: list[torch.Tensor]) -> torch.Tensor:
        return combined_logits(views, *(weights[name] for name in ("alpha", "weights", "bias")))

    def _classifier(self, choice: dict[str, Any], masks: list[int]) -> AlphaClassifier:
        learning_rate = choice.get("learning_rate", 1e-2)
        return AlphaClassifier(
            masks=masks,
            activation=choice.get("activation", "none"),
            weight_decay=choice.get("weight_decay", 0.0),
            solver=self.settings.solver,
            learning_rate=learning_rate,
            alpha_learning_rate=choice.get("alpha_learning_rate", choice.get("alpha_ratio", 1.0) * learning_rate),
            max_epochs=self.settings.max_epochs,
            random_state=self.settings.seed,
        )


def _widths(space: Space) -> list[Any]:
    """The widths of the map's kernel, if there are several to choose from."""
    widths = space.get("gamma", [])
    return widths if len(widths) > 1 else []


def _frequencies(inputs: Views, examples: Examples) -> Fitted:
    """What can be said without any filter: how frequent each class is in training."""
    classes, shares = _shares(examples)
    return Fitted(np.tile(shares, (len(examples.labels), 1)), classes, dict.fromkeys(inputs.names, 0.0))


def _shares(examples: Examples) -> tuple[np.ndarray, np.ndarray]:
    """The classes of the training part, and how large a part of it each is."""
    classes, counts = np.unique(examples.labels[examples.train], return_counts=True)
    return classes, counts / counts.sum()


def _final_frequencies(inputs: Views, choice: dict[str, Any], labelled: Examples) -> Final:
    """The same as weights: a bias and nothing else."""
    classes, shares = _shares(labelled)
    weights = torch.zeros(len(classes), inputs.projected(choice)[0].shape[1])
    bias = torch.from_numpy(np.log(shares)).float()
    return Final(classes, labelled.train, {"alpha": torch.zeros(len(inputs)), "weights": weights, "bias": bias})


def _best_decay(
    classifier: AlphaClassifier,
    decays: list[float],
    train: list[torch.Tensor | None],
    val: list[torch.Tensor | None],
    examples: Examples,
    score: Scorer,
    watch: Watch | None,
) -> tuple[AlphaClassifier, float]:
    """The classifier with the relative decay that is best on validation, and this decay.

    All are solved together. Whenever the solver shows how far it has come, the worse half is given up. Of equal scores
    the lower log loss is the better one.
    """
    alive, steps = list(range(len(decays))), itertools.count(1)

    def ranked(members: list[AlphaClassifier]) -> tuple[list[int], np.ndarray]:
        """Those alive, the best one first, and its probabilities."""
        proba = {i: members[i].predict_proba(val) for i in alive}
        truth, classes = examples.labels[examples.val], members[0].classes_
        quality = {i: (score(seen, classes), -mean_log_loss(truth, seen, classes)) for i, seen in proba.items()}
        order = sorted(alive, key=lambda i: quality[i], reverse=True)
        return order, proba[order[0]]

    def look(members: list[AlphaClassifier]) -> list[bool]:
        nonlocal alive
        alive, proba = ranked(members)
        alive = alive[: (len(alive) + 1) // 2]
        if watch is not None:
            watch(next(steps), proba, members[0].classes_)
        return [i in alive for i in range(len(members))]

    variance = _start_variance(train, classifier)
    members = classifier.fit_decays([d * variance for d in decays], train, examples.labels[examples.train], look)
    best = ranked(members)[0][0]
    return members[best], decays[best]


def _start_variance(rows: list[torch.Tensor | None], classifier: AlphaClassifier) -> float:
    """Mean variance of a column of the combined views, with the coefficients where they start."""
    views = [view for view in rows if view is not None]
    start = np.exp(classifier.alpha_init) if classifier.activation == "exp" else classifier.alpha_init
    blocks = fitting_blocks(*views[0].shape)
    if len(blocks) == 1:
        first, *others = views
        variance = sum(others, start=first).var(dim=0)
    else:
        mean, total = torch.stack([view.mean(dim=0) for view in views]).sum(dim=0), torch.zeros(views[0].shape[1])
        for part in blocks:
            total += (torch.stack([view[part] for view in views]).sum(dim=0) - mean).square().sum(dim=0)
        variance = total / (len(views[0]) - 1)
    return float(variance.mean()) * start**2
