import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.graph.minesweeper import generate_minesweeper
from figure_kedro.graph.statistics import edge_homophily, statistics_table


def minesweeper(rows=100, columns=100, mines=0.2, hidden=0.5, splits=10, seed=0, name="minesweeper_generated"):
    return generate_minesweeper(rows, columns, mines, hidden, splits, seed, name)


def csbm(nodes=2000, degree=10.0, classes=3, homophily=0.3, features=8, signal=1.0, splits=2, seed=0, name="csbm"):
    return generate_csbm(nodes, degree, classes, homophily, features, signal, splits, seed, name)


def test_generated_board_has_the_published_statistics():
    graph = minesweeper()
    row = statistics_table(graph, graph.targets).iloc[0]
    published = {"nodes": 10_000, "edges": 39_402, "features": 7, "classes": 2, "splits": 10, "isolated_nodes": 0}
    assert {key: row[key] for key in published} == published
    for codes in graph.targets.splits:  # whole board, and mines alone
        assert list(np.bincount(codes)) == [0, 5000, 2500, 2500]
        assert list(np.bincount(codes[graph.targets.labels == 1])) == [0, 1000, 500, 500]
    assert graph.targets.labels.sum() == 2000
    assert graph.features[:, 0].sum() == 5000
    # a random pair of cells has equal labels with probability 0.68; the published board has 0.6828
    assert row["homophily"] == pytest.approx(0.68, abs=0.01)
    # published column sums of shown counts: 858, 1726, 1442, 677, 232, 65
    np.testing.assert_allclose(graph.features[:, 1:].sum(axis=0), [858, 1726, 1442, 677, 232, 65], atol=160)


@settings(max_examples=25, deadline=None)
@given(
    rows=st.integers(3, 7),
    columns=st.integers(3, 7),
    mines=st.floats(0.2, 0.8),
    hidden=st.floats(0, 1),
    seed=st.integers(0, 99),
)
def test_features_say_how_many_mines_are_around(rows, columns, mines, hidden, seed):
    graph = minesweeper(rows, columns, mines, hidden, 0, seed)
    board = graph.targets.labels.reshape(rows, columns)
    around = np.pad(board, 1)
    for cell, feature in enumerate(graph.features):
        i, j = divmod(cell, columns)
        count = around[i : i + 3, j : j + 3].sum() - board[i, j]
        assert feature.sum() == 1
        assert feature[0] == 1 or feature[1 + min(count, 5)] == 1
    assert graph.features[:, 0].sum() == round(hidden * rows * columns)
    assert graph.num_edges == rows * (columns - 1) + (rows - 1) * columns + 2 * (rows - 1) * (columns - 1)


@pytest.mark.parametrize("generate", [minesweeper, csbm])
def test_same_seed_gives_the_same_graph_and_another_seed_another(generate):
    first, again, other = (generate(seed=seed) for seed in (5, 5, 6))
    assert first.checksum == again.checksum != other.checksum
    assert first.targets.checksum == again.targets.checksum != other.targets.checksum
    assert first.generated["seed"] == 5


@pytest.mark.parametrize(
    "bad", [{"rows": 1}, {"columns": 0}, {"mines": 0.0}, {"mines": 1.0}, {"mines": -0.2}, {"hidden": 1.5}]
)
def test_impossible_board_is_refused_in_one_line(bad):
    with pytest.raises(UserError, match=r"minesweeper_generated: [^\n]*$"):
        minesweeper(**bad)


@pytest.mark.parametrize("homophily", [0.0, 0.1, 0.5, 0.9, 1.0])
@pytest.mark.parametrize("classes", [2, 5])
def test_degree_and_homophily_are_as_asked(homophily, classes):
    graph = csbm(20_000, 10, classes, homophily)
    edges = 100_000
    assert graph.num_edges == pytest.approx(edges, abs=5 * np.sqrt(edges))
    spread = np.sqrt(homophily * (1 - homophily) / edges)
    assert edge_homophily(graph, graph.targets.labels) == pytest.approx(homophily, abs=5 * spread)
    assert np.ptp(np.bincount(graph.targets.labels)) <= 1


def test_every_pair_of_a_class_is_joined_at_probability_one():
    graph = csbm(nodes=14, degree=2 * (10 + 10 + 6) / 14, classes=3, homophily=1.0, splits=0)
    same = graph.targets.labels[:, None] == graph.targets.labels
    np.testing.assert_array_equal(graph.adjacency.toarray(), same & ~np.eye(14, dtype=bool))


def test_every_pair_between_classes_is_joined_at_probability_one():
    graph = csbm(nodes=14, degree=2 * (25 + 20 + 20) / 14, classes=3, homophily=0.0, splits=0)
    np.testing.assert_array_equal(graph.adjacency.toarray(), graph.targets.labels[:, None] != graph.targets.labels)


def test_every_pair_of_equal_labels_is_equally_likely():
    counts = np.zeros((7, 7))
    for seed in range(400):
        graph = csbm(nodes=7, degree=2.0, classes=2, homophily=0.6, features=0, splits=0, seed=seed)
        order = np.argsort(graph.targets.labels, kind="stable")
        counts += graph.adjacency.toarray()[np.ix_(order, order)]
    inside, between = 0.6 * 7 / (6 + 3), 0.4 * 7 / 12
    expected = np.where(np.subtract.outer(np.arange(7) < 4, np.arange(7) < 4, dtype=int) == 0, inside, between)
    np.fill_diagonal(expected, 0)
    np.testing.assert_allclose(counts / 400, expected, atol=5 * np.sqrt(0.25 / 400))


def test_class_means_of_features_have_the_norm_of_the_signal():
    graph = csbm(nodes=30_000, degree=1, classes=3, features=16, signal=4.0)
    means = np.stack([graph.features[graph.targets.labels == c].mean(axis=0) for c in range(3)])
    np.testing.assert_allclose(np.linalg.norm(means, axis=1), 4.0, atol=0.1)
    noise = graph.features - means[graph.targets.labels]
    np.testing.assert_allclose(noise.std(axis=0), 1.0, atol=0.03)
    assert graph.features.dtype == np.float32


def test_splits_are_halves_and_quarters():
    assert list(np.bincount(csbm(nodes=1200).targets.splits[0])) == [0, 600, 300, 300]


def test_graph_without_features_can_be_asked_for():
    assert csbm(features=0).features is None


@pytest.mark.parametrize(
    "bad",
    [{"nodes": 5}, {"classes": 1}, {"homophily": 1.1}, {"degree": -1}, {"signal": -1}, {"nodes": 30, "degree": 20}],
)
def test_impossible_block_model_is_refused_in_one_line(bad):
    with pytest.raises(UserError, match=r"csbm: [^\n]*$"):
        csbm(**{"homophily": 0.9, **bad})
