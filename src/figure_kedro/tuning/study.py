"""An Optuna study over a table of choices that comes to the same end however often it is killed."""

import math
import warnings
from collections.abc import Callable, Sequence
from typing import Any, Literal

import optuna
from optuna.storages import BaseStorage
from optuna.trial import FrozenTrial, TrialState

from figure_kedro.errors import UserError

Space = dict[str, list[Any]]
"""The values that each setting may take."""

Direction = Literal["minimize", "maximize"]

Report = Callable[[int, float], None]
"""Tells the study a trial's value after a number of steps; it ends the trial there if it is hopeless."""

STARTUP_TRIALS = 5
"""Trials that always run to their end, so that there is something to compare with."""

KEPT_PERCENT = 75.0
"""A trial continues while it is among this many percent of the trials that came to the same step."""

DRAW = "draw"
"""Under this name a trial that is kept says how many settings had been drawn before its own."""


def run_study(
    objective: Callable[[int, dict[str, Any], Report], float],
    space: Space,
    *,
    trials: int,
    name: str,
    first: Sequence[dict[str, Any]] = (),
    direction: Direction = "minimize",
    seed: int = 0,
    storage: BaseStorage | None = None,
    metric: str = "value",
    on_trial: Callable[[int], None] = lambda ended: None,
) -> optuna.Study:
    """Draw settings ``trials`` times, try each once, and return the study with the best ones.

    What is drawn depends on the seed, the number of the draw and the trials before it alone. So a search that was
    killed is begun again from its first draw, in memory, and takes the very way of one that was not: whatever the
    storage has of a draw is looked up and not computed again. Only trials that have ended are stored, each by one
    call, so a kill leaves nothing that has to be told from a trial that runs.

    A trial is a function of its settings: settings that are drawn again are neither computed nor stored a second time,
    unless they were given up early, when they may go further than before. A trial that raises a
    :class:`~figure_kedro.errors.UserError`, such as a training that diverges, counts as failed. One that reports how
    it goes is ended early if it is among the worst quarter of those that came as far.

    Args:
        objective: Gives the value of a trial from its number, its settings, and a function it may report to.
        space: What may vary.
        trials: How many settings are drawn.
        name: Of the study in the storage.
        first: Settings to try first, in this order.
        direction: ``minimize`` or ``maximize``.
        seed: Of the sampler.
        storage: Where trials are kept; nowhere by default. One process at a time writes to it.
        metric: What the value is called.
        on_trial: Told how many trials have ended, at first and after every one.

    Raises:
        UserError: If no trial succeeded.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    pruner = optuna.pruners.PercentilePruner(KEPT_PERCENT, n_startup_trials=STARTUP_TRIALS)
    search = optuna.create_study(direction=direction, pruner=pruner)
    kept = _Kept(name, direction, metric, storage)
    for settings in first:
        search.enqueue_trial(settings)
    for draw in range(trials):
        on_trial(draw)
        trial, settings = _drawn(search, space, seed + draw)
        known = _tried_before(search, settings)
        ended = known or kept.stored(draw, settings)
        if ended is not None:
            _end_like(search, trial, ended, steps=known is None)
        else:
            _try(search, trial, objective, len(kept.study.trials), settings)
        if known is None:
            kept.add(draw, search.trials[trial.number], new=ended is None)
    on_trial(trials)
    if not kept.study.get_trials(states=[TrialState.COMPLETE]):
        last = kept.study.trials[-1].user_attrs.get("error")
        raise UserError(f"no trial of {name} succeeded; the last one said: {last}")
    return kept.study


def independent_draws(
    space: Space, *, trials: int, first: Sequence[dict[str, Any]] = (), seed: int = 0
) -> list[dict[str, Any]]:
    """The settings that :func:`run_study` draws first and tries to their end, whatever comes of them.

    They can be tried side by side, each once. Later ones depend on those before them.
    """
    optuna.logging.set_verbosity(optuna.logging.WARNING)
    search = optuna.create_study()
    for settings in first:
        search.enqueue_trial(settings)
    drawn = [_drawn(search, space, seed + draw)[1] for draw in range(min(trials, STARTUP_TRIALS))]
    return [settings for number, settings in enumerate(drawn) if settings not in drawn[:number]]


def _drawn(search: optuna.Study, space: Space, seed: int) -> tuple[optuna.Trial, dict[str, Any]]:
    search.sampler = optuna.samplers.TPESampler(seed=seed)
    trial = search.ask()
    return trial, {key: trial.suggest_categorical(key, values) for key, values in space.items()}


class _Kept:
    """The trials of a search without those that only repeat another, here and in a storage."""

    def __init__(self, name: str, direction: Direction, metric: str, storage: BaseStorage | None) -> None:
        self._name, self._direction, self._metric, self._storage = name, direction, metric, storage
        self.study = self._open(None)
        self._on_disk: optuna.Study | None = None  # made with the first trial, so that no journal is empty
        if storage is not None and _has(storage, name):
            self._on_disk = self._open(storage)
        trials = self._on_disk.trials if self._on_disk else []
        self._stored = {trial.user_attrs.get(DRAW): trial for trial in trials}

    @property
    def draws(self) -> set[int | None]:
        """Numbers of the draws that are stored."""
        return {*self._stored}

    def stored(self, draw: int, settings: dict[str, Any]) -> FrozenTrial | None:
        trial = self._stored.get(draw)
        if trial is not None and trial.params != settings:  # of a version of Optuna that draws otherwise
            assert self._storage is not None
            optuna.delete_study(study_name=self._name, storage=self._storage)
            self._stored, self._on_disk = {}, self._open(self._storage)
            self._on_disk.add_trials(self.study.trials)
            return None
        return trial

    def add(self, draw: int, trial: FrozenTrial, *, new: bool) -> None:
        trial.user_attrs[DRAW] = draw
        self.study.add_trial(trial)
        if new and self._storage is not None:
            self._on_disk = self._on_disk or self._open(self._storage)
            self._on_disk.add_trial(trial)

    def _open(self, storage: BaseStorage | None) -> optuna.Study:
        """The study of a storage, made if it is not there."""
        if storage is not None and _has(storage, self._name):
            study = optuna.load_study(study_name=self._name, storage=storage)
        else:
            study = optuna.create_study(study_name=self._name, direction=self._direction, storage=storage)
        if study.metric_names is None:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore", optuna.exceptions.ExperimentalWarning)
                study.set_metric_names([self._metric])
        return study


def take_up(storage: BaseStorage, other: BaseStorage, only: str | None = None) -> None:
    """Add the trials of another storage that are not there yet, of all studies or of one."""
    for name in [study.study_name for study in other.get_all_studies() if only in (None, study.study_name)]:
        found = optuna.load_study(study_name=name, storage=other)
        direction: Direction = "maximize" if found.direction == optuna.study.StudyDirection.MAXIMIZE else "minimize"
        kept = _Kept(name, direction, (found.metric_names or ["value"])[0], storage)
        known = kept.draws
        for trial in found.trials:
            if (draw := trial.user_attrs[DRAW]) not in known:
                kept.add(draw, trial, new=True)
                known.add(draw)


def _has(storage: BaseStorage, name: str) -> bool:
    return any(study.study_name == name for study in storage.get_all_studies())


def _tried_before(search: optuna.Study, settings: dict[str, Any]) -> FrozenTrial | None:
    ended = search.get_trials(deepcopy=False, states=[TrialState.COMPLETE, TrialState.FAIL])
    return next((trial for trial in ended if trial.params == settings), None)


def _end_like(search: optuna.Study, trial: optuna.Trial, ended: FrozenTrial, *, steps: bool) -> None:
    """Give a trial the end of another one; with its steps, if it stands for that one."""
    for step, value in sorted(ended.intermediate_values.items()) if steps else ():
        trial.report(value, step)
    for name, note in ended.user_attrs.items():
        trial.set_user_attr(name, note)
    search.tell(trial, ended.value if ended.state == TrialState.COMPLETE else None, state=ended.state)


def _try(
    search: optuna.Study,
    trial: optuna.Trial,
    objective: Callable[[int, dict[str, Any], Report], float],
    number: int,
    settings: dict[str, Any],
) -> None:
    def report(step: int, value: float) -> None:
        trial.report(value, step)
        if trial.should_prune():
            raise optuna.TrialPruned

    try:
        value = objective(number, settings, report)
        if math.isnan(value):
            raise UserError("its value is not a number")
    except optuna.TrialPruned:
        search.tell(trial, state=TrialState.PRUNED)
    except UserError as error:
        trial.set_user_attr("error", str(error))
        search.tell(trial, state=TrialState.FAIL)
    else:
        search.tell(trial, value)
