import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from estimators import TRAINING, VARIANTS, assert_same_views, estimator, halves
from examples import dense_features, exact_filters, example_graph, relabelled, words_and_filters
from figure_kedro.datasets.files.tensor_file import CheckpointFile
from figure_kedro.errors import UserError
from figure_kedro.estimator import FiGURe, Representation
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.kinds.deepwalk import DeepWalkSettings
from figure_kedro.methods.kinds.figure import FigureSettings
from figure_kedro.methods.method import METHODS
from oracle import encode

pytestmark = pytest.mark.usefixtures("one_thread")


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("bank", ["monomial", "bernstein", "chebyshev"])
def test_embeddings_equal_the_oracle_under_every_filter(bank, variant, features):
    graph = example_graph(directed=True, features=features)
    figure = estimator(filters=BANKS.parse({"bank": bank}), encoder=variant).fit(graph)
    views = figure.transform(graph)
    assert tuple(views) == figure.view_names
    for index, matrix in enumerate(exact_filters(graph, bank, 4)):
        identity_first = bank != "bernstein"
        copy = max(index - identity_first, 0) if variant.get("shared") is False else 0
        expected = encode(figure.model_.encoders[copy], dense_features(graph), matrix).detach()
        np.testing.assert_allclose(views[figure.view_names[index]], expected, atol=1e-5)


@pytest.mark.parametrize(
    ("strategy", "variant"),
    [(strategy, variant) for strategy in ("full", "sampled") for variant in VARIANTS] + [("decoupled", {})],
    ids=str,
)
def test_embeddings_equal_the_oracle_under_every_word(strategy, variant, tmp_path):
    graph = example_graph(directed=True)
    bank, words = words_and_filters(graph, 3, self_loops=False)
    filters = bank.settings.model_copy(update={"self_loops": False})
    figure = estimator(filters=filters, encoder=variant, strategy=strategy).fit(graph)
    views = figure.transform(graph)
    assert tuple(views) == figure.view_names == bank.names
    for index, (view, matrix) in enumerate(zip(views.values(), words, strict=True)):
        copy = max(index - 1, 0) if variant.get("shared") is False else 0
        expected = encode(figure.model_.encoders[copy], dense_features(graph), matrix).detach()
        np.testing.assert_allclose(view, expected, atol=1e-5)
    figure.save(tmp_path)
    assert_same_views(FiGURe.load(tmp_path).transform(graph), views)


@pytest.mark.parametrize("method", ["figure", "dgi", "mvgrl", "grace", "sugrl", "untrained", "propagation"])
def test_looking_the_other_way_is_the_same_as_turning_every_edge(method):
    graph = example_graph(directed=True)
    turned = dataclasses.replace(graph, adjacency=sp.csr_array(graph.adjacency.T))
    training = {} if method == "propagation" else {"training": {"threads": 1}}
    if method not in ("untrained", "propagation"):
        training["training"]["max_epochs"] = 3
    settings = METHODS.parse({"method": method, **training})

    def embedded(given, direction):
        fitted = Representation(filters=BANKS.parse({"direction": direction}), settings=settings, progress=False)
        return fitted.fit(given).transform(given)

    into = embedded(graph, "in")
    assert_same_views(into, embedded(turned, "out"), atol=1e-4)
    assert any(not np.allclose(view, into[name], atol=1e-3) for name, view in embedded(graph, "out").items())


@pytest.mark.parametrize("self_loops", [True, False])
def test_new_graph_with_other_nodes_is_embedded_and_an_isolated_node_stays_finite(self_loops):
    figure = estimator(filters=BANKS.parse({"self_loops": self_loops})).fit(example_graph())
    new = example_graph(30, seed=5)
    assert new.adjacency[[29]].nnz == 0
    for view in figure.transform(new).values():
        assert view.shape == (30, 5)
        assert view.dtype == np.float32
        assert np.isfinite(view).all()


def test_new_nodes_change_only_the_embeddings_that_their_edges_reach():
    graph = example_graph()
    figure = estimator().fit(graph)
    grown = Graph(
        "grown",
        np.arange(15),
        sp.block_diag([graph.adjacency, sp.csr_array((1, 1), dtype=np.float32)], format="csr"),
        features=np.vstack([graph.features, np.ones((1, 6), dtype=np.float32)]),
    )
    before, after = figure.transform(graph), figure.transform(grown)
    assert_same_views({name: view[:14] for name, view in after.items()}, before, atol=1e-6)


def test_node_ids_do_not_matter():
    graph = example_graph()
    named = Graph(graph.name, np.array([f"node {i}" for i in range(14)]), graph.adjacency, features=graph.features)
    assert_same_views(estimator().fit(graph).transform(graph), estimator().fit(named).transform(named))


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_embedding_commutes_with_relabelling(variant, directed):
    graph = example_graph(directed=directed)
    order = np.random.default_rng(0).permutation(graph.num_nodes)
    figure = estimator(encoder=variant).fit(graph)
    before, after = figure.transform(graph), figure.transform(relabelled(graph, order))
    assert_same_views({name: view[order] for name, view in before.items()}, after, atol=1e-5)


def test_labels_and_splits_do_not_matter():
    graph = example_graph()
    labelled = Graph(
        graph.name,
        graph.ids,
        graph.adjacency,
        features=graph.features,
        targets=halves(2),
    )
    assert_same_views(estimator().fit(graph).transform(graph), estimator().fit(labelled).transform(graph))


def test_wrong_number_of_features_is_a_user_error():
    figure = estimator().fit(example_graph())
    with pytest.raises(UserError, match="example has 7 features, but the model was trained on 6"):
        figure.transform(example_graph(columns=7))


def test_graph_without_features_cannot_stand_for_one_with_features():
    figure = estimator().fit(example_graph(130, columns=128))
    with pytest.raises(UserError, match="example has no features, but the model was trained on 128"):
        figure.transform(example_graph(130, features=None))


def walker():
    settings = DeepWalkSettings(dim=4, length=5, training=TRAINING)
    return Representation(settings=settings, progress=False).fit(example_graph())


@pytest.mark.parametrize("stored", [False, True])
def test_deepwalk_accepts_the_same_edges_with_other_splits_or_features(stored, tmp_path):
    graph, deepwalk = example_graph(), walker()
    views = deepwalk.transform(graph)
    if stored:
        deepwalk.save(tmp_path)
        deepwalk = Representation.load(tmp_path)
    for changed in (
        dataclasses.replace(graph, targets=halves(1)),
        dataclasses.replace(graph, targets=halves(3, metric="roc_auc")),
        graph.with_features(graph.features + 1),
        graph.with_features(np.ones((14, 2), dtype=np.float32)),
        dataclasses.replace(graph, features=None, name="renamed"),
    ):
        assert_same_views(deepwalk.transform(changed), views)


@pytest.mark.parametrize("stored", [False, True])
def test_deepwalk_refuses_other_edges(stored, tmp_path):
    graph, deepwalk = example_graph(), walker()
    if stored:
        deepwalk.save(tmp_path)
        deepwalk = Representation.load(tmp_path)
    without, heavier = graph.adjacency.tolil(), graph.adjacency.copy()
    u, v = (int(end[0]) for end in graph.adjacency.nonzero())
    without[u, v] = without[v, u] = 0
    heavier.data *= 2
    order = np.roll(np.arange(14), 1)
    for other in (
        dataclasses.replace(graph, adjacency=sp.csr_array(without)),
        dataclasses.replace(graph, adjacency=heavier),
        dataclasses.replace(graph, directed=True),
        dataclasses.replace(graph, ids=graph.ids + 1),
        relabelled(graph, order),
        example_graph(seed=1),
    ):
        with pytest.raises(UserError, match="knows only the nodes that it was trained on") as caught:
            deepwalk.transform(other)
        assert "\n" not in str(caught.value)


@pytest.mark.parametrize("use", ["transform", "save"])
def test_estimator_that_was_not_fitted_says_so(use, tmp_path):
    argument = example_graph() if use == "transform" else tmp_path
    with pytest.raises(UserError, match="fit"):
        getattr(estimator(), use)(argument)


def test_missing_model_is_a_user_error(tmp_path):
    with pytest.raises(UserError, match="no trained model in"):
        FiGURe.load(tmp_path)


@pytest.mark.parametrize("dim", [0, -3])
def test_dimension_below_one_is_a_user_error(dim):
    with pytest.raises(UserError, match="dim"):
        estimator(dim).fit(example_graph())


def test_bank_of_the_identity_alone_is_a_user_error():
    with pytest.raises(UserError, match="nothing to train"):
        estimator(filters=BANKS.parse({"size": 1})).fit(example_graph())


def test_two_estimators_side_by_side_share_no_file(tmp_path, monkeypatch):
    (tmp_path / "here").mkdir()
    monkeypatch.chdir(tmp_path / "here")
    graph = example_graph()
    views = {}
    for name, seed in (("a", 0), ("b", 1)):
        figure = estimator(training=TRAINING | {"seed": seed})
        figure.fit(graph, checkpoints=CheckpointFile(tmp_path / name / "checkpoint")).save(tmp_path / name)
        views[name] = figure.transform(graph)
    files = {str(path.relative_to(tmp_path)) for path in tmp_path.rglob("*") if path.is_file()}
    assert files == {f"{n}/{file}" for n in "ab" for file in ("checkpoint", "settings.json", "weights.safetensors")}
    for name, expected in views.items():
        assert_same_views(FiGURe.load(tmp_path / name).transform(graph), expected)


@pytest.mark.parametrize("directed", [False, True])
def test_graph_without_features_is_given_structural_ones(directed, tmp_path):
    graph = example_graph(directed=directed, features=None)
    figure = estimator().fit(graph)
    views = figure.transform(graph)
    assert all(np.isfinite(view).all() for view in views.values())
    figure.save(tmp_path)
    assert_same_views(FiGURe.load(tmp_path).transform(graph), views)


@pytest.mark.parametrize(("chance", "warned"), [(0.1, True), (10.0, False)])
def test_training_that_is_no_better_than_guessing_is_said(chance, warned, caplog):
    figure = estimator()
    figure.method.chance_loss = chance
    figure.fit(example_graph())
    assert ("is not below that of guessing" in caplog.text) is warned


def test_operator_that_is_at_hand_gives_the_same_embeddings():
    graph, filters = example_graph(directed=True), BANKS.parse({"self_loops": False})
    operator = Operator.of(graph, filters)
    plain = estimator(filters=filters).fit(graph)
    given = estimator(filters=filters).fit(graph, operator=operator)
    assert_same_views(given.embed(graph, operator), plain.transform(graph))


def test_embeddings_are_computed_when_they_are_asked_for_and_once(monkeypatch):
    graph = example_graph()
    figure = estimator().fit(graph)
    computed, embed = [], figure.method.embed
    monkeypatch.setattr(figure.method, "embed", lambda *given: computed.append(1) or embed(*given))
    views = figure.embed(graph)
    assert (tuple(views), views.width, len(computed)) == (("I", "A", "A^2", "A^3"), 5, 0)
    assert views["A"].shape == views["I"].shape == (14, 5)
    assert len(computed) == 1


def test_progress_bar_is_gone_after_training_and_after_a_mistake():
    import rich

    settings = FigureSettings(training={**TRAINING, "device": "cuda:99"})
    with pytest.raises(UserError, match="no device"):
        FiGURe(4, settings=settings).fit(example_graph())
    assert not rich.get_console()._live_stack
    FiGURe(4, settings=FigureSettings(training=TRAINING)).fit(example_graph())
    assert not rich.get_console()._live_stack


def test_training_leaves_global_random_states_alone():
    before = torch.get_rng_state(), np.random.get_state()[1].copy()  # noqa: NPY002
    estimator().fit(example_graph())
    assert torch.equal(torch.get_rng_state(), before[0])
    np.testing.assert_array_equal(np.random.get_state()[1], before[1])  # noqa: NPY002


def test_large_learning_rate_stops_with_epoch_and_learning_rate():
    settings = {"learning_rate": 1e6, "max_epochs": 50, "threads": 1, "device": "cpu"}
    with pytest.raises(UserError, match=r"at epoch \d+ with learning rate 1e\+06"):
        estimator(training=settings).fit(example_graph(40, seed=2))


@pytest.mark.parametrize("method", ["figure", "untrained", "dgi", "mvgrl", "grace", "sugrl"])
def test_features_that_stay_sparse_are_embedded_as_dense_ones_are(method, monkeypatch):
    sparse = example_graph(features="sparse")
    dense = sparse.with_features(sparse.features.toarray())
    training = {"threads": 1} if method == "untrained" else {"threads": 1, "max_epochs": 3}
    settings = METHODS.parse({"method": method, "dim": 5, "training": training})
    fitted = Representation(settings=settings, progress=False).fit(dense)
    expected = fitted.transform(dense)
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    assert_same_views(fitted.transform(sparse), expected, atol=1e-6)
