"""Settings chosen on validation, and the test labels read once after that: the one loop for all heads."""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from optuna.storages import BaseStorage

from figure_kedro.errors import UserError
from figure_kedro.evaluation.head import Examples, Fitted, Head
from figure_kedro.evaluation.metric import mean_log_loss, score
from figure_kedro.graph.twins import has_training_twin
from figure_kedro.tuning.study import Report, independent_draws, run_study

TIE_BREAK = 1e-5
"""Weight of the mean log loss on validation: too little to outweigh a right answer, enough to choose between equals."""


@dataclass(frozen=True)
class SplitResult:
    """What came out of one split.

    Args:
        settings: The chosen ones.
        coefficients: How much each filter counts, by its name.
        predictions: Predicted class of every row ``(n,)``.
        scores: ``val_<metric>`` and ``test_<metric>`` of every metric.
        cost: Epochs, and seconds per epoch, of a head that is trained in epochs.
        twins: How many test rows have a twin in training (``test_twins``), and the score of the others
            (``twin_free_test``).
    """

    settings: dict[str, Any]
    coefficients: dict[str, float]
    predictions: np.ndarray
    scores: dict[str, float]
    cost: dict[str, float] = field(default_factory=dict)
    twins: dict[str, float] = field(default_factory=dict)


@dataclass(frozen=True)
class Tried:
    """A fit of a search, with what it told on its way.

    Args:
        fitted: What came out.
        told: Steps, and the value on validation after each.
    """

    fitted: Fitted
    told: tuple[tuple[int, float], ...] = ()


def evaluate_split(
    head: Head,
    inputs: Any,
    labels: np.ndarray,
    codes: np.ndarray,
    metrics: tuple[str, ...],
    *,
    name: str = "split",
    storage: BaseStorage | None = None,
    twins: np.ndarray | None = None,
    on_trial: Callable[[int], None] = lambda ended: None,
    tried: Callable[[dict[str, Any]], Tried | None] = lambda choice: None,
) -> SplitResult:
    """Choose settings by the score on validation and score the test part with the best.

    Among settings with equal scores on validation, the one with the lower log loss there is chosen.

    Args:
        head: What learns.
        inputs: Its inputs, ``n`` rows.
        labels: Of all rows ``(n,)``. Those of the test part are hidden from the search and read once at the end.
        codes: Which part each row belongs to ``(n,)``.
        metrics: The first one is the one that decides.
        name: Of the study.
        storage: Where trials are kept, for a search that is resumed.
        twins: Groups of rows that cannot be told apart ``(n,)``, see :mod:`figure_kedro.graph.twins`.
        on_trial: Told how many of :func:`fits_of` have ended, at first and after every one.
        tried: Gives what :func:`try_settings` has found for some settings, which are not fitted again then.
    """
    examples, judge = _judged(labels, codes, metrics[0])
    best: tuple[float, dict[str, Any], Fitted] | None = None  # so that what was found needs no second fit

    def validation_score(number: int, choice: dict[str, Any], report: Report) -> float:
        nonlocal best
        if (before := tried(choice)) is not None:
            for step in before.told:
                report(*step)
            fitted = before.fitted
        else:
            fitted = _fit(head, inputs, choice, examples, judge, report)
        value = judge.value(fitted.probabilities[examples.val], fitted.classes)
        if best is None or value > best[0]:
            best = value, choice, fitted
        return value

    space = head.space(inputs)
    study = run_study(
        validation_score,
        space,
        trials=fits_of(head, inputs),
        name=name,
        first=head.first_trials(space),
        direction="maximize",
        seed=head.settings.seed,
        storage=storage,
        metric=f"val_{metrics[0]}",
        on_trial=on_trial,
    )
    if best is None or best[1] != study.best_params:  # it was found before a crash
        before = tried(study.best_params)
        fitted = before.fitted if before else head.fit(inputs, study.best_params, examples, judge.score)
    else:
        fitted = best[2]
    return SplitResult(
        settings=study.best_params | fitted.chosen,
        coefficients=fitted.coefficients,
        predictions=fitted.classes[fitted.probabilities.argmax(axis=1)],
        scores=_scores(fitted, labels, examples, metrics),
        cost=fitted.cost,
        twins={} if twins is None else _twin_scores(fitted, labels, examples, metrics[0], twins, codes),
    )


def try_settings(
    head: Head, inputs: Any, choice: dict[str, Any], labels: np.ndarray, codes: np.ndarray, metric: str
) -> Tried:
    """Fit a head with some settings, to its end, for an :func:`evaluate_split` that takes place somewhere else."""
    examples, judge = _judged(labels, codes, metric)
    told: list[tuple[int, float]] = []
    fitted = _fit(head, inputs, choice, examples, judge, lambda step, value: told.append((step, value)))
    return Tried(fitted, tuple(told))


def first_settings(head: Head, inputs: Any) -> list[dict[str, Any]]:
    """The settings that a search begins with, as far as they depend on no result."""
    space = head.space(inputs)
    return independent_draws(
        space, trials=fits_of(head, inputs), first=head.first_trials(space), seed=head.settings.seed
    )


@dataclass(frozen=True)
class _Judge:
    """Scores probabilities of the validation rows."""

    metric: str
    truth: np.ndarray

    def score(self, proba: np.ndarray, classes: np.ndarray) -> float:
        return score(self.metric, self.truth, proba, classes)

    def value(self, proba: np.ndarray, classes: np.ndarray) -> float:
        """The score with the tie-break."""
        return self.score(proba, classes) - TIE_BREAK * mean_log_loss(self.truth, proba, classes)


def _judged(labels: np.ndarray, codes: np.ndarray, metric: str) -> tuple[Examples, _Judge]:
    examples = Examples.of(labels, codes)
    if len(np.unique(examples.labels[examples.train])) < 2:  # before the search: no trial could succeed
        raise UserError("the training labels hold fewer than two classes; choose other splits or labels")
    return examples, _Judge(metric, examples.labels[examples.val])


def _fit(head: Head, inputs: Any, choice: dict[str, Any], examples: Examples, judge: _Judge, report: Report) -> Fitted:
    return head.fit(inputs, choice, examples, judge.score, lambda step, *seen: report(step, judge.value(*seen)))


def fits_of(head: Head, inputs: Any) -> int:
    """How often the head is fitted on a split: less often than settings are tried, where one fit tries several."""
    return max(1, head.settings.trials // head.settings_per_fit(head.space(inputs)))


def _twin_scores(
    fitted: Fitted, labels: np.ndarray, examples: Examples, metric: str, twins: np.ndarray, codes: np.ndarray
) -> dict[str, float]:
    known = has_training_twin(twins, codes)
    rows = examples.test[~known[examples.test]]
    try:
        free = score(metric, labels[rows], fitted.probabilities[rows], fitted.classes)
    except UserError:  # nobody is left, or one class
        free = float("nan")
    return {"test_twins": float(known.sum()), "twin_free_test": free}


def _scores(fitted: Fitted, labels: np.ndarray, examples: Examples, metrics: tuple[str, ...]) -> dict[str, float]:
    return {
        f"{part}_{metric}": score(metric, labels[rows], fitted.probabilities[rows], fitted.classes)
        for part, rows in (("val", examples.val), ("test", examples.test))
        for metric in metrics
    }
