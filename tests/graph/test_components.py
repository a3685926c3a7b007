"""Connected components are those of scipy, whatever the blocks of edges."""

import numpy as np
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.graph import row_blocks
from figure_kedro.graph.components import components


@settings(max_examples=100, deadline=None)
@given(seed=st.integers(0, 1000), n=st.integers(1, 60), density=st.floats(0, 0.06), most=st.integers(1, 50))
def test_components_are_named_by_their_smallest_node(seed, n, density, most):
    adjacency = sp.random_array((n, n), density=density, format="csr", rng=seed)
    _, labels = sp.csgraph.connected_components(adjacency, directed=False)
    smallest = np.array([np.flatnonzero(labels == label)[0] for label in labels])
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(row_blocks, "ENTRIES", most)
        np.testing.assert_array_equal(components(adjacency), smallest)


def test_a_long_path_in_any_order_is_one_component():
    order = np.random.default_rng(0).permutation(5000)
    path = sp.csr_array((np.ones(4999), (order[:-1], order[1:])), shape=(5000, 5000))
    assert not components(path).any()
