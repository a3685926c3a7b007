"""An Optuna study over a table of choices that survives a crash."""

from collections.abc import Callable, Sequence
from typing import Any, Literal

import optuna
from optuna.storages import BaseStorage
from optuna.trial import TrialState

from figure_kedro.errors import UserError

Space = dict[str, list[Any]]
"""The values that each setting may take."""

Report = Callable[[int, float], None]
"""Tells the study a trial's value after a number of steps; it ends the trial there if it is hopeless."""

STARTUP_TRIALS = 5
"""Trials that always run to their end, so that there is something to compare with."""

KEPT_PERCENT = 75.0
"""A trial continues while it is among this many percent of the trials that came to the same step."""


def run_study(
    objective: Callable[[int, dict[str, Any], Report], float],
    space: Space,
    *,
    trials: int,
    name: str,
    first: Sequence[dict[str, Any]] = (),
    direction: Literal["minimize", "maximize"] = "minimize",
    seed: int = 0,
    storage: BaseStorage | None = None,
) -> optuna.Study:
    """Try settings until ``trials`` of them have ended, and return the study with the best one.

    Trials that a crash left unfinished are run again; those that ended are kept. Settings that were tried before are
    not computed again: a trial is a function of its settings. A trial that raises a
    :class:`~figure_kedro.errors.UserError`, such as a training that diverges, counts as failed. One that reports how
    it goes is ended early if it is among the worst quarter of those that came as far.

    Args:
        objective: Gives the value of a trial from its number, its settings, and a function it may report to.
        space: What may vary.
        trials: How many must have ended.
        name: Of the study in the storage.
        first: Settings to try first, in this order.
        direction: ``minimize`` or ``maximize``.
        seed: Of the sampler.
        storage: Where trials are kept; in memory by default.

    Raises:
        UserError: If no trial succeeded.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    pruner = optuna.pruners.PercentilePruner(KEPT_PERCENT, n_startup_trials=STARTUP_TRIALS)
    study = optuna.create_study(
        storage=storage, study_name=name, direction=direction, load_if_exists=True, pruner=pruner
    )
    for left_behind in study.get_trials(states=[TrialState.RUNNING]):
        study.tell(left_behind.number, state=TrialState.FAIL)
        settings = left_behind.params or left_behind.system_attrs.get("fixed_params", {})
        study.enqueue_trial(settings, user_attrs={"instead_of": left_behind.number})
    if not study.trials:
        for settings in first:
            study.enqueue_trial(settings)
    while (ended := _ended(study)) < trials:
        study.sampler = optuna.samplers.TPESampler(seed=seed + ended)  # the same after a crash as without one
        trial = study.ask()
        settings = {key: trial.suggest_categorical(key, values) for key, values in space.items()}
        value = _known(study, settings)
        if value is None:
            try:
                value = objective(trial.number, settings, _report_to(trial))
            except optuna.TrialPruned:
                study.tell(trial, state=TrialState.PRUNED)
                continue
            except UserError as error:
                trial.set_user_attr("error", str(error))
                study.tell(trial, state=TrialState.FAIL)
                continue
        study.tell(trial, value)
    if not study.get_trials(states=[TrialState.COMPLETE]):
        raise UserError(f"no trial of {name} succeeded; the last one said: {study.trials[-1].user_attrs.get('error')}")
    return study


def _report_to(trial: optuna.Trial) -> Report:
    def report(step: int, value: float) -> None:
        trial.report(value, step)
        if trial.should_prune():
            raise optuna.TrialPruned

    return report


def _ended(study: optuna.Study) -> int:
    """Trials that count: those that came to an end, early or not, or failed by themselves; not those of a crash."""
    trials = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE, TrialState.PRUNED, TrialState.FAIL])
    return sum(trial.state != TrialState.FAIL or "error" in trial.user_attrs for trial in trials)


def _known(study: optuna.Study, settings: dict[str, Any]) -> float | None:
    finished = study.get_trials(deepcopy=False, states=[TrialState.COMPLETE])
    return next((trial.value for trial in finished if trial.params == settings), None)
