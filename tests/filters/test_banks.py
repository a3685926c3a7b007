import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.filters import BANKS, build_bank, normalised_adjacency, to_torch

NAMES = ("bernstein", "chebyshev", "monomial")
every_bank = st.builds(build_bank, st.sampled_from(NAMES), st.integers(1, 11))


@st.composite
def graphs(draw, nodes=9):
    """Adjacency of a random undirected graph, often with isolated nodes and several components."""
    upper = np.triu(draw(st.integers(0, 2**32 - 1).map(lambda s: np.random.default_rng(s).random((nodes, nodes)))), 1)
    dense = (upper > draw(st.floats(0.3, 1.0))).astype(np.float32) * (upper > 0)
    return sp.csr_array(dense + dense.T)


def block_of(nodes, columns, seed=0):
    return torch.from_numpy(np.random.default_rng(seed).standard_normal((nodes, columns), dtype=np.float32))


def filtered(bank, matrix, block):
    operator = to_torch(matrix)
    return [result.numpy() for result in bank.apply(lambda x: operator @ x, block)]


def test_banks_are_the_files_of_the_folder():
    assert BANKS.names() == NAMES


def test_unknown_bank_gets_the_nearest_name():
    with pytest.raises(UserError, match="no filter bank 'bernstien'; did you mean 'bernstein'"):
        build_bank("bernstien", 4)


@settings(max_examples=120, deadline=None)
@given(adjacency=graphs(), bank=every_bank, self_loops=st.booleans())
def test_bank_equals_its_dense_eigen_decomposition(adjacency, bank, self_loops):
    matrix = normalised_adjacency(adjacency, self_loops=self_loops)
    block = block_of(9, 3)
    eigenvalues, vectors = np.linalg.eigh(np.eye(9) - matrix.toarray().astype(np.float64))
    results = filtered(bank, matrix, block)
    assert len(results) == len(bank.names) == bank.size == bank.degree + 1
    for response, result in zip(bank.response(eigenvalues), results, strict=True):
        np.testing.assert_allclose(result, vectors * response @ vectors.T @ block.numpy(), atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(adjacency=graphs(), bank=every_bank, self_loops=st.booleans())
def test_every_filter_is_symmetric(adjacency, bank, self_loops):
    for matrix in filtered(bank, normalised_adjacency(adjacency, self_loops=self_loops), torch.eye(9)):
        np.testing.assert_allclose(matrix, matrix.T, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(adjacency=graphs(), bank=every_bank, order=st.permutations(range(9)), self_loops=st.booleans())
def test_filtering_commutes_with_relabelling(adjacency, bank, order, self_loops):
    block = block_of(9, 2)
    relabelled = sp.csr_array(adjacency.toarray()[np.ix_(order, order)])
    before = filtered(bank, normalised_adjacency(adjacency, self_loops=self_loops), block)
    after = filtered(bank, normalised_adjacency(relabelled, self_loops=self_loops), block[order])
    for left, right in zip(before, after, strict=True):
        np.testing.assert_allclose(left[order], right, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(adjacency=graphs(), size=st.integers(1, 11), self_loops=st.booleans())
def test_bernstein_bank_sums_to_the_identity(adjacency, size, self_loops):
    block = block_of(9, 2)
    results = filtered(build_bank("bernstein", size), normalised_adjacency(adjacency, self_loops=self_loops), block)
    np.testing.assert_allclose(sum(results), block.numpy(), atol=1e-5)


def test_power_bank_equals_dense_matrix_power():
    path = sp.csr_array(np.diag(np.ones(3, dtype=np.float32), 1) + np.diag(np.ones(3, dtype=np.float32), -1))
    matrix = normalised_adjacency(path)
    bank = build_bank("monomial", 4)
    assert bank.names == ("I", "A", "A^2", "A^3")
    for power, result in enumerate(filtered(bank, matrix, torch.eye(4))):
        np.testing.assert_allclose(result, np.linalg.matrix_power(matrix.toarray(), power), atol=1e-6)


def test_bernstein_response_matches_hand_computation():
    # K = 3: (2 - x)^2 / 4, x (2 - x) / 2, x^2 / 4
    expected = [[1, 1 / 4, 0], [0, 1 / 2, 0], [0, 1 / 4, 1]]
    np.testing.assert_allclose(build_bank("bernstein", 3).response(np.array([0.0, 1.0, 2.0])), expected)


def test_chebyshev_response_matches_hand_computation():
    # T_0 .. T_3 of x - 1 at x = 0, 1, 1.5
    expected = [[1, 1, 1], [-1, 0, 0.5], [1, -1, -0.5], [-1, 0, -1]]
    np.testing.assert_allclose(build_bank("chebyshev", 4).response(np.array([0.0, 1.0, 1.5])), expected)


@pytest.mark.parametrize("size", range(1, 12))
def test_identities_are_exactly_the_filters_that_change_nothing(size):
    first_only = (True,) + (False,) * (size - 1)
    assert build_bank("monomial", size).identities == first_only
    assert build_bank("chebyshev", size).identities == first_only
    assert build_bank("bernstein", size).identities == ((True,) if size == 1 else (False,) * size)


@pytest.mark.parametrize("name", NAMES)
@pytest.mark.parametrize("self_loops", [True, False])
def test_isolated_node_stays_finite(name, self_loops):
    matrix = normalised_adjacency(sp.csr_array((3, 3), dtype=np.float32), self_loops=self_loops)
    bank = build_bank(name, 11)
    response = bank.response(np.array([0.0 if self_loops else 1.0]))  # L is zero with self-loops and I without
    for factor, result in zip(response, filtered(bank, matrix, torch.ones(3, 2)), strict=True):
        np.testing.assert_allclose(result, factor.item(), atol=1e-6)


@pytest.mark.parametrize("name", NAMES)
def test_apply_does_not_change_its_input(name):
    matrix = normalised_adjacency(sp.csr_array(np.ones((4, 4), dtype=np.float32) - np.eye(4, dtype=np.float32)))
    block = block_of(4, 2)
    before = block.clone()
    filtered(build_bank(name, 5), matrix, block)
    assert torch.equal(block, before)


@pytest.mark.parametrize("name", NAMES)
def test_gradient_flows_through_every_filter(name):
    ring = sp.csr_array(
        np.roll(np.eye(5, dtype=np.float32), 1, axis=0) + np.roll(np.eye(5, dtype=np.float32), -1, axis=0)
    )
    dense = torch.from_numpy(normalised_adjacency(ring).toarray()).double()
    block = block_of(5, 2).double().requires_grad_()
    bank = build_bank(name, 4)
    assert torch.autograd.gradcheck(lambda x: tuple(f * 1.0 for f in bank.apply(lambda y: dense @ y, x)), block)
