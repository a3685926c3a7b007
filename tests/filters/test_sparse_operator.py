import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.filters import SparseOperator

pytestmark = pytest.mark.usefixtures("one_thread")


@st.composite
def matrices(draw, symmetric):
    """Random sparse matrices with empty rows and columns, or with no entry at all."""
    n = draw(st.integers(1, 8))
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    dense = rng.standard_normal((n, n)) * (rng.random((n, n)) < draw(st.sampled_from([0.0, 0.2, 0.6])))
    return sp.csr_array((dense + dense.T if symmetric else dense).astype(np.float32))


def assert_multiplies_like(operator, dense, columns):
    block = torch.randn(dense.shape[1], columns, generator=torch.Generator().manual_seed(0)).requires_grad_()
    weights = torch.randn(dense.shape[0], columns, generator=torch.Generator().manual_seed(1))
    ours, theirs = operator(block), dense @ block
    torch.testing.assert_close(ours, theirs, rtol=1e-5, atol=1e-5)
    gradient, expected = (torch.autograd.grad((result * weights).sum(), block)[0] for result in (ours, theirs))
    torch.testing.assert_close(gradient, expected, rtol=1e-5, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(matrix=matrices(symmetric=True), columns=st.integers(1, 5))
def test_product_and_gradient_of_a_symmetric_matrix_equal_dense_ones(matrix, columns):
    operator = SparseOperator(matrix, symmetric=True)
    assert operator.transposed is operator.matrix
    assert_multiplies_like(operator, torch.from_numpy(matrix.toarray()), columns)


@settings(max_examples=40, deadline=None)
@given(matrix=matrices(symmetric=False), columns=st.integers(1, 5))
def test_product_and_gradient_of_any_matrix_equal_dense_ones(matrix, columns):
    assert_multiplies_like(SparseOperator(matrix), torch.from_numpy(matrix.toarray()), columns)


@pytest.mark.parametrize("shape", [(4, 9), (9, 4)])
def test_product_and_gradient_of_a_rectangular_matrix_equal_dense_ones(shape):
    matrix = sp.csr_array(sp.random_array(shape, density=0.3, dtype=np.float32, rng=np.random.default_rng(0)))
    operator = SparseOperator(matrix)
    assert operator.shape == shape
    assert_multiplies_like(operator, torch.from_numpy(matrix.toarray()), 3)


@settings(max_examples=20, deadline=None)
@given(matrix=matrices(symmetric=False), columns=st.integers(1, 5))
def test_operator_that_is_never_differentiated_keeps_no_transpose_and_multiplies_the_same(matrix, columns):
    operator = SparseOperator(matrix, differentiable=False)
    assert operator.transposed is None
    block = torch.randn(matrix.shape[1], columns, generator=torch.Generator().manual_seed(0))
    torch.testing.assert_close(operator(block), SparseOperator(matrix)(block), rtol=0, atol=0)
    with pytest.raises(RuntimeError, match="made without its transpose; make it with differentiable=True"):
        operator(block.requires_grad_())


def test_double_precision_block_is_multiplied_in_double_precision():
    matrix = sp.csr_array(np.array([[0, 1], [2, 0]], dtype=np.float32))
    block = torch.randn(2, 3, dtype=torch.float64, generator=torch.Generator().manual_seed(0)).requires_grad_()
    assert torch.autograd.gradcheck(SparseOperator(matrix), block)


def test_block_in_another_memory_order_gives_the_same_product():
    matrix = sp.csr_array(np.array([[0, 1, 0], [2, 0, 3]], dtype=np.float32))
    block = torch.arange(12.0).view(4, 3).t()
    torch.testing.assert_close(SparseOperator(matrix)(block), torch.from_numpy(matrix.toarray()) @ block)


def test_matrix_is_copied_from_its_source():
    matrix = sp.csr_array(np.eye(3, dtype=np.float32))
    operator = SparseOperator(matrix)
    matrix.data[:] = 7
    torch.testing.assert_close(operator(torch.ones(3, 1)), torch.ones(3, 1))


@settings(max_examples=40, deadline=None)
@given(matrix=matrices(symmetric=False), columns=st.integers(1, 5))
def test_product_and_gradient_backwards_equal_those_of_the_dense_transpose(matrix, columns):
    assert_multiplies_like(SparseOperator(matrix).back, torch.from_numpy(matrix.toarray()).t(), columns)


@pytest.mark.parametrize("shape", [(4, 9), (9, 4)])
def test_rectangular_matrix_goes_back_to_the_other_side(shape):
    matrix = sp.csr_array(sp.random_array(shape, density=0.3, dtype=np.float32, rng=np.random.default_rng(0)))
    assert_multiplies_like(SparseOperator(matrix).back, torch.from_numpy(matrix.toarray()).t(), 3)


def test_operator_without_its_transpose_does_not_go_back():
    operator = SparseOperator(sp.csr_array(np.array([[0, 1], [0, 0]], dtype=np.float32)), differentiable=False)
    with pytest.raises(RuntimeError, match="made without its transpose; make it with differentiable=True"):
        operator.back(torch.ones(2, 1))
