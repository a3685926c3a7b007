"""Studies find the best of a table of choices and survive a crash."""

import optuna
import pytest
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend

from figure_kedro.datasets.files.trial_journal import TrialJournal
from figure_kedro.errors import UserError
from figure_kedro.tuning.study import STARTUP_TRIALS, independent_draws, run_study, take_up

SPACE = {"x": [1, 2, 3, 4], "y": ["a", "b"]}


def storage(path):
    return JournalStorage(TrialJournal(path / "journal"))


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


WIDE = {"x": list(range(9)), "y": ["a", "b"], "z": [0.0, 0.1, 1e-3]}
FIRST = [{"x": x, "y": "a", "z": 0.1} for x in range(6)]


def rough(calls):
    """An objective with failures, early ends and ties, that notes what it is asked."""

    def measure(number, settings, report):
        calls.append((number, settings))
        quality = (settings["x"] * 7) % 9 + (0.5 if settings["y"] == "b" else 0) - settings["z"]
        if settings["x"] == 8:
            raise UserError("diverged")
        for step in (1, 2):
            report(step, quality + step)
        return quality

    return measure


def search(path, calls=None, trials=18):
    calls = [] if calls is None else calls
    return run_study(
        rough(calls), WIDE, trials=trials, name="s", first=FIRST, direction="maximize", seed=3, storage=storage(path)
    )


def told(study):
    """All that a study says of its trials."""
    return [(t.number, t.params, t.state, t.value, t.intermediate_values, t.user_attrs) for t in study.trials]


def test_a_search_that_is_cut_anywhere_takes_the_same_trials_under_the_same_numbers(tmp_path):
    calls = []
    whole = search(tmp_path, calls)
    states = {trial.state.name for trial in whole.trials}
    assert states == {"COMPLETE", "PRUNED", "FAIL"}, "or this test shows little"
    journal = tmp_path / "journal"
    content = journal.read_bytes()
    lines = content.splitlines(keepends=True)
    assert len(lines) == len(whole.trials) + 2
    for kept in range(len(lines)):
        for half in (b"", lines[kept][: len(lines[kept]) // 2]):
            journal.write_bytes(b"".join(lines[:kept]) + half)
            again = []
            resumed = search(tmp_path, again)
            assert told(resumed) == told(whole)
            assert again == calls[max(0, kept - 2) :], "what ended before is not computed again, and all else is"
            assert told(optuna.load_study(study_name="s", storage=storage(tmp_path))) == told(whole)


def test_a_search_that_has_ended_computes_nothing_and_writes_nothing(tmp_path):
    whole = search(tmp_path)
    content, calls = (tmp_path / "journal").read_bytes(), []
    assert told(search(tmp_path, calls)) == told(whole)
    assert calls == []
    assert (tmp_path / "journal").read_bytes() == content


def test_a_search_with_more_trials_goes_on_where_the_shorter_one_ended(tmp_path):
    search(tmp_path, trials=12)
    assert told(search(tmp_path, trials=18)) == told(search(tmp_path / "other"))


def test_a_storage_makes_no_difference(tmp_path):
    plain = run_study(rough([]), WIDE, trials=18, name="s", first=FIRST, direction="maximize", seed=3)
    assert told(plain) == told(search(tmp_path))


def test_no_settings_that_ended_are_stored_twice_and_numbers_count_up(tmp_path):
    run_study(value, SPACE, trials=40, name="s", storage=storage(tmp_path))
    stored = optuna.load_study(study_name="s", storage=storage(tmp_path)).trials
    assert [trial.number for trial in stored] == list(range(len(stored)))
    assert len({str(trial.params) for trial in stored}) == len(stored) <= 8


def test_trials_that_this_version_would_not_draw_are_replaced(tmp_path):
    whole = search(tmp_path)
    other = run_study(
        rough([]), WIDE, trials=18, name="s", first=FIRST, direction="maximize", seed=4, storage=storage(tmp_path)
    )
    expected = run_study(rough([]), WIDE, trials=18, name="s", first=FIRST, direction="maximize", seed=4)
    assert told(other) == told(expected) != told(whole)
    assert told(optuna.load_study(study_name="s", storage=storage(tmp_path))) == told(expected)


def test_a_study_has_its_name_its_metric_and_no_file_before_its_first_trial(tmp_path):
    def dies(number, settings, report):
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_study(dies, SPACE, trials=1, name="of cora", metric="loss", storage=storage(tmp_path))
    assert list(tmp_path.iterdir()) == []
    run_study(value, SPACE, trials=1, name="of cora", metric="loss", storage=storage(tmp_path))
    by_optuna = JournalStorage(JournalFileBackend(str(tmp_path / "journal")))
    study = optuna.load_study(study_name="of cora", storage=by_optuna)
    assert study.metric_names == ["loss"]
    assert len(study.trials) == 1


def test_a_value_that_is_not_a_number_is_a_failure():
    def unsure(number, settings, report):
        return float("nan") if settings["x"] > 1 else 1.0

    assert run_study(unsure, SPACE, trials=20, name="s", first=[{"x": 2, "y": "a"}]).best_params["x"] == 1


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


def test_how_many_trials_have_ended_is_told_at_first_and_after_each(tmp_path):
    told = []
    run_study(value, SPACE, trials=3, name="s", storage=storage(tmp_path), on_trial=told.append)
    run_study(value, SPACE, trials=4, name="s", storage=storage(tmp_path), on_trial=told.append)
    assert told == [0, 1, 2, 3, 0, 1, 2, 3, 4], "those that are stored are looked up at once"


def test_the_first_draws_are_known_before_anything_is_tried():
    space = {"a": [0, 1, 2], "b": [0, 1, 2]}
    first = [{"a": 2, "b": 2}, {"a": 2, "b": 2}]
    drawn = []

    def objective(number, settings, report):
        drawn.append(settings)
        return float(settings["a"])

    run_study(objective, space, trials=STARTUP_TRIALS, name="draws", first=first, seed=3)
    assert independent_draws(space, trials=STARTUP_TRIALS, first=first, seed=3) == drawn
    assert independent_draws(space, trials=1, first=first, seed=3) == drawn[:1]


def test_trials_of_another_storage_are_taken_up_once():
    space, whole, half = {"a": [0, 1, 2, 3]}, optuna.storages.InMemoryStorage(), optuna.storages.InMemoryStorage()
    for storage, trials in ((whole, 4), (half, 2)):
        run_study(
            lambda number, settings, report: float(settings["a"]),
            space,
            trials=trials,
            name="one",
            direction="maximize",
            storage=storage,
            metric="score",
        )
    for _ in range(2):
        take_up(half, whole)
        one, other = (optuna.load_study(study_name="one", storage=storage) for storage in (half, whole))
        assert [(t.params, t.value, t.user_attrs) for t in one.trials] == [
            (t.params, t.value, t.user_attrs) for t in other.trials
        ]
        assert one.metric_names == ["score"]
    take_up(empty := optuna.storages.InMemoryStorage(), whole, only="another")
    assert empty.get_all_studies() == []
