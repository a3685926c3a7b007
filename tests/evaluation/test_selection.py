"""Everything is chosen on validation by the metric that decides; test labels are read once, after the choice."""

import numpy as np
import optuna
import pytest
from optuna.storages import JournalStorage

from figure_kedro.datasets.files.trial_journal import TrialJournal
from figure_kedro.errors import UserError
from figure_kedro.evaluation import METRICS, AlphaClassifier, score
from figure_kedro.evaluation.head import Examples
from figure_kedro.evaluation.heads.linear import FEW_DECAYS, RELATIVE_DECAYS
from figure_kedro.evaluation.selection import TIE_BREAK, evaluate_split, fits_of
from figure_kedro.evaluation.views import Views
from figure_kedro.graph.splits import TEST, TRAIN, VAL, random_splits
from split_problems import (
    build,
    embeddings_of,
    evaluate,
    every_kind_of_head,
    prepare,
    projection_of,
)

pytestmark = pytest.mark.usefixtures("one_thread")
ADAM = {"trials": 12, "solver": "adam", "max_epochs": 8}
MLP = {
    "trials": 8,
    "max_epochs": 10,
    "space": {"learning_rate": [0.05, 0.02], "hidden": [8, 16], "dropout": [0.5, 0.0, 0.2]},
}


@every_kind_of_head
def test_permuted_test_labels_change_the_test_score_and_nothing_else(problem, head):
    _, labels, codes = problem
    honest = evaluate(problem, head)
    permuted = labels.copy()
    test = np.flatnonzero(codes == TEST)
    permuted[test] = np.random.default_rng(2).permutation(labels[test])
    other = evaluate(problem, head, labels=permuted)
    assert other.settings == honest.settings
    assert other.coefficients == honest.coefficients
    assert (other.predictions == honest.predictions).all()
    assert other.scores["val_accuracy"] == honest.scores["val_accuracy"]
    assert other.scores["test_accuracy"] < honest.scores["test_accuracy"]


@every_kind_of_head
@pytest.mark.parametrize("metric", ["accuracy", "macro_f1"])
def test_without_any_test_label_the_same_is_chosen_and_predicted(problem, head, metric):
    """A label that no class has, in place of every test label: who read one would fail or choose otherwise."""
    _, labels, codes = problem
    honest = evaluate(problem, head, metrics=(metric,))
    poisoned = evaluate(problem, head, labels=np.where(codes == TEST, 10**9, labels), metrics=(metric,))
    assert poisoned.settings == honest.settings
    assert (poisoned.predictions == honest.predictions).all()
    assert poisoned.scores[f"val_{metric}"] == honest.scores[f"val_{metric}"]
    assert poisoned.scores[f"test_{metric}"] == 0


@every_kind_of_head
def test_every_fit_sees_minus_one_in_place_of_test_labels(problem, head, monkeypatch):
    _, labels, codes = problem
    chosen, seen = build(head), []
    original = chosen.fit

    def spy(inputs, choice, examples, *rest):
        seen.append(examples)
        return original(inputs, choice, examples, *rest)

    monkeypatch.setattr(chosen, "fit", spy)
    evaluate_split(chosen, prepare(problem, chosen), labels, codes, ("accuracy",))
    assert len(seen) >= 2
    for examples in seen:
        np.testing.assert_array_equal(examples.test, np.flatnonzero(codes == TEST))
        assert (examples.labels[examples.test] == -1).all()
        np.testing.assert_array_equal(examples.labels[codes != TEST], labels[codes != TEST])


def test_test_labels_can_be_missing_during_the_search(problem, monkeypatch):
    """The search sees -1 in place of every test label, which the classifier would refuse."""
    _, _, codes = problem
    seen = []
    original = AlphaClassifier.fit_decays

    def spy(self, decays, views, y, watch=None):
        seen.append((len(y), {len(view) for view in views if view is not None}))
        return original(self, decays, views, y, watch)

    monkeypatch.setattr(AlphaClassifier, "fit_decays", spy)
    evaluate(problem)
    train = int((codes == TRAIN).sum())
    assert len(seen) == 2
    assert all(entry == (train, {train}) for entry in seen)


def test_the_informative_view_wins(problem):
    result = evaluate(problem)
    assert result.scores["test_accuracy"] > 0.8
    assert abs(result.coefficients["signal"]) > abs(result.coefficients["noise"])


@pytest.mark.parametrize("metric", [name for name in METRICS.names() if name != "accuracy"])
def test_the_metric_decides(imbalanced, metric):
    by_accuracy, by_metric = (
        evaluate(imbalanced, metrics=metrics, trials=30) for metrics in (("accuracy", metric), (metric, "accuracy"))
    )
    assert by_metric.settings != by_accuracy.settings
    assert by_metric.scores[f"val_{metric}"] > by_accuracy.scores[f"val_{metric}"]
    assert by_metric.scores["val_accuracy"] < by_accuracy.scores["val_accuracy"]


@pytest.mark.parametrize(
    ("head", "settings"),
    [("linear", {"solver": "adam", "max_epochs": 60}), ("mlp", {"max_epochs": 40})],
)
def test_the_metric_decides_which_epoch_is_kept(imbalanced, head, settings):
    _, labels, codes = imbalanced
    chosen, examples = build(head, **settings), Examples.of(labels, codes)
    inputs = prepare(imbalanced, chosen)
    choice = chosen.first_trials(chosen.space(inputs))[0] | {"learning_rate": 0.05}

    def area_of_the_kept_epoch(metric):
        def deciding(proba, classes):
            return score(metric, labels[examples.val], proba, classes)

        fitted = chosen.fit(inputs, choice, examples, deciding)
        return score("roc_auc", labels[examples.val], fitted.probabilities[examples.val], fitted.classes)

    assert area_of_the_kept_epoch("roc_auc") > area_of_the_kept_epoch("accuracy")


def test_among_equal_scores_the_lower_log_loss_is_chosen(problem):
    """All settings of a separable problem are right everywhere; the least decay is the surest of it."""
    _, labels, codes = problem
    rows = 20 * np.eye(3, dtype=np.float32)[labels]
    separable = embeddings_of({"only": rows}, labels), labels, codes
    head = build("linear", trials=4)
    inputs = prepare(separable, head)
    result = evaluate_split(head, inputs, labels, codes, ("accuracy",))
    assert result.scores["val_accuracy"] == 1
    assert result.settings["relative_decay"] == min(FEW_DECAYS[:4]) < FEW_DECAYS[0]
    assert 1 / (codes == VAL).sum() > TIE_BREAK * 17  # no log loss is worth a node here


def test_the_mlp_learns_what_no_linear_head_can():
    """The class is whether two coordinates of the sum of the views have different signs, as in XOR."""
    rng = np.random.default_rng(0)
    first, second = rng.normal(size=(2, 300, 2)).astype(np.float32)
    combined = first + second
    labels = ((combined[:, 0] > 0) ^ (combined[:, 1] > 0)).astype(int)
    xor = embeddings_of({"first": first, "second": second}, labels), labels, random_splits(labels, 1, 0.5, 0.25, 1)[0]
    space = {"learning_rate": [0.05], "weight_decay": [0.0], "dropout": [0.0], "hidden": [64]}
    curved = evaluate(xor, "mlp", trials=1, max_epochs=200, patience=100, space=space)
    assert curved.scores["test_accuracy"] > 0.9
    assert set(curved.coefficients) == {"first", "second"}
    assert evaluate(xor, "linear", trials=12).scores["test_accuracy"] < 0.65


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_a_search_begins_with_different_settings_of_its_space_and_every_kind_of_mask(solver):
    blocks = [np.ones((2, 3), dtype=np.float32)] * 4
    head = build("linear", solver=solver)
    space = head.space(Views(blocks, projection_of(blocks)))
    first = head.first_trials(space)
    assert all(trial.keys() == space.keys() for trial in first)
    assert all(value in space[key] for trial in first for key, value in trial.items())
    decays = 1 if solver == "lbfgs" else 2
    assert len({tuple(trial.items()) for trial in first}) == len(first) == 5 * decays
    masks = {"".join(str(trial[f"mask_{i}"]) for i in range(4)) for trial in first}
    assert masks == {"1111", "0111", "0100", "0010", "0001"}


@pytest.mark.parametrize(("trials", "tried"), [(1, 1), (4, 4), (12, 12), (20, 18), (30, 30)])
def test_every_decay_counts_as_a_setting_that_is_tried(problem, monkeypatch, trials, tried):
    seen, original = [], AlphaClassifier.fit_decays

    def spy(self, decays, views, y, watch=None):
        seen.append(len(decays))
        return original(self, decays, views, y, watch)

    monkeypatch.setattr(AlphaClassifier, "fit_decays", spy)
    evaluate(problem, trials=trials)
    assert sum(seen) <= min(trials, tried)
    assert max(seen) <= len(FEW_DECAYS)


@pytest.mark.parametrize(("trials", "decays"), [(1, 1), (3, 2), (10, 2), (20, 4), (30, 6), (60, 6)])
def test_a_budget_is_parted_among_all_sets_of_filters_that_a_search_begins_with(trials, decays):
    blocks = [np.ones((2, 3), dtype=np.float32)] * 4
    head = build("linear", trials=trials)
    space = head.space(Views(blocks, projection_of(blocks)))
    assert head.settings_per_fit(space) == decays
    assert trials < 10 or trials // decays >= len(head.first_trials(space))


def test_a_small_budget_sees_both_widths_of_a_map_and_all_filters():
    blocks = [np.ones((2, 3), dtype=np.float32)] * 4
    head = build("linear", trials=10)
    space = head.space(Views(blocks, projection_of(blocks, map="fourier")))
    tried = head.first_trials(space)[: 10 // head.settings_per_fit(space)]
    assert len({trial["gamma"] for trial in tried}) == 2
    assert {tuple(trial[f"mask_{i}"] for i in range(4)) for trial in tried} == {
        (1, 1, 1, 1), (0, 1, 1, 1), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 0, 1)
    }  # fmt: skip


def test_a_single_view_has_all_decays_tried_at_once():
    blocks = [np.ones((2, 3), dtype=np.float32)]
    head = build("linear", trials=30)
    assert head.settings_per_fit(head.space(Views(blocks, projection_of(blocks)))) == len(RELATIVE_DECAYS)


@pytest.mark.parametrize("killed_at", [1, 2, 4])
def test_a_search_that_was_killed_chooses_what_an_unbroken_one_does(problem, monkeypatch, killed_at):
    _, labels, codes = problem
    unbroken = evaluate(problem, trials=30)
    head, storage = build("linear", trials=30), optuna.storages.InMemoryStorage()
    inputs, original, fits = prepare(problem, head), head.fit, []

    def dies(*of):
        fits.append(of)
        if len(fits) == killed_at:
            raise KeyboardInterrupt
        return original(*of)

    monkeypatch.setattr(head, "fit", dies)
    with pytest.raises(KeyboardInterrupt):
        evaluate_split(head, inputs, labels, codes, ("accuracy",), storage=storage)
    resumed = evaluate_split(head, inputs, labels, codes, ("accuracy",), storage=storage)
    assert resumed.settings == unbroken.settings
    assert resumed.coefficients == unbroken.coefficients
    np.testing.assert_array_equal(resumed.predictions, unbroken.predictions)
    finished = evaluate_split(head, inputs, labels, codes, ("accuracy",), storage=storage)  # fits the best once more
    assert finished.coefficients == unbroken.coefficients


@pytest.mark.parametrize(("head", "settings"), [("linear", {"trials": 60}), ("linear", ADAM), ("mlp", MLP)])
def test_wherever_the_journal_is_cut_the_choice_and_the_scores_are_the_same(problem, head, settings, tmp_path):
    _, labels, codes = problem
    path, chosen = tmp_path / "journal", build(head, **settings)
    inputs, fits, original = prepare(problem, chosen), [], chosen.fit

    def evaluated():
        fits.clear()
        storage = JournalStorage(TrialJournal(path))
        return evaluate_split(chosen, inputs, labels, codes, ("accuracy",), name="split", storage=storage)

    chosen.fit = lambda *of: fits.append(1) or original(*of)
    whole, tried = evaluated(), len(fits)
    lines = path.read_bytes().splitlines(keepends=True)
    assert len(lines) == tried + 2 > 6
    for kept in range(len(lines) + 1):
        path.write_bytes(b"".join(lines[:kept]) + (lines[kept][:-9] if kept < len(lines) else b""))
        again = evaluated()
        assert (again.settings, again.coefficients, again.scores) == (whole.settings, whole.coefficients, whole.scores)
        np.testing.assert_array_equal(again.predictions, whole.predictions)
        assert len(fits) <= tried - max(0, kept - 2) + 1, "what ended before is not fitted again, but for the best"
        assert len(path.read_bytes().splitlines()) == len(lines)


def test_a_choice_without_any_view_predicts_the_class_frequencies(problem):
    _, labels, codes = problem
    head, examples = build("linear"), Examples.of(labels, codes)
    inputs = prepare(problem, head)
    choice = head.first_trials(head.space(inputs))[0] | {"mask_0": 0, "mask_1": 0}
    fitted = head.fit(inputs, choice, examples, lambda proba, classes: 0.0)
    frequencies = np.bincount(labels[codes == TRAIN]) / (codes == TRAIN).sum()
    np.testing.assert_allclose(fitted.probabilities, np.tile(frequencies, (len(labels), 1)))
    assert fitted.classes.tolist() == [0, 1, 2]
    assert fitted.coefficients == {"noise": 0.0, "signal": 0.0}


@every_kind_of_head
def test_same_seed_gives_the_same_result(problem, head):
    first, second = evaluate(problem, head), evaluate(problem, head)
    assert first.settings == second.settings
    assert first.coefficients == second.coefficients
    assert (first.predictions == second.predictions).all()


@every_kind_of_head
def test_only_the_nodes_that_are_asked_for_are_judged(problem, head):
    """Every third node is in no split and has a row in no result."""
    embeddings, labels, codes = problem
    nodes = np.flatnonzero(np.arange(len(labels)) % 3)
    chosen = build(head, trials=2)
    inputs = chosen.inputs(embeddings, projection_of(embeddings.values()), nodes)
    result = evaluate_split(chosen, inputs, labels[nodes], codes[nodes], ("accuracy",))
    assert result.predictions.shape == nodes.shape
    test = codes[nodes] == TEST
    assert result.scores["test_accuracy"] == (result.predictions == labels[nodes])[test].mean() > 0.6


def test_adam_uses_the_same_protocol(problem):
    result = evaluate(problem, trials=3, solver="adam", max_epochs=300)
    assert result.scores["test_accuracy"] > 0.7
    assert {"learning_rate", "alpha_learning_rate"} <= set(result.settings)


@pytest.mark.parametrize("head", ["linear", "mlp"])
def test_gamma_is_searched_with_fourier_features_alone(problem, head):
    chosen = build(head)
    fourier = {"map": "fourier", "dim": 64, "scale": "rms", "gammas": [0.2, 0.4, 0.8]}
    assert "gamma" not in chosen.space(prepare(problem, chosen))
    assert chosen.space(prepare(problem, chosen, **fourier))["gamma"] == [0.2, 0.4, 0.8]
    result = evaluate(problem, head, projection=fourier)
    assert result.settings["gamma"] in (0.2, 0.4, 0.8)


def test_one_projection_is_held_at_a_time(problem):
    blocks = list(problem[0].values())
    views = Views(blocks, projection_of(blocks, map="fourier", dim=16))
    first = views.projected({"gamma": 0.3})
    assert views.projected({"gamma": 0.3})[0] is first[0]
    assert views.projected({"gamma": 0.3, "mask_0": 0})[0] is first[0]
    assert not np.allclose(views.projected({"gamma": 0.6})[0], first[0])
    np.testing.assert_allclose(views.projected({"gamma": 0.3})[0], first[0])


@every_kind_of_head
def test_one_class_in_training_is_one_clear_line_before_any_trial(problem, head, monkeypatch):
    _, labels, codes = problem
    chosen = build(head)
    inputs = prepare(problem, chosen)
    monkeypatch.setattr(chosen, "fit", lambda *_: pytest.fail("a trial was run"))
    codes = np.where((labels != 2) & (codes == TRAIN), 0, codes)
    with pytest.raises(UserError, match=r"^the training labels hold fewer than two classes; choose other splits"):
        evaluate_split(chosen, inputs, labels, codes, ("accuracy",))


@every_kind_of_head
def test_scores_are_those_of_the_probabilities_of_the_chosen_fit(problem, head):
    """Fitting the choice again gives what was reported, for every metric."""
    _, labels, codes = problem
    metrics = ("balanced_accuracy", "accuracy")
    result = evaluate(problem, head, metrics=metrics)
    chosen, examples = build(head), Examples.of(labels, codes)

    def deciding(proba, classes):
        return score(metrics[0], labels[examples.val], proba, classes)

    fitted = chosen.fit(prepare(problem, chosen), result.settings, examples, deciding)
    for part, rows in (("val", examples.val), ("test", examples.test)):
        for metric in metrics:
            expected = score(metric, labels[rows], fitted.probabilities[rows], fitted.classes)
            assert result.scores[f"{part}_{metric}"] == pytest.approx(expected, abs=1e-12)
    assert set(result.scores) == {f"{part}_{metric}" for part in ("val", "test") for metric in metrics}


def test_every_fit_is_told_so_that_progress_can_be_shown(problem):
    head, told = build("linear", trials=12), []
    inputs = prepare(problem, head)
    evaluate_split(head, inputs, problem[1], problem[2], ("accuracy",), on_trial=told.append)
    assert told == list(range(fits_of(head, inputs) + 1))
