"""Everything is chosen on validation; test labels are read once, after the choice."""

import numpy as np
import pytest

from figure_kedro.evaluation.selection import evaluate_split, first_trials, search_space
from figure_kedro.evaluation.settings import EvaluationSettings
from figure_kedro.evaluation.views import Views
from figure_kedro.graph.splits import TEST, random_splits
from figure_kedro.projections import ProjectionSettings

pytestmark = pytest.mark.usefixtures("one_thread")
SETTINGS = EvaluationSettings(trials=5)


@pytest.fixture
def problem():
    rng = np.random.default_rng(0)
    labels = rng.integers(3, size=150)
    noise, signal = rng.normal(size=(2, 150, 6)).astype(np.float32)
    signal += 2 * np.eye(3, 6, dtype=np.float32)[labels]
    return [noise, signal], labels, random_splits(labels, 1, 0.5, 0.25, seed=1)[0]


def evaluate(problem, settings=SETTINGS, projection=None, labels=None):
    blocks, given, codes = problem
    views = Views(blocks, projection or ProjectionSettings())
    return evaluate_split(views, given if labels is None else labels, codes, ("accuracy",), settings)


def test_permuted_test_labels_change_the_test_score_and_nothing_else(problem):
    _, labels, codes = problem
    honest = evaluate(problem)
    permuted = labels.copy()
    test = np.flatnonzero(codes == TEST)
    permuted[test] = np.random.default_rng(2).permutation(labels[test])
    other = evaluate(problem, labels=permuted)
    assert other.settings == honest.settings
    assert (other.predictions == honest.predictions).all()
    assert other.scores["val_accuracy"] == honest.scores["val_accuracy"]
    assert other.scores["test_accuracy"] < honest.scores["test_accuracy"]


def test_test_labels_can_be_missing_during_the_search(problem, monkeypatch):
    """The search sees -1 in place of every test label, which the classifier would refuse."""
    _, _, codes = problem
    seen = []
    from figure_kedro.evaluation import selection

    original = selection.AlphaClassifier.fit

    def spy(self, views, y, validation=None, watch=None):
        seen.append(len(y))
        return original(self, views, y, validation)

    monkeypatch.setattr(selection.AlphaClassifier, "fit", spy)
    evaluate(problem)
    assert set(seen) == {int((codes == 1).sum())}


def test_the_informative_view_wins(problem):
    result = evaluate(problem)
    assert result.scores["test_accuracy"] > 0.8
    assert abs(result.alpha[1]) > abs(result.alpha[0])


@pytest.mark.parametrize("solver", ["lbfgs", "adam"])
def test_a_search_begins_with_different_settings_of_its_space_and_every_kind_of_mask(solver):
    views = Views([np.ones((2, 3), dtype=np.float32)] * 4, ProjectionSettings())
    space = search_space(views, EvaluationSettings(solver=solver))
    first = first_trials(space)
    assert all(trial.keys() == space.keys() for trial in first)
    assert all(value in space[key] for trial in first for key, value in trial.items())
    assert len({tuple(trial.items()) for trial in first}) == len(first) == 10
    masks = {"".join(str(trial[f"mask_{i}"]) for i in range(4)) for trial in first}
    assert masks == {"1111", "0111", "0100", "0010", "0001"}


def test_the_search_for_a_single_view_begins_with_different_decays():
    space = search_space(Views([np.ones((2, 3), dtype=np.float32)], ProjectionSettings()), SETTINGS)
    decays = [trial["relative_decay"] for trial in first_trials(space)]
    assert len(set(decays)) == len(decays) > 2


def test_same_seed_gives_the_same_result(problem):
    first, second = evaluate(problem), evaluate(problem)
    assert first.settings == second.settings
    assert (first.alpha == second.alpha).all()


def test_adam_uses_the_same_protocol(problem):
    result = evaluate(problem, EvaluationSettings(trials=3, solver="adam", max_epochs=300))
    assert result.scores["test_accuracy"] > 0.7
    assert {"learning_rate", "alpha_learning_rate"} <= set(result.settings)


def test_gamma_is_searched_with_fourier_features_alone(problem):
    blocks, _, _ = problem
    assert "gamma" not in search_space(Views(blocks, ProjectionSettings()), SETTINGS)
    assert "gamma" in search_space(Views(blocks, ProjectionSettings(map="fourier")), SETTINGS)
    result = evaluate(problem, projection=ProjectionSettings(map="fourier", dim=64, scale="rms"))
    assert result.settings["gamma"] in SETTINGS.gammas


def test_one_projection_is_held_at_a_time(problem):
    blocks, _, _ = problem
    views = Views(blocks, ProjectionSettings(map="fourier", dim=16))
    first = views.projected(0.3)
    assert views.projected(0.3)[0] is first[0]
    assert not np.allclose(views.projected(0.6)[0], first[0])
    np.testing.assert_allclose(views.projected(0.3)[0], first[0])
