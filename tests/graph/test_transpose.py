"""A matrix is turned around in little memory as in much, bit for bit."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.features.kinds.degrees import degree_features
from figure_kedro.graph import graph_from_edges, row_blocks
from figure_kedro.graph.transpose import transposed, with_both_directions
from figure_kedro.memory import Memory, is_mapped, use_memory


@pytest.fixture(scope="module")
def little(tmp_path_factory):
    """So little memory that every array lies in a file, and blocks of a few entries."""
    before, row_blocks.ENTRIES = row_blocks.ENTRIES, 7
    yield Memory(1, ScratchFolder(tmp_path_factory.mktemp("scratch")))
    row_blocks.ENTRIES = before


def drawn(seed, rows, columns):
    matrix = sp.random_array((rows, columns), density=0.3, format="csr", dtype=np.float32, rng=seed)
    matrix.sort_indices()
    return matrix


def assert_same(one, other):
    for part in ("indptr", "indices", "data"):
        np.testing.assert_array_equal(getattr(one, part), getattr(other, part), strict=True)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), rows=st.integers(1, 30), columns=st.integers(1, 30))
def test_the_transpose_in_blocks_is_that_of_scipy(little, seed, rows, columns):
    matrix = drawn(seed, rows, columns)
    with use_memory(little):
        found = transposed(matrix)
    assert_same(found, sp.csr_array(matrix.T))
    assert matrix.nnz == 0 or is_mapped(found.data)


@settings(max_examples=30, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(1, 30))
def test_both_directions_in_blocks_are_those_of_scipy(little, seed, n):
    matrix = drawn(seed, n, n)
    with use_memory(little):
        found = with_both_directions(matrix)
    assert_same(found, sp.csr_array(matrix.maximum(matrix.T)))


@pytest.mark.parametrize("directed", [True, False])
def test_degrees_and_pagerank_are_the_same_in_blocks(little, directed):
    ends = np.random.default_rng(0).integers(60, size=(2, 200))
    graph = graph_from_edges(*ends, name="toy", num_nodes=70, directed=directed)
    with use_memory(little):
        found = degree_features(graph)
    row_blocks.ENTRIES = 1 << 21
    np.testing.assert_array_equal(found, degree_features(graph))
    row_blocks.ENTRIES = 7
