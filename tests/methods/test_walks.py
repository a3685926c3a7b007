import itertools

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from scipy.stats import chi2

from examples import example_graph
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.methods import walks as module
from figure_kedro.methods.walks import ENDED, WalkGraph, expected_visits, first_order_walks, second_order_walks


def first_order_oracle(adjacency):
    """P(x | v) as a matrix."""
    dense = adjacency.toarray().astype(float)
    return dense / np.maximum(dense.sum(1, keepdims=True), 1e-300)


def second_order_oracle(adjacency, p, q):
    """P(x | v, t) as an array with indices t, v, x, written as in the paper, one entry at a time."""
    dense = adjacency.toarray().astype(float)
    n = len(dense)
    probability = np.zeros((n, n, n))
    for t, v, x in itertools.product(range(n), repeat=3):
        alpha = 1 / p if x == t else 1.0 if dense[t, x] > 0 else 1 / q
        probability[t, v, x] = alpha * dense[v, x]
    return probability / np.maximum(probability.sum(2, keepdims=True), 1e-300)


def seeded(seed=0):
    return torch.Generator().manual_seed(seed)


def sparse_graph(directed=False):
    """Weighted, with triangles, so that every factor occurs; the last node has a single neighbour."""
    source = [0, 0, 1, 1, 2, 3, 3, 4, 5, 5, 6, 7, 8]
    target = [1, 2, 2, 3, 4, 4, 5, 6, 6, 7, 8, 8, 9]
    if directed:
        source, target = [*source, 4, 5, 6, 2, 8, 9], [*target, 3, 3, 4, 0, 5, 0]
    weights = np.linspace(0.5, 3, len(source))
    return graph_from_edges(source, target, name="ten", num_nodes=10, weights=weights, directed=directed).adjacency


def starts_of(adjacency, times):
    return torch.arange(adjacency.shape[0]).repeat(times)


def assert_frequencies(counts, probability):
    """Nothing impossible was drawn, and all else is what chance allows: a false alarm once in ten thousand."""
    assert not counts[probability == 0].any()
    expected = probability * counts.sum(1, keepdims=True)
    kept = expected > 5
    statistic = ((counts - expected)[kept] ** 2 / expected[kept]).sum()
    freedom = kept.sum() - (kept.any(1)).sum()
    assert freedom > 10
    assert chi2.sf(statistic, freedom) > 1e-4


def count(shape, *indices):
    counts = np.zeros(shape)
    np.add.at(counts, indices, 1)
    return counts


@pytest.mark.parametrize("directed", [False, True])
def test_first_order_steps_follow_the_edge_weights(directed):
    adjacency = example_graph(directed=directed, features=None).adjacency
    walks = first_order_walks(WalkGraph(adjacency), starts_of(adjacency, 20_000), 2, seeded()).numpy()
    walks = walks[walks[:, 1] != ENDED]
    assert_frequencies(count(adjacency.shape, *walks.T), first_order_oracle(adjacency))


@pytest.mark.parametrize("rounds", [0, 16])
@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize(("p", "q"), [(0.1, 5.0), (0.25, 0.5), (1.0, 3.0), (4.0, 0.25), (50.0, 2.0), (0.5, 1.0)])
def test_second_order_steps_have_the_probabilities_of_the_paper(p, q, directed, rounds, monkeypatch):
    monkeypatch.setattr(module, "ROUNDS", rounds)
    monkeypatch.setattr(module, "ENTRIES", 100_000)
    adjacency = sparse_graph(directed)
    assert_frequencies(*second_order_steps(adjacency, 3, p, q))


def test_later_steps_remember_only_the_node_before():
    assert_frequencies(*second_order_steps(sparse_graph(), 6, 0.3, 2.0))


def test_the_comparison_notices_other_probabilities():
    for (p, q), (wrong_p, wrong_q) in (((0.5, 2.0), (0.55, 2.0)), ((0.5, 2.0), (0.5, 2.2)), ((4.0, 0.25), (0.25, 4.0))):
        counts, _ = second_order_steps(sparse_graph(), 3, p, q)
        wrong = second_order_oracle(sparse_graph(), wrong_p, wrong_q).reshape(counts.shape)
        with pytest.raises(AssertionError):
            assert_frequencies(counts, wrong)


def second_order_steps(adjacency, length, p, q):
    """Counts of the last step of many walks, and their exact probabilities, a row for each pair before it."""
    n = adjacency.shape[0]
    walks = second_order_walks(WalkGraph(adjacency), starts_of(adjacency, 15_000), length, p, q, seeded(1)).numpy()
    walks = walks[walks[:, -1] != ENDED]
    counts = count((n, n, n), *walks[:, -3:].T)
    return counts.reshape(-1, n), second_order_oracle(adjacency, p, q).reshape(-1, n)


@pytest.mark.parametrize("directed", [False, True])
def test_node2vec_with_p_and_q_one_walks_as_deepwalk_does(directed):
    adjacency = example_graph(directed=directed, features=None).adjacency
    graph, starts = WalkGraph(adjacency), starts_of(adjacency, 50)
    first, second = seeded(3), seeded(3)
    expected = first_order_walks(graph, starts, 12, first)
    assert torch.equal(second_order_walks(graph, starts, 12, 1.0, 1.0, second), expected)
    assert torch.equal(first.get_state(), second.get_state())


def test_walks_keep_to_edges_and_end_where_none_leaves():
    adjacency = sp.csr_array(np.array([[0, 1, 0, 0], [0, 0, 1, 0], [0, 0, 0, 0], [0, 0, 0, 0]], dtype=np.float32))
    expected = [[0, 1, 2, ENDED], [1, 2, ENDED, ENDED], [2, ENDED, ENDED, ENDED], [3, ENDED, ENDED, ENDED]]
    graph = WalkGraph(adjacency)
    assert first_order_walks(graph, torch.arange(4), 4, seeded()).tolist() == expected
    assert second_order_walks(graph, torch.arange(4), 4, 0.5, 2.0, seeded()).tolist() == expected


def test_unsorted_rows_walk_as_sorted_ones_and_stay_unsorted():
    adjacency = example_graph(features=None).adjacency
    rows = [slice(a, b) for a, b in itertools.pairwise(adjacency.indptr)]
    indices, data = (np.concatenate([part[row][::-1] for row in rows]) for part in (adjacency.indices, adjacency.data))
    unsorted = sp.csr_array((data, indices, adjacency.indptr), shape=adjacency.shape)
    starts = starts_of(adjacency, 5)
    ours, theirs = (
        second_order_walks(WalkGraph(matrix), starts, 9, 0.5, 2.0, seeded(4)) for matrix in (unsorted, adjacency)
    )
    assert torch.equal(ours, theirs)
    np.testing.assert_array_equal(unsorted.indices, indices)


def test_weights_of_any_size_are_honoured():
    weights = np.array([[0, 1e-30, 3e-30], [1e30, 0, 1e30], [1, 1e-20, 0]], dtype=np.float32)
    walks = first_order_walks(WalkGraph(sp.csr_array(weights)), torch.arange(3).repeat(20_000), 2, seeded(5)).numpy()
    shares = count((3, 3), *walks.T) / 20_000
    np.testing.assert_allclose(shares, [[0, 0.25, 0.75], [0.5, 0, 0.5], [1, 0, 0]], atol=0.015)


@pytest.mark.parametrize("extreme", [1e-9, 1e9])
def test_extreme_p_and_q_end_in_good_time(extreme):
    adjacency = example_graph(directed=True, features=None).adjacency
    for p, q in ((extreme, 1.0), (1.0, extreme), (extreme, extreme)):
        walks = second_order_walks(WalkGraph(adjacency), starts_of(adjacency, 20), 20, p, q, seeded(6))
        assert ((walks >= ENDED) & (walks < adjacency.shape[0])).all()


@pytest.mark.parametrize("directed", [False, True])
def test_expected_visits_are_those_that_walks_make(directed):
    adjacency = example_graph(directed=directed, features=None).adjacency
    times, n = 20_000, adjacency.shape[0]
    walks = first_order_walks(WalkGraph(adjacency), starts_of(adjacency, times), 5, seeded(7))
    counted = np.bincount(walks[walks != ENDED], minlength=n) / times
    counted[-1] = 0  # alone: its walks hold no pair
    np.testing.assert_allclose(expected_visits(adjacency, 5), counted, rtol=0.02)
