import logging

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from examples import example_graph
from figure_kedro.errors import UserError
from figure_kedro.filters import BANKS, Operator, normalised_adjacency, oriented, to_torch
from figure_kedro.graph import graph_from_edges

# 0 - 1 - 2 - 0 is a triangle, 2 - 3 a tail, 4 is alone
EDGES = [(0, 1), (1, 2), (2, 0), (2, 3)]


def adjacency(edges=EDGES, n=5, directed=False):
    dense = np.zeros((n, n), dtype=np.float32)
    for u, v in edges:
        dense[u, v] = 1
        if not directed:
            dense[v, u] = 1
    np.fill_diagonal(dense, 0)
    return sp.csr_array(dense)


random_edges = st.lists(st.tuples(st.integers(0, 7), st.integers(0, 7)), max_size=30)


def test_five_node_graph_without_self_loops_matches_hand_computation():
    # degrees 2, 2, 3, 1, 0
    a, b, c = 1 / 2, 1 / np.sqrt(6), 1 / np.sqrt(3)
    expected = [[0, a, b, 0, 0], [a, 0, b, 0, 0], [b, b, 0, c, 0], [0, 0, c, 0, 0], [0, 0, 0, 0, 0]]
    result = normalised_adjacency(adjacency(), self_loops=False)
    np.testing.assert_allclose(result.toarray(), expected, rtol=1e-6)
    assert result.nnz == 8


def test_five_node_graph_with_self_loops_matches_hand_computation():
    # degrees 3, 3, 4, 2, 1
    t, b, c = 1 / 3, 1 / np.sqrt(12), 1 / np.sqrt(8)
    expected = [[t, t, b, 0, 0], [t, t, b, 0, 0], [b, b, 1 / 4, c, 0], [0, 0, c, 1 / 2, 0], [0, 0, 0, 0, 1]]
    result = normalised_adjacency(adjacency())
    np.testing.assert_allclose(result.toarray(), expected, rtol=1e-6)
    assert result.dtype == np.float32


@settings(max_examples=30, deadline=None)
@given(edges=random_edges, weight=st.floats(0.1, 10))
def test_heavier_loops_are_lighter_edges(edges, weight):
    """Edges counted twice beside loops counted once, as the authors have some graphs, are loops of half the weight."""
    heavier = normalised_adjacency(adjacency(edges, 8), loop_weight=weight).toarray()
    lighter = normalised_adjacency(adjacency(edges, 8) / np.float32(weight)).toarray()
    np.testing.assert_allclose(heavier, lighter, rtol=1e-5, atol=1e-7)
    filters = BANKS.parse({"loop_weight": weight})
    sources, targets = np.array(edges, dtype=int).reshape(-1, 2).T
    graph = graph_from_edges(sources, targets, name="some", num_nodes=8)
    np.testing.assert_array_equal(Operator.of(graph, filters).matrix.toarray(), heavier)


def test_weights_enter_the_degrees():
    weighted = sp.csr_array(np.array([[0, 3, 0], [3, 0, 1], [0, 1, 0]], dtype=np.float32))
    result = normalised_adjacency(weighted, self_loops=False).toarray()
    np.testing.assert_allclose(result[0, 1], 3 / np.sqrt(3 * 4), rtol=1e-6)
    np.testing.assert_allclose(result[1, 2], 1 / np.sqrt(4 * 1), rtol=1e-6)


@settings(max_examples=40, deadline=None)
@given(edges=random_edges, self_loops=st.booleans())
def test_eigenvalues_lie_between_minus_one_and_one(edges, self_loops):
    matrix = normalised_adjacency(adjacency(edges, 8), self_loops=self_loops).toarray()
    np.testing.assert_array_equal(matrix, matrix.T)
    assert np.abs(np.linalg.eigvalsh(matrix)).max() <= 1 + 1e-6


@settings(max_examples=40, deadline=None)
@given(edges=random_edges, self_loops=st.booleans())
def test_directed_singular_values_are_at_most_one(edges, self_loops):
    matrix = normalised_adjacency(adjacency(edges, 8, directed=True), self_loops=self_loops).toarray()
    assert np.isfinite(matrix).all()
    assert np.linalg.svd(matrix, compute_uv=False).max() <= 1 + 1e-6


def test_input_is_not_changed():
    given_matrix = adjacency()
    before = given_matrix.copy()
    normalised_adjacency(given_matrix)
    np.testing.assert_array_equal(given_matrix.toarray(), before.toarray())


@pytest.mark.parametrize("columns", [1, 4])
def test_torch_product_equals_scipy_product(columns):
    matrix = normalised_adjacency(adjacency())
    block = np.random.default_rng(0).standard_normal((5, columns), dtype=np.float32)
    np.testing.assert_allclose((to_torch(matrix) @ torch.from_numpy(block)).numpy(), matrix @ block, rtol=1e-5)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("self_loops", [False, True])
def test_operator_of_a_graph_is_its_normalised_adjacency_with_the_chosen_bank(directed, self_loops):
    source, target = np.array(EDGES).T
    graph = graph_from_edges(source, target, name="toy", num_nodes=5, directed=directed)
    operator = Operator.of(graph, BANKS.parse({"bank": "chebyshev", "size": 3, "self_loops": self_loops}))
    expected = normalised_adjacency(adjacency(directed=directed), self_loops=self_loops).toarray()
    np.testing.assert_array_equal(operator.matrix.toarray(), expected)
    assert operator.symmetric is not directed
    assert operator.bank.names == ("T_0", "T_1", "T_2")
    block = torch.eye(5)
    np.testing.assert_allclose(operator.on("cpu")(block).numpy(), expected, rtol=1e-6)
    assert (operator.on("cpu", differentiable=False).transposed is None) is directed


both_kinds_of_loops = pytest.mark.parametrize("self_loops", [False, True])


def directed_operator(graph, direction, self_loops=True, **filters):
    return Operator.of(graph, BANKS.parse({"direction": direction, "self_loops": self_loops, **filters}))


def assert_same_bits(ours, theirs):
    for part in ("data", "indices", "indptr"):
        np.testing.assert_array_equal(getattr(ours, part), getattr(theirs, part))


@both_kinds_of_loops
def test_in_is_the_transpose_of_out(self_loops):
    graph = example_graph(directed=True)
    into, out = (directed_operator(graph, direction, self_loops) for direction in ("in", "out"))
    np.testing.assert_allclose(into.matrix.toarray(), out.matrix.toarray().T, rtol=1e-6)
    assert not np.allclose(into.matrix.toarray(), out.matrix.toarray())
    assert not into.symmetric
    assert not out.symmetric


@both_kinds_of_loops
def test_ignored_direction_gives_the_operator_of_the_symmetrised_graph(self_loops):
    graph = example_graph(directed=True)
    dense = graph.adjacency.toarray()
    assert ((dense > 0) & (dense.T > 0) & (dense != dense.T)).any(), "some pair must have two weights"
    symmetrised = sp.csr_array(np.maximum(dense, dense.T))
    operator = directed_operator(graph, "ignore", self_loops)
    assert_same_bits(operator.matrix, normalised_adjacency(symmetrised, self_loops=self_loops))
    np.testing.assert_array_equal(operator.matrix.toarray(), operator.matrix.toarray().T)
    assert operator.symmetric
    multiplied = operator.on(differentiable=False)
    assert multiplied.transposed is multiplied.matrix


@both_kinds_of_loops
@pytest.mark.parametrize("directed", [False, True])
def test_auto_leaves_the_adjacency_as_it_is(directed, self_loops):
    graph = example_graph(directed=directed)
    plain = normalised_adjacency(graph.adjacency, self_loops=self_loops)
    for direction in ("auto", "out" if directed else "ignore"):
        operator = directed_operator(graph, direction, self_loops)
        assert_same_bits(operator.matrix, plain)
        assert operator.symmetric is not directed
    assert directed_operator(graph, "auto").filters == BANKS.parse({})


def test_what_a_node_looks_at_stands_in_its_row():
    chain = graph_from_edges(np.array([0, 1]), np.array([1, 2]), name="chain", num_nodes=3, directed=True)
    rows = {
        direction: [
            np.flatnonzero(row).tolist() for row in oriented(chain, BANKS.parse({"direction": direction})).toarray()
        ]
        for direction in ("auto", "out", "both", "in", "ignore")
    }
    assert rows["auto"] == rows["out"] == rows["both"] == [[1], [2], []]
    assert rows["in"] == [[], [0], [1]]
    assert rows["ignore"] == [[1], [0, 2], [1]]


@pytest.mark.parametrize("direction", ["out", "in", "both"])
def test_direction_of_an_undirected_graph_is_one_clear_line(direction):
    with pytest.raises(UserError) as error:
        directed_operator(example_graph(), direction)
    assert str(error.value) == (
        f"filters.direction={direction} needs a directed graph and example is undirected; set source.directed=true "
        "if its source has that setting, or leave filters.direction out"
    )


def warnings_in(caplog):
    return [record for record in caplog.records if record.levelno >= logging.WARNING]


@pytest.mark.parametrize("direction", ["auto", "out", "in"])
def test_high_orders_of_chebyshev_on_a_directed_graph_are_warned_of_once(direction, caplog):
    with caplog.at_level(logging.WARNING):
        directed_operator(example_graph(directed=True), direction, bank="chebyshev", size=11)
    (record,) = warnings_in(caplog)
    assert "not bounded" in record.getMessage()
    assert "order 10;" in record.getMessage()
    assert "\n" not in record.getMessage()


def test_no_other_bank_or_graph_is_warned_of(caplog):
    directed, undirected = example_graph(directed=True), example_graph()
    with caplog.at_level(logging.WARNING):
        directed_operator(directed, "ignore", bank="chebyshev", size=11)
        directed_operator(undirected, "auto", bank="chebyshev", size=11)
        directed_operator(directed, "out", bank="chebyshev", size=4)
        directed_operator(directed, "out", bank="bernstein", size=11)
        directed_operator(directed, "both", bank="monomial", size=4)
    assert not warnings_in(caplog)
