import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import bank_and_filters, example_graph, words_and_filters
from figure_kedro.filters import normalised_adjacency
from figure_kedro.methods.induced import induced_filters

pytestmark = pytest.mark.usefixtures("one_thread")


@settings(max_examples=80, deadline=None)
@given(
    name=st.sampled_from(["monomial", "bernstein", "chebyshev"]),
    size=st.integers(1, 11),
    directed=st.booleans(),
    self_loops=st.booleans(),
    nodes=st.lists(st.integers(0, 13), min_size=1, max_size=14, unique=True),
    seed=st.integers(0, 3),
)
def test_induced_filters_equal_the_sub_matrices_of_the_dense_ones(name, size, directed, self_loops, nodes, seed):
    graph = example_graph(directed=directed, seed=seed)
    bank, filters = bank_and_filters(graph, name, size, self_loops=self_loops)
    matrix = normalised_adjacency(graph.adjacency, self_loops=self_loops)
    induced = induced_filters(matrix, bank, np.array(nodes), symmetric=not directed)
    assert len(induced) == size
    for ours, dense in zip(induced, filters, strict=True):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours.toarray(), dense.numpy()[np.ix_(nodes, nodes)], atol=1e-5)


def test_paths_through_nodes_outside_the_sample_count():
    graph = example_graph()
    bank, filters = bank_and_filters(graph, "monomial", 3)
    square = filters[2].numpy()
    u, v = np.argwhere((square > 0) & (filters[1].numpy() == 0))[0]  # two steps apart
    induced = induced_filters(normalised_adjacency(graph.adjacency), bank, np.array([u, v]))
    assert induced[2].toarray()[0, 1] == pytest.approx(square[u, v], abs=1e-6)


@settings(max_examples=40, deadline=None)
@given(
    size=st.integers(1, 6),
    self_loops=st.booleans(),
    nodes=st.lists(st.integers(0, 13), min_size=1, max_size=14, unique=True),
    seed=st.integers(0, 3),
)
def test_induced_words_equal_the_sub_matrices_of_the_dense_ones(size, self_loops, nodes, seed):
    graph = example_graph(directed=True, seed=seed)
    bank, filters = words_and_filters(graph, size, self_loops=self_loops)
    matrix = normalised_adjacency(graph.adjacency, self_loops=self_loops)
    induced = induced_filters(matrix, bank, np.array(nodes), symmetric=False)
    assert len(induced) == 2**size - 1
    for name, ours, dense in zip(bank.names, induced, filters, strict=True):
        assert ours.dtype == np.float32
        np.testing.assert_allclose(ours.toarray(), dense.numpy()[np.ix_(nodes, nodes)], atol=1e-5, err_msg=name)
