"""Networks are trained and chosen on training and validation labels; test labels are read once, at the end."""

import inspect

import numpy as np
import optuna
import pytest
import torch
from optuna.storages import JournalStorage
from optuna.storages.journal import JournalFileBackend
from pydantic import ValidationError

from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS, network, score
from figure_kedro.evaluation.graph_inputs import GraphInputs
from figure_kedro.evaluation.head import Examples
from figure_kedro.evaluation.heads.gcn import GCN
from figure_kedro.evaluation.heads.gprgnn import GPRGNN
from figure_kedro.evaluation.heads.h2gcn import H2GCN
from figure_kedro.evaluation.heads.mlp import CombinedMLP, ViewInputs
from figure_kedro.evaluation.network import NetworkHead
from figure_kedro.evaluation.selection import TIE_BREAK, evaluate_split
from figure_kedro.evaluation.views import Views
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.graph.splits import TEST, TRAIN, VAL, random_splits
from figure_kedro.projections import MAPS, Projection

pytestmark = pytest.mark.usefixtures("one_thread")
MODELS = {"gcn": GCN, "gprgnn": GPRGNN, "h2gcn": H2GCN}
NETWORKS = {**MODELS, "mlp": CombinedMLP}
SHORT = {"trials": 3, "max_epochs": 40, "patience": 15}


def toy(*, noise: float, nodes: int = 120, classes: int = 3):
    """Edges inside of classes, and features around the unit vector of the class."""
    rng = np.random.default_rng(0)
    labels = np.arange(nodes) % classes
    source, step = rng.integers(nodes, size=4 * nodes), rng.integers(1, 8, size=4 * nodes)
    features = np.eye(classes, 6, dtype=np.float32)[labels] + noise * rng.standard_normal((nodes, 6), dtype=np.float32)
    graph = graph_from_edges(source, (source + classes * step) % nodes, name="toy", num_nodes=nodes, features=features)
    return graph, labels, random_splits(labels, 1, 0.5, 0.25, seed=1)[0]


def build(model, **settings):
    return HEADS.build(HEADS.parse({"head": model, **SHORT, **settings}))


def inputs_of(model, graph):
    """A graph for the networks that read one; its features as the only view for the other."""
    if model != "mlp":
        return GraphInputs(graph)
    views = Views([graph.features], Projection.fit(MAPS.parse({}), [graph.features]))
    return ViewInputs(views, torch.device("cpu"))


def evaluate(model, problem, labels=None, metrics=("accuracy",), study=None, **settings):
    graph, given, codes = problem
    labels = given if labels is None else labels
    return evaluate_split(build(model, **settings), inputs_of(model, graph), labels, codes, metrics, **(study or {}))


def train(model, problem, choice, watch=None, metric="accuracy", **settings):
    """One training; the score is that of the best epoch on validation."""
    graph, labels, codes = problem
    examples, inputs = Examples.of(labels, codes), inputs_of(model, graph)
    reached = []

    def deciding(proba, classes):
        reached.append(score(metric, labels[examples.val], proba, classes))
        return reached[-1]

    return build(model, **settings).train(inputs, choice, examples, deciding, watch), max(reached)


@pytest.fixture
def easy():
    return toy(noise=0.1)


@pytest.fixture
def hard():
    return toy(noise=3.0)


def test_networks_are_the_heads_that_train_one(easy):
    heads = {name: HEADS[name] for name in HEADS.names()}
    assert {name for name, head in heads.items() if issubclass(head, NetworkHead)} == set(NETWORKS)
    assert {name for name, head in heads.items() if head.reads == "graph"} == set(MODELS)
    for name, module in NETWORKS.items():
        assert type(build(name).network(inputs_of(name, easy[0]), 3, torch.Generator(), {})) is module


@pytest.mark.parametrize("model", NETWORKS)
def test_a_separable_graph_is_learnt_completely(model, easy):
    result = evaluate(model, easy)
    assert result.scores == {"val_accuracy": 1.0, "test_accuracy": 1.0}
    assert (result.predictions == easy[1]).all()
    assert 1 <= result.cost["epochs"] <= 40
    assert result.cost["epoch_seconds"] > 0


@pytest.mark.parametrize("model", NETWORKS)
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
    assert other.coefficients == honest.coefficients
    assert other.scores["val_accuracy"] == honest.scores["val_accuracy"]
    assert other.scores["test_accuracy"] != honest.scores["test_accuracy"]


@pytest.mark.parametrize("model", NETWORKS)
def test_every_training_sees_minus_one_in_place_of_test_labels(model, hard, monkeypatch):
    _, labels, codes = hard
    seen = []
    original = NetworkHead.train

    def spy(self, inputs, choice, examples, *rest):
        seen.append(examples.labels)
        return original(self, inputs, choice, examples, *rest)

    monkeypatch.setattr(NetworkHead, "train", spy)
    evaluate(model, hard)
    assert len(seen) >= 2
    for given in seen:
        assert (given[codes == TEST] == -1).all()
        assert (given[codes != TEST] == labels[codes != TEST]).all()


@pytest.mark.parametrize("model", NETWORKS)
def test_same_seed_gives_the_same_weights_and_another_seed_others(model, hard):
    (choice,) = build(model).first_trials(build(model).space(inputs_of(model, hard[0])))

    def weights(seed):
        trained, _ = train(model, hard, choice, seed=seed)
        return torch.cat([p.flatten() for p in trained.network.state_dict().values()])

    assert torch.equal(weights(0), weights(0))
    assert not torch.equal(weights(0), weights(1))


@pytest.mark.parametrize("model", NETWORKS)
def test_the_best_score_of_a_training_is_that_of_the_weights_it_returns(model, hard):
    graph, labels, codes = hard
    trained, best = train(model, hard, {"learning_rate": 0.05})
    predicted = trained.classes[trained.network(inputs_of(model, graph)).argmax(dim=1).numpy()]
    assert (predicted == labels)[codes == VAL].mean() == pytest.approx(best)


def test_training_ends_when_validation_no_longer_improves(easy):
    trained, best = train("gcn", easy, {"learning_rate": 0.05}, max_epochs=500, patience=3)
    assert best == 1.0
    assert trained.epochs < 60


def test_of_the_networks_on_graphs_only_gprgnn_has_coefficients_and_they_carry_names(easy):
    result = evaluate("gprgnn", easy)
    assert tuple(result.coefficients) == tuple(f"A^{k}" for k in range(11))
    assert all(isinstance(value, float) for value in result.coefficients.values())
    assert evaluate("gcn", easy).coefficients == evaluate("h2gcn", easy).coefficients == {}


def test_gprgnn_learns_negative_coefficients_where_neighbours_differ():
    """Every edge joins the two classes and the features are noisy: odd powers have to count against a class."""
    rng = np.random.default_rng(3)
    labels = np.arange(200) % 2
    source, step = rng.integers(200, size=1500), 2 * rng.integers(0, 100, size=1500) + 1
    features = 3 * rng.standard_normal((200, 4), dtype=np.float32)
    features[:, 0] += 2 * labels
    graph = graph_from_edges(source, (source + step) % 200, name="bipartite", num_nodes=200, features=features)
    codes = random_splits(labels, 1, 0.5, 0.25, seed=0)[0]
    choice = {"learning_rate": 0.05, "dropout": 0.0, "propagation_dropout": 0.0, "weight_decay": 5e-3}
    trained, best = train("gprgnn", (graph, labels, codes), choice, max_epochs=200, patience=200)
    assert trained.network.gamma[1] < 0
    assert trained.network.coefficients()["A^1"] < 0
    assert best > 0.9


@pytest.mark.parametrize(("model", "spared"), [("gprgnn", "gamma"), ("mlp", "alpha")])
def test_weight_decay_spares_the_coefficients(model, spared, easy):
    module = build(model).network(inputs_of(model, easy[0]), 3, torch.Generator(), {})
    decayed, exempt = network._groups(module, 0.5)
    assert decayed["weight_decay"] == 0.5
    assert exempt["weight_decay"] == 0
    assert [id(p) for p in exempt["params"]] == [id(getattr(module, spared))]
    assert len(decayed["params"]) == 4


def test_a_class_missing_from_training_is_never_predicted(easy):
    _, labels, codes = easy
    codes = np.where((labels == 2) & (codes == TRAIN), 0, codes).astype(np.int8)
    result = evaluate("h2gcn", (easy[0], labels, codes))
    assert set(result.predictions) <= {0, 1}
    assert result.scores["test_accuracy"] < 1


def test_one_class_in_training_is_one_clear_line(easy):
    graph, labels, codes = easy
    codes = np.where((labels != 2) & (codes == TRAIN), 0, codes).astype(np.int8)
    with pytest.raises(UserError, match=r"^the training labels hold fewer than two classes; choose other splits"):
        evaluate("gcn", (graph, labels, codes))


def test_a_training_that_diverges_counts_as_failed_and_the_search_goes_on(easy):
    storage = optuna.storages.InMemoryStorage()
    space = {"learning_rate": (1e30, 0.05), "dropout": (0.0,), "weight_decay": (5e-4,)}
    result = evaluate("gcn", easy, trials=12, space=space, study={"storage": storage})
    assert result.settings["learning_rate"] == 0.05
    failed = optuna.load_study(study_name="split", storage=storage).trials[0]
    assert failed.state == optuna.trial.TrialState.FAIL
    assert failed.user_attrs["error"].startswith("the loss of gcn is not finite")


def test_first_trial_takes_the_first_value_of_every_setting(easy):
    storage = optuna.storages.InMemoryStorage()
    evaluate("gprgnn", easy, trials=1, study={"storage": storage})
    (trial,) = optuna.load_study(study_name="split", storage=storage).trials
    assert trial.params == {name: values[0] for name, values in HEADS["gprgnn"].Settings.ranges.items()}


def test_a_search_that_was_interrupted_is_taken_up_again(hard, tmp_path, monkeypatch):
    def storage():
        return JournalStorage(JournalFileBackend(str(tmp_path / "journal")))

    calls = []
    original = NetworkHead.train

    def counted(*arguments):
        calls.append(arguments)
        if len(calls) == 3:
            raise KeyboardInterrupt
        return original(*arguments)

    monkeypatch.setattr(NetworkHead, "train", counted)
    with pytest.raises(KeyboardInterrupt):
        evaluate("gcn", hard, trials=5, study={"storage": storage(), "name": "s"})
    resumed = evaluate("gcn", hard, trials=5, study={"storage": storage(), "name": "s"})
    ended = [t for t in optuna.load_study(study_name="s", storage=storage()).trials if t.value is not None]
    assert len(ended) == 5
    monkeypatch.undo()
    whole = evaluate("gcn", hard, trials=5)
    assert 0 <= resumed.scores["val_accuracy"] - max(t.value for t in ended) < 17 * TIE_BREAK
    assert resumed.settings == whole.settings
    assert (resumed.predictions == whole.predictions).all()


def test_a_training_reports_its_best_score_and_can_be_ended_there(easy):
    _, labels, codes = easy
    told = []

    def end_it(epoch, proba, classes):
        told.append((epoch, score("accuracy", labels[codes == VAL], proba, classes)))
        if len(told) == 2:
            raise optuna.TrialPruned

    with pytest.raises(optuna.TrialPruned):
        train("gcn", easy, {}, watch=end_it, max_epochs=2 * network.WATCH_EVERY + 1, patience=500)
    assert told == [(network.WATCH_EVERY, 1.0), (2 * network.WATCH_EVERY, 1.0)]


def test_a_training_shows_the_probabilities_of_its_best_epoch_so_far(hard):
    _, labels, codes = hard
    scores, shown = [], []

    def deciding(proba, classes):
        scores.append(score("accuracy", labels[codes == VAL], proba, classes))
        return scores[-1]

    def watch(epoch, proba, classes):
        shown.append(score("accuracy", labels[codes == VAL], proba, classes))
        assert shown[-1] == max(scores[:epoch])

    head = build("gcn", max_epochs=2 * network.WATCH_EVERY, patience=500)
    head.train(GraphInputs(hard[0]), {"learning_rate": 0.1}, Examples.of(labels, codes), deciding, watch)
    assert len(shown) == 2
    assert max(scores) > scores[-1]


def test_roc_auc_can_decide():
    result = evaluate("gcn", toy(noise=0.5, classes=2), metrics=("roc_auc", "accuracy"))
    assert result.scores["val_roc_auc"] > 0.9
    assert set(result.scores) == {"val_roc_auc", "val_accuracy", "test_roc_auc", "test_accuracy"}


def test_an_unknown_model_is_one_clear_line(easy):
    with pytest.raises(UserError, match=r"^there is no head 'gcm'; did you mean 'gcn'\?$"):
        evaluate("gcm", easy)


@pytest.mark.parametrize("model", NETWORKS)
def test_every_network_has_a_space_of_settings_that_it_takes(model, easy):
    settings, inputs = HEADS[model].Settings, inputs_of(model, easy[0])
    published = {name: list(values) for name, values in settings.ranges.items()}
    assert set(published) <= set(settings.choice.model_fields)
    taken = set(settings.choice.model_fields) - {"learning_rate", "weight_decay"}
    assert taken <= set(inspect.signature(NETWORKS[model]).parameters)
    for name, values in published.items():
        assert [getattr(settings.choice(**{name: value}), name) for value in values] == values
    assert build(model, space={}).space(inputs) == published
    assert build(model, space={"dropout": [0.1]}).space(inputs) == {**published, "dropout": [0.1]}


@pytest.mark.parametrize(
    ("model", "space", "message"),
    [
        ("gcn", {"alpha": [0.1]}, "space: gcn has no 'alpha'"),
        ("gcn", {"droput": [0.1]}, "did you mean 'dropout'"),
        ("gprgnn", {"alpha": [1.5]}, "less than 1"),
        ("gcn", {"dropout": [1.0]}, "less than 1"),
        ("gcn", {"hidden": []}, "no value to try"),
        ("gcn", {"hidden": [0.5]}, "valid integer"),
        ("mlp", {"steps": [3]}, "space: mlp has no 'steps'"),
    ],
)
def test_a_wrong_space_is_refused_with_its_reason(model, space, message):
    with pytest.raises(ValidationError, match=message):
        build(model, space=space)


@pytest.mark.parametrize("model", MODELS)
def test_a_network_on_a_graph_reads_all_nodes_and_judges_those_it_is_asked_for(model, easy):
    graph = easy[0]
    nodes = np.array([3, 17, 50, 51, 119])
    module = build(model).network(GraphInputs(graph), 3, torch.Generator().manual_seed(0), {})
    with torch.no_grad():
        whole, some = module(GraphInputs(graph)), module(GraphInputs(graph, nodes=nodes))
    torch.testing.assert_close(some, whole[torch.from_numpy(nodes)], rtol=0, atol=0)
