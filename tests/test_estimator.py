import json
import logging

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from examples import dense_features, exact_filters, example_graph, relabelled
from figure_kedro.datasets.tensor_file import CheckpointFile
from figure_kedro.errors import UserError
from figure_kedro.estimator import FiGURe
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.graph import Graph
from figure_kedro.methods import figure as method
from figure_kedro.methods.settings import RepresentationSettings
from oracle import encode

pytestmark = pytest.mark.usefixtures("one_thread")

TRAINING = {"max_epochs": 4, "threads": 1, "device": "cpu"}
VARIANTS = [
    {},
    {"shared": False},
    {"gcn_layers": 2},
    {"gcn_layers": 3},
    {"mlp_layers": 2},
    {"mlp_layers": 3},
    {"gcn_layers": 2, "mlp_layers": 2, "shared": False},
]


def estimator(dim=5, filters=None, training=TRAINING, **settings):
    return FiGURe(dim, filters=filters, settings=RepresentationSettings(training=training, **settings), progress=False)


def assert_same_views(left, right, **tolerance):
    assert left.keys() == right.keys()
    for name, view in left.items():
        np.testing.assert_allclose(view, right[name], err_msg=name, **(tolerance or {"rtol": 0, "atol": 0}))


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("variant", VARIANTS, ids=str)
@pytest.mark.parametrize("bank", ["monomial", "bernstein", "chebyshev"])
def test_embeddings_equal_the_oracle_under_every_filter(bank, variant, features):
    graph = example_graph(directed=True, features=features)
    figure = estimator(filters=FilterSettings(bank=bank), encoder=variant).fit(graph)
    views = figure.transform(graph)
    assert tuple(views) == figure.view_names
    for index, matrix in enumerate(exact_filters(graph, bank, 4)):
        identity_first = bank != "bernstein"
        copy = max(index - identity_first, 0) if variant.get("shared") is False else 0
        expected = encode(figure.model_.encoders[copy], dense_features(graph), matrix).detach()
        np.testing.assert_allclose(views[figure.view_names[index]], expected, atol=1e-5)


@pytest.mark.parametrize("variant", VARIANTS, ids=str)
def test_saved_and_loaded_model_gives_equal_embeddings(variant, tmp_path):
    graph = example_graph()
    figure = estimator(filters=FilterSettings(bank="bernstein", size=3, self_loops=False), encoder=variant).fit(graph)
    figure.save(tmp_path)
    loaded = FiGURe.load(tmp_path)
    assert_same_views(loaded.transform(graph), figure.transform(graph))
    assert (loaded.filters, loaded.settings, loaded.record_) == (figure.filters, figure.settings, figure.record_)
    assert loaded.checksum_ == graph.checksum()


def test_settings_are_saved_where_a_person_can_read_them(tmp_path):
    estimator().fit(example_graph()).save(tmp_path)
    settings = json.loads((tmp_path / "settings.json").read_text())
    assert settings["representation"]["dim"] == 5
    assert settings["filters"]["bank"] == "monomial"


@pytest.mark.parametrize("self_loops", [True, False])
def test_new_graph_with_other_nodes_is_embedded_and_an_isolated_node_stays_finite(self_loops):
    figure = estimator(filters=FilterSettings(self_loops=self_loops)).fit(example_graph())
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
        labels=np.arange(14) % 2,
        classes=("a", "b"),
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
        estimator(dim)


def test_bank_of_the_identity_alone_is_a_user_error():
    with pytest.raises(UserError, match="nothing to train"):
        estimator(filters=FilterSettings(size=1)).fit(example_graph())


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


@pytest.fixture
def short_of_memory(monkeypatch, caplog):
    monkeypatch.setattr(method, "available_memory", lambda device: 1000)
    caplog.set_level(logging.INFO)
    return caplog


def test_auto_strategy_takes_the_whole_graph_where_it_fits_and_says_so(caplog):
    caplog.set_level(logging.INFO)
    estimator().fit(example_graph())
    assert "strategy full on cpu: a whole-graph step takes about" in caplog.text


def test_auto_strategy_is_decoupled_when_memory_is_short_and_says_so(short_of_memory):
    made = []

    def allocate(name, shape):
        made.append(name)
        return np.empty(shape, dtype=np.float32)

    figure = estimator().fit(example_graph(), allocate=allocate)
    assert "strategy decoupled on cpu: a whole-graph step takes about" in short_of_memory.text
    assert "true_1" in made
    assert figure.record_.epochs == 4


@pytest.mark.parametrize("variant", VARIANTS[1:], ids=str)
def test_auto_strategy_stays_full_for_encoders_that_cannot_be_decoupled(variant, short_of_memory):
    estimator(encoder=variant).fit(example_graph())
    assert "strategy full on cpu" in short_of_memory.text


def test_estimate_of_memory_counts_what_every_layer_keeps(monkeypatch):
    monkeypatch.setattr("figure_kedro.methods.features.SPARSE_COLUMNS", 0)
    graph = example_graph(4000, features="sparse")
    estimates = []
    for layers in (1, 2, 3):
        figure = estimator(64, encoder={"gcn_layers": layers})
        model = figure.method.build(4000, 6)
        estimates.append(method.estimate_memory(graph, figure._normalised(graph), model, figure.settings))
    block = 4 * 4000 * 2 * 64  # three filters, two blocks a layer
    assert np.diff(estimates).tolist() == [6 * block, 6 * block]


@pytest.mark.parametrize("strategy", ["full", "sampled", "decoupled"])
def test_strategy_that_is_asked_for_is_taken(strategy, short_of_memory):
    estimator(strategy=strategy).fit(example_graph())
    assert f"strategy {strategy} on cpu, as asked for" in short_of_memory.text


def test_progress_bar_is_gone_after_training_and_after_a_mistake():
    import rich

    settings = RepresentationSettings(training={**TRAINING, "device": "cuda:99"})
    with pytest.raises(UserError, match="no device"):
        FiGURe(4, settings=settings).fit(example_graph())
    assert not rich.get_console()._live_stack
    FiGURe(4, settings=RepresentationSettings(training=TRAINING)).fit(example_graph())
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
