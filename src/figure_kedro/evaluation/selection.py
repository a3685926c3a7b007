"""Settings chosen on validation, and the test labels read once after that."""

import itertools
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import torch
from optuna.storages import BaseStorage

from figure_kedro.evaluation.alpha_classifier import AlphaClassifier
from figure_kedro.evaluation.metrics import score
from figure_kedro.evaluation.settings import EvaluationSettings
from figure_kedro.evaluation.views import Views
from figure_kedro.graph.splits import TEST, TRAIN, VAL
from figure_kedro.tuning.study import Report, Space, run_study

LEARNING_RATES = [1e-5, 1e-4, 1e-3, 1.5e-3, 1e-2, 1.5e-2, 1e-1, 0.5, 1.0, 2.0]
WEIGHT_DECAYS = [0.0, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1, 0.5, 1.0, 3.0]
RELATIVE_DECAYS = [1e-8, 1e-7, 1e-6, 1e-5, 1e-4, 1e-3, 3e-3, 1e-2, 3e-2, 1e-1, 3e-1, 1.0]
"""For ``lbfgs``: weight decay in units of the variance of the combined views, so that their scale does not matter."""
ALPHA_RATIOS = [0.0, 1.0]
"""For ``lbfgs``: whether the coefficients move or stay equal. It stands for the two learning rates."""

TIE_BREAK = 1e-5
"""Weight of the mean log loss on validation: too little to outweigh a node, enough to choose between equals."""


@dataclass(frozen=True)
class SplitResult:
    """What came out of one split."""

    settings: dict[str, Any]
    alpha: np.ndarray
    alpha_names: tuple[str, ...]
    predictions: np.ndarray
    scores: dict[str, float]
    cost: dict[str, float] = field(default_factory=dict)
    """Epochs and seconds an epoch of a network that was trained on this split."""


def search_space(views: Views, settings: EvaluationSettings) -> Space:
    """The paper's ranges for ``adam``: learning rates, weight decay, a mask for each filter, activation, gamma.

    ``lbfgs`` has no learning rates, and its weight decay is relative. A single view has no coefficients to choose.
    """
    several = len(views) > 1
    if settings.solver == "adam":
        space: Space = {"weight_decay": WEIGHT_DECAYS, "learning_rate": LEARNING_RATES}
        space |= {"alpha_learning_rate": LEARNING_RATES} if several else {}
    else:
        space = {"relative_decay": RELATIVE_DECAYS}
        space |= {"alpha_ratio": ALPHA_RATIOS} if several else {}
    if several:
        space["activation"] = ["none", "exp"]
    if settings.masks and several:
        space |= {f"mask_{i}": [0, 1] for i in range(len(views))}
    if views.has_gamma:
        space["gamma"] = list(settings.gammas)
    return space


def first_trials(space: Space) -> list[dict[str, Any]]:
    """Where a search begins: all filters, all but the first, and each but the first alone, over the range of decays.

    The first filter of most banks is the identity; the others have smoother views and often do better without it.
    ``lbfgs`` goes to the minimum, so that the decay alone decides how smooth its classifier is; ``adam``, which ends
    before it, needs two values only. Single filters pay where little decay does.
    """
    gammas = space.get("gamma", [None])
    middle = {"learning_rate": 1e-2, "alpha_learning_rate": 1e-2, "activation": "none", "alpha_ratio": 1.0}
    middle |= {"gamma": gammas[len(gammas) // 3]}
    masks = [name for name in space if name.startswith("mask_")]
    everything = dict.fromkeys(masks, 1)
    but_first = everything | dict.fromkeys(masks[:1], 0)
    alone = [{other: int(other == name) for other in masks} for name in masks[1:]]
    if "relative_decay" in space:
        decay, plan = "relative_decay", [(everything, (3e-1, 3e-2, 1e-3, 1e-5)), (but_first, (1e-1, 1e-4, 1e-6))]
        plan += [(filters, (1e-6,)) for filters in alone]
    else:
        decay, plan = "weight_decay", [(filters, (1e-3, 1e-5)) for filters in (everything, but_first, *alone)]
    if not masks:
        plan = plan[:1]
    return [
        {**{key: middle.get(key) for key in space}, **filters, decay: value}
        for filters, decays in plan
        for value in decays
    ]


def evaluate_split(
    views: Views,
    labels: np.ndarray,
    codes: np.ndarray,
    metrics: tuple[str, ...],
    settings: EvaluationSettings,
    *,
    name: str = "split",
    storage: BaseStorage | None = None,
) -> SplitResult:
    """Choose settings by validation accuracy, fit once more with the best, and score the test part.

    Among settings with equally many right answers on validation, the one with the lower log loss there is chosen.

    Args:
        views: Of all nodes.
        labels: Of all nodes ``(n,)``. Those of the test part are hidden from the search and read once at the end.
        codes: Which part each node belongs to ``(n,)``.
        metrics: The first one is the one that decides.
        settings: Solver and budget.
        name: Of the study.
        storage: Where trials are kept, for a search that is taken up again.

    Returns:
        The chosen settings, coefficients ``(K,)``, predicted class of every node ``(n,)``, and scores of validation
        and test.
    """
    visible = np.where(codes == TEST, -1, labels)
    train, val = (np.flatnonzero(codes == part) for part in (TRAIN, VAL))

    def fit(trial: dict[str, Any], report: Report | None = None) -> tuple[AlphaClassifier, list[torch.Tensor]]:
        projected = views.projected(trial.get("gamma"))
        classifier = _classifier(trial, len(views), settings)
        rows = _rows(projected, train, classifier.masks)
        held_out = _rows(projected, val, classifier.masks)
        if settings.solver == "lbfgs":
            classifier.set_params(weight_decay=trial["relative_decay"] * _start_variance(rows, classifier))
        steps = itertools.count(1)

        def watch(unfinished: AlphaClassifier) -> None:
            report(next(steps), on_validation(unfinished, held_out))

        classifier.fit(
            rows, visible[train], validation=(held_out, visible[val]), watch=None if report is None else watch
        )
        return classifier, projected

    def on_validation(classifier: AlphaClassifier, rows: list[torch.Tensor | None]) -> float:
        probabilities = classifier.predict_proba(rows)
        reached = score(metrics[0], visible[val], probabilities, classifier.classes_)
        return reached - TIE_BREAK * _surprise(visible[val], probabilities, classifier.classes_)

    def validation_score(number: int, trial: dict[str, Any], report: Report) -> float:
        if not any(trial.get(f"mask_{i}", 1) for i in range(len(views))):
            return 0.0  # no filter, nothing to learn from
        classifier, projected = fit(trial, report)
        return on_validation(classifier, _rows(projected, val, classifier.masks))

    space = search_space(views, settings)
    study = run_study(
        validation_score,
        space,
        trials=settings.trials,
        name=name,
        first=first_trials(space),
        direction="maximize",
        seed=settings.seed,
        storage=storage,
    )
    classifier, projected = fit(study.best_params)
    probabilities = classifier.predict_proba(projected)
    test = np.flatnonzero(codes == TEST)
    scores = {
        f"{part}_{metric}": score(metric, labels[rows], probabilities[rows], classifier.classes_)
        for part, rows in (("val", val), ("test", test))
        for metric in metrics
    }
    predictions = classifier.classes_[probabilities.argmax(axis=1)]
    return SplitResult(study.best_params, classifier.alpha_, views.names, predictions, scores)


def _classifier(trial: dict[str, Any], count: int, settings: EvaluationSettings) -> AlphaClassifier:
    learning_rate = trial.get("learning_rate", 1e-2)
    return AlphaClassifier(
        masks=[trial.get(f"mask_{i}", 1) for i in range(count)],
        activation=trial.get("activation", "none"),
        weight_decay=trial.get("weight_decay", 0.0),
        solver=settings.solver,
        learning_rate=learning_rate,
        alpha_learning_rate=trial.get("alpha_learning_rate", trial.get("alpha_ratio", 1.0) * learning_rate),
        max_epochs=settings.max_epochs,
        random_state=settings.seed,
    )


def _surprise(y: np.ndarray, probabilities: np.ndarray, classes: np.ndarray) -> float:
    """Mean log loss of nodes whose class the classifier knows, at most 16 a node."""
    column = np.searchsorted(classes, y).clip(max=len(classes) - 1)
    known = classes[column] == y
    given = probabilities[np.arange(len(y)), column][known]
    return float(-np.log(given.clip(min=1e-7)).mean()) if known.any() else 0.0


def _start_variance(rows: list[torch.Tensor | None], classifier: AlphaClassifier) -> float:
    """Mean variance of a column of the combined views, with the coefficients where they start."""
    combined = sum(view for view in rows if view is not None)
    start = np.exp(classifier.alpha_init) if classifier.activation == "exp" else classifier.alpha_init
    return float(combined.var(dim=0).mean()) * start**2


def _rows(views: list[torch.Tensor], rows: np.ndarray, masks: list[int]) -> list[torch.Tensor | None]:
    index = torch.from_numpy(rows)
    return [view.index_select(0, index) if mask else None for view, mask in zip(views, masks, strict=True)]
