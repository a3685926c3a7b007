"""Studies find the best of a table of choices and survive a crash."""

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from figure_kedro.errors import UserError
from figure_kedro.tuning.study import run_study

SPACE = {"x": [1, 2, 3, 4], "y": ["a", "b"]}


def storage(path):
    return JournalStorage(JournalFileBackend(str(path / "journal")))


def value(number, settings, report):
    return settings["x"] + (10 if settings["y"] == "b" else 0)


def test_first_trial_is_the_given_setting():
    study = run_study(value, SPACE, trials=1, name="s", first=[{"x": 3, "y": "b"}])
    assert study.best_params == {"x": 3, "y": "b"}


@pytest.mark.parametrize(("direction", "best"), [("minimize", {"x": 1, "y": "a"}), ("maximize", {"x": 4, "y": "b"})])
def test_the_best_setting_is_found(direction, best):
    assert run_study(value, SPACE, trials=40, name="s", direction=direction).best_params == best


def test_a_setting_is_computed_once():
    seen = []

    def count(number, settings, report):
        seen.append(tuple(settings.items()))
        return value(number, settings, report)

    run_study(count, SPACE, trials=40, name="s")
    assert len(seen) == len(set(seen)) <= 8


def test_a_study_that_is_taken_up_again_runs_the_unfinished_trial_and_keeps_the_others(tmp_path):
    calls = []

    def crash(number, settings, report):
        calls.append((number, settings))
        if len(calls) == 3:
            raise KeyboardInterrupt
        return value(number, settings, report)

    with pytest.raises(KeyboardInterrupt):
        run_study(crash, SPACE, trials=12, name="t", seed=5, storage=storage(tmp_path))
    unfinished, settings = calls[-1]
    before = optuna.load_study(study_name="t", storage=storage(tmp_path)).trials[:unfinished]
    again = run_study(value, SPACE, trials=12, name="t", seed=5, storage=storage(tmp_path))
    assert [trial.params for trial in again.trials[:unfinished]] == [trial.params for trial in before]
    (instead,) = (trial for trial in again.trials if trial.user_attrs.get("instead_of") == unfinished)
    assert instead.state == optuna.trial.TrialState.COMPLETE
    assert instead.params == settings
    assert sum(trial.state == optuna.trial.TrialState.COMPLETE for trial in again.trials) == 12


def test_a_trial_that_a_user_error_ends_counts_as_failed_and_the_search_goes_on():
    def diverge(number, settings, report):
        if settings["x"] > 1:
            raise UserError("diverged")
        return value(number, settings, report)

    study = run_study(diverge, SPACE, trials=30, name="s")
    assert study.best_params["x"] == 1


def test_no_successful_trial_is_one_clear_line():
    def diverge(number, settings, report):
        raise UserError("the loss is nan")

    with pytest.raises(UserError, match=r"no trial of s succeeded.*the loss is nan"):
        run_study(diverge, SPACE, trials=2, name="s")


def test_a_trial_among_the_worst_quarter_ends_early_and_counts():
    steps = []

    def creep(number, settings, report):
        for step in (1, 2, 3):
            report(step, float(settings["x"]))
            steps.append((settings["x"], step))
        return float(settings["x"])

    space = {"x": list(range(20))}
    first = [{"x": x} for x in (*range(10, 15), 0, 19)]  # 0 comes after the trials that always run to their end
    study = run_study(creep, space, trials=7, name="s", first=first, direction="maximize")
    assert [trial.state.name for trial in study.trials] == ["COMPLETE"] * 5 + ["PRUNED", "COMPLETE"]
    assert (0, 1) not in steps
    assert study.best_params == {"x": 19}
