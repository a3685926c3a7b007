"""Supervised models are trained and chosen on training and validation labels; test labels are read once, at the end."""

import numpy as np
import optuna
import pytest
import torch
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from pydantic import ValidationError

from figure_kedro.errors import UserError
from figure_kedro.evaluation import supervised
from figure_kedro.evaluation.settings import EvaluationSettings
from figure_kedro.evaluation.supervised import evaluate_split_supervised, train_supervised
from figure_kedro.evaluation.supervised_settings import CHOICES, SPACES, SupervisedSettings
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.graph.splits import TEST, TRAIN, VAL, random_splits
from figure_kedro.methods.supervised import MODELS, GraphInputs

pytestmark = pytest.mark.usefixtures("one_thread")
BUDGET = EvaluationSettings(trials=3)
SHORT = SupervisedSettings(max_epochs=40, patience=15)


def toy(*, noise: float, nodes: int = 120, classes: int = 3):
    """Edges inside of classes, and features around the unit vector of the class."""
    rng = np.random.default_rng(0)
    labels = np.arange(nodes) % classes
    source, step = rng.integers(nodes, size=4 * nodes), rng.integers(1, 8, size=4 * nodes)
    features = np.eye(classes, 6, dtype=np.float32)[labels] + noise * rng.standard_normal((nodes, 6), dtype=np.float32)
    graph = graph_from_edges(source, (source + classes * step) % nodes, name="toy", num_nodes=nodes, features=features)
    return GraphInputs(graph), labels, random_splits(labels, 1, 0.5, 0.25, seed=1)[0]


def evaluate(model, problem, labels=None, budget=BUDGET, settings=SHORT, **study):
    inputs, given, codes = problem
    labels = given if labels is None else labels
    return evaluate_split_supervised(model, inputs, labels, codes, ("accuracy",), budget, settings, **study)


@pytest.fixture
def easy():
    return toy(noise=0.1)


@pytest.fixture
def hard():
    return toy(noise=3.0)


@pytest.mark.parametrize("model", MODELS)
def test_a_separable_graph_is_learnt_completely(model, easy):
    result = evaluate(model, easy)
    assert result.scores == {"val_accuracy": 1.0, "test_accuracy": 1.0}
    assert (result.predictions == easy[1]).all()
    assert 1 <= result.cost["epochs"] <= 40
    assert result.cost["epoch_seconds"] > 0


@pytest.mark.parametrize("model", MODELS)
def test_permuted_test_labels_change_the_test_score_and_nothing_else(model, hard):
    _, labels, codes = hard
    honest = evaluate(model, hard)
    permuted = labels.copy()
    test = np.flatnonzero(codes == TEST)
    permuted[test] = (labels[test] + 1) % 3
    other = evaluate(model, hard, labels=permuted)
    assert other.settings == honest.settings
    assert other.cost["epochs"] == honest.cost["epochs"]
    assert (other.predictions == honest.predictions).all()
    assert (other.alpha == honest.alpha).all()
    assert other.scores["val_accuracy"] == honest.scores["val_accuracy"]
    assert other.scores["test_accuracy"] != honest.scores["test_accuracy"]


def test_every_training_sees_minus_one_in_place_of_test_labels(hard, monkeypatch):
    seen = []

    def spy(model, inputs, labels, codes, *rest):
        seen.append(labels[codes == TEST])
        return train_supervised(model, inputs, labels, codes, *rest)

    monkeypatch.setattr(supervised, "train_supervised", spy)
    evaluate("gcn", hard)
    assert len(seen) >= 2
    assert all((labels == -1).all() for labels in seen)


@pytest.mark.parametrize("model", MODELS)
def test_same_seed_gives_the_same_weights_and_another_seed_others(model, hard):
    inputs, labels, codes = hard
    choice = {name: values[0] for name, values in SPACES[model].items()}

    def weights(seed):
        trained = train_supervised(model, inputs, labels, codes, choice, "accuracy", SHORT, seed)
        return torch.cat([p.flatten() for p in trained.module.state_dict().values()])

    assert torch.equal(weights(0), weights(0))
    assert not torch.equal(weights(0), weights(1))


def test_the_score_of_a_training_is_that_of_the_weights_it_returns(hard):
    inputs, labels, codes = hard
    trained = train_supervised("gcn", inputs, labels, codes, {"learning_rate": 0.05}, "accuracy", SHORT)
    predicted = trained.classes[trained.module(inputs).argmax(dim=1).numpy()]
    assert (predicted == labels)[codes == VAL].mean() == pytest.approx(trained.score)


def test_training_ends_when_validation_no_longer_improves(easy):
    inputs, labels, codes = easy
    settings = SupervisedSettings(max_epochs=500, patience=3)
    trained = train_supervised("gcn", inputs, labels, codes, {"learning_rate": 0.05}, "accuracy", settings)
    assert trained.score == 1.0
    assert trained.epochs < 60


def test_only_gprgnn_has_coefficients_and_they_carry_names(easy):
    result = evaluate("gprgnn", easy)
    assert result.alpha_names == tuple(f"A^{k}" for k in range(11))
    assert result.alpha.shape == (11,)
    assert evaluate("gcn", easy).alpha.size == 0


def test_gprgnn_learns_negative_coefficients_where_neighbours_differ():
    """Every edge joins the two classes and the features are noisy: odd powers have to count against a class."""
    rng = np.random.default_rng(3)
    labels = np.arange(200) % 2
    source, step = rng.integers(200, size=1500), 2 * rng.integers(0, 100, size=1500) + 1
    features = 3 * rng.standard_normal((200, 4), dtype=np.float32)
    features[:, 0] += 2 * labels
    graph = graph_from_edges(source, (source + step) % 200, name="bipartite", num_nodes=200, features=features)
    codes = random_splits(labels, 1, 0.5, 0.25, seed=0)[0]
    settings = SupervisedSettings(max_epochs=200, patience=200)
    choice = {"learning_rate": 0.05, "dropout": 0.0, "propagation_dropout": 0.0, "weight_decay": 5e-3}
    trained = train_supervised("gprgnn", GraphInputs(graph), labels, codes, choice, "accuracy", settings)
    assert trained.module.gamma[1] < 0
    assert trained.score > 0.9


def test_weight_decay_spares_the_coefficients(easy):
    inputs = easy[0]
    module = MODELS["gprgnn"](inputs.num_features, 3, torch.Generator())
    decayed, exempt = supervised._groups(module, 0.5)
    assert decayed["weight_decay"] == 0.5
    assert exempt["weight_decay"] == 0
    assert [id(p) for p in exempt["params"]] == [id(module.gamma)]
    assert len(decayed["params"]) == 4


def test_a_class_missing_from_training_is_never_predicted(easy):
    _, labels, codes = easy
    codes = np.where((labels == 2) & (codes == TRAIN), 0, codes).astype(np.int8)
    result = evaluate("h2gcn", (easy[0], labels, codes))
    assert set(result.predictions) <= {0, 1}
    assert result.scores["test_accuracy"] < 1


def test_one_class_in_training_is_one_clear_line(easy):
    inputs, labels, codes = easy
    codes = np.where((labels != 2) & (codes == TRAIN), 0, codes).astype(np.int8)
    with pytest.raises(UserError, match=r"^the training labels hold fewer than two classes; choose other splits"):
        evaluate("gcn", (inputs, labels, codes))
    with pytest.raises(UserError, match="fewer than two classes"):
        train_supervised("gcn", inputs, labels, codes, {}, "accuracy", SHORT)


def test_a_training_that_diverges_counts_as_failed_and_the_search_goes_on(easy):
    storage = optuna.storages.InMemoryStorage()
    space = {"gcn": {"learning_rate": (1e30, 0.05), "dropout": (0.0,), "weight_decay": (5e-4,)}}
    settings = SupervisedSettings(max_epochs=40, patience=15, spaces=space)
    result = evaluate("gcn", easy, budget=EvaluationSettings(trials=12), settings=settings, storage=storage)
    assert result.settings["learning_rate"] == 0.05
    failed = optuna.load_study(study_name="split", storage=storage).trials[0]
    assert failed.state == optuna.trial.TrialState.FAIL
    assert "not finite" in failed.user_attrs["error"]


def test_first_trial_takes_the_first_value_of_every_setting(easy):
    storage = optuna.storages.InMemoryStorage()
    evaluate("gprgnn", easy, budget=EvaluationSettings(trials=1), storage=storage)
    (trial,) = optuna.load_study(study_name="split", storage=storage).trials
    assert trial.params == {name: values[0] for name, values in SPACES["gprgnn"].items()}


def test_a_search_that_was_interrupted_is_taken_up_again(hard, tmp_path, monkeypatch):
    def storage():
        return JournalStorage(JournalFileBackend(str(tmp_path / "journal")))

    calls = []

    def counted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return train_supervised(*arguments)

    budget = EvaluationSettings(trials=5)
    monkeypatch.setattr(supervised, "train_supervised", counted)
    with pytest.raises(KeyboardInterrupt):
        evaluate("gcn", hard, budget=budget, storage=storage(), name="s")
    resumed = evaluate("gcn", hard, budget=budget, storage=storage(), name="s")
    ended = [t for t in optuna.load_study(study_name="s", storage=storage()).trials if t.value is not None]
    assert len(ended) == 5
    monkeypatch.undo()
    whole = evaluate("gcn", hard, budget=budget)
    assert resumed.scores["val_accuracy"] == max(t.value for t in ended)
    assert resumed.settings == whole.settings
    assert (resumed.predictions == whole.predictions).all()


def test_a_training_reports_its_best_score_and_can_be_ended_there(easy):
    inputs, labels, codes = easy
    told = []
    settings = SupervisedSettings(max_epochs=2 * supervised.REPORT_EVERY + 1, patience=500)

    def end_it(epoch, value):
        told.append((epoch, value))
        if len(told) == 2:
            raise optuna.TrialPruned

    with pytest.raises(optuna.TrialPruned):
        train_supervised("gcn", inputs, labels, codes, {}, "accuracy", settings, 0, end_it)
    assert told == [(supervised.REPORT_EVERY, 1.0), (2 * supervised.REPORT_EVERY, 1.0)]


def test_roc_auc_can_decide():
    inputs, labels, codes = toy(noise=0.5, classes=2)
    settings = SHORT
    result = evaluate_split_supervised("gcn", inputs, labels, codes, ("roc_auc", "accuracy"), BUDGET, settings)
    assert result.scores["val_roc_auc"] > 0.9
    assert set(result.scores) == {"val_roc_auc", "val_accuracy", "test_roc_auc", "test_accuracy"}


def test_an_unknown_model_is_one_clear_line(easy):
    with pytest.raises(UserError, match=r"^there is no supervised model 'gcm'; did you mean 'gcn'\?$"):
        evaluate("gcm", easy)


def test_every_model_has_a_space_of_settings_that_it_takes(easy):
    assert set(CHOICES) == set(SPACES) == set(MODELS)
    for model, space in SPACES.items():
        assert set(space) <= set(CHOICES[model].model_fields)
    assert SupervisedSettings(spaces={"gcn": {"dropout": [0.1]}}).space("gcn") == {"dropout": [0.1]}
    assert SupervisedSettings(spaces={}).space("h2gcn") == {name: list(v) for name, v in SPACES["h2gcn"].items()}


@pytest.mark.parametrize(
    ("spaces", "message"),
    [
        ({"gnc": {}}, "did you mean 'gcn'"),
        ({"gcn": {"alpha": [0.1]}}, "gcn has no setting 'alpha'"),
        ({"gprgnn": {"alpha": [1.5]}}, "less than 1"),
        ({"gcn": {"dropout": [1.0]}}, "less than 1"),
        ({"gcn": {"hidden": []}}, "no value to try"),
        ({"gcn": {"hidden": [0.5]}}, "valid integer"),
    ],
)
def test_a_wrong_space_is_refused_with_its_reason(spaces, message):
    with pytest.raises(ValidationError, match=message):
        SupervisedSettings(spaces=spaces)
