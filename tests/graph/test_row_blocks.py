"""Whatever is computed in blocks of rows is what is computed at once."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import example_graph
from figure_kedro.filters import normalised_adjacency
from figure_kedro.graph import graph_from_edges, row_blocks
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.graph.digest import Widened, digest_arrays
from figure_kedro.graph.statistics import statistics_table
from figure_kedro.graph.symmetry import first_asymmetry
from figure_kedro.graph.twins import twin_groups
from figure_kedro.memory import Memory, use_memory

LITTLE = Memory(limit=16 * 64 * 10)
"""Ten entries of a block while a graph is built."""

entries = st.lists(st.tuples(st.integers(0, 8), st.integers(0, 8), st.sampled_from([0.5, 1.0])), max_size=40)


@pytest.fixture
def small_blocks(monkeypatch):
    """Blocks of at most seven entries."""
    monkeypatch.setattr(row_blocks, "ENTRIES", 7)


def assert_same_csr(one, other):
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part), strict=True)


@settings(max_examples=60, deadline=None)
@given(counts=st.lists(st.integers(0, 9), max_size=30), most=st.integers(1, 12))
def test_row_blocks_hold_every_row_once_and_no_more_than_asked_for(counts, most):
    indptr = np.concatenate([[0], np.cumsum(counts)]).astype(np.int32)
    blocks = list(row_blocks.row_blocks(indptr, most))
    assert [row for block in blocks for row in range(block.start, block.stop)] == list(range(len(counts)))
    for block in blocks:
        assert sum(counts[block]) <= most or block.stop - block.start == 1


@settings(max_examples=100, deadline=None)
@given(entries=entries, mirrored=st.booleans(), most=st.integers(1, 20))
def test_first_asymmetry_names_an_entry_that_differs_from_the_one_across(entries, mirrored, most):
    dense = np.zeros((9, 9), dtype=np.float32)
    for u, v, weight in entries:
        dense[u, v] = weight
        if mirrored:
            dense[v, u] = weight
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "ENTRIES", most)
        found = first_asymmetry(sp.csr_array(dense))
    assert (found is None) == np.array_equal(dense, dense.T)
    if found is not None:
        assert dense[found] != dense[found[::-1]]


@settings(max_examples=60, deadline=None)
@given(entries=entries, weighted=st.booleans(), directed=st.booleans())
def test_graph_that_is_built_in_little_memory_is_the_same(entries, weighted, directed):
    source, target, weights = np.array(entries, dtype=np.float64).reshape(-1, 3).T
    ends = source.astype(np.int64), target.astype(np.int64)
    given = {"name": "toy", "num_nodes": 9, "directed": directed, "weights": weights if weighted else None}
    whole = graph_from_edges(*ends, **given)
    with use_memory(LITTLE):
        parts = graph_from_edges(*ends, **given)
    assert_same_csr(parts.adjacency, whole.adjacency)


@pytest.mark.parametrize(
    ("settings", "graph", "targets"),
    [
        ((1000, 10, 4, 0.8, 16), "10620a49ea509f6f19f21e59", "7d5abb2f8a481036b2ce88a9"),
        ((3001, 3, 3, 0.1, 5), "5062faa04b37339838b047ca", "2411fb9af9bfffb6114fe03b"),
        ((60, 20, 2, 0.5, 3), "99d53af835f537436003ec78", "4df0db5e01bfdc7efd6db1dd"),
    ],
)
@pytest.mark.parametrize("block", [10, 10_000])
def test_drawn_graph_does_not_depend_on_blocks_and_is_that_of_earlier_versions(
    settings, graph, targets, block, monkeypatch
):
    monkeypatch.setattr(row_blocks, "ENTRIES", block)
    drawn = generate_csbm(*settings, 1.0, 2, seed=3, name="x")
    assert (drawn.checksum[:24], drawn.targets.checksum[:24]) == (graph, targets)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("loops", [{}, {"self_loops": False}, {"loop_weight": 0.3}])
def test_operator_in_blocks_has_the_same_bits(directed, loops, monkeypatch):
    adjacency = example_graph(60, directed=directed).adjacency
    whole = normalised_adjacency(adjacency, **loops)
    monkeypatch.setattr(row_blocks, "ENTRIES", 7)
    assert_same_csr(normalised_adjacency(adjacency, **loops), whole)


@pytest.mark.parametrize("features", ["dense", "sparse", None])
@pytest.mark.parametrize("directed", [False, True])
def test_statistics_and_twins_do_not_depend_on_blocks(features, directed, monkeypatch):
    drawn = generate_csbm(40, 2.0, 2, 0.7, 0, 1.0, 2, seed=1, name="x")
    graph = example_graph(40, directed=directed, features=features, columns=2)
    whole = twin_groups(graph, features=True), statistics_table(graph, drawn.targets)
    monkeypatch.setattr(row_blocks, "ENTRIES", 7)
    np.testing.assert_array_equal(twin_groups(graph, features=True), whole[0])
    assert statistics_table(graph, drawn.targets).equals(whole[1])


def test_checksum_of_narrow_integers_is_that_of_wide_ones(small_blocks):
    numbers = np.arange(40, dtype=np.int32)
    assert digest_arrays([Widened(numbers)], "x") == digest_arrays([numbers.astype(np.int64)], "x")
