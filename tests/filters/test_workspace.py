"""Arrays that are used again in every step, and are freed after the last one."""

import gc
import weakref

import numpy as np
import pytest
import scipy.sparse as sp
import torch

from figure_kedro.filters import SparseOperator, Workspace

MATRIX = sp.csr_array(np.array([[0, 1, 2], [3, 0, 0], [0, 4, 5]], dtype=np.float32))


def test_the_same_arrays_come_again_after_a_step():
    workspace, like = Workspace(), torch.zeros(1)
    first, second = workspace.take((2, 3), like), workspace.take((2, 3), like)
    assert first.data_ptr() != second.data_ptr()
    workspace.rewind()
    assert workspace.take((2, 3), like).data_ptr() == first.data_ptr()
    assert workspace.take((4,), like).shape == (4,), "another shape gets another array"


@pytest.mark.parametrize("backward", [False, True])
def test_nothing_of_a_differentiated_product_outlives_its_operator(backward):
    """In a process that makes one run after another."""
    operator = SparseOperator(MATRIX, workspace=Workspace())
    result = operator(2 * operator(torch.ones(3, 2, requires_grad=True)))
    if backward:
        result.sum().backward()
    kept = weakref.ref(operator)
    del operator, result
    gc.collect()
    assert kept() is None
