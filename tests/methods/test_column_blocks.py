"""Columns go through the filters in blocks, with the bits of all at once."""

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st

from examples import example_graph
from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.estimator import Representation
from figure_kedro.filters import BANKS, Operator
from figure_kedro.memory import Memory, is_mapped, use_memory
from figure_kedro.methods.column_blocks import column_blocks, filtered_views
from figure_kedro.methods.method import METHODS

pytestmark = pytest.mark.usefixtures("one_thread")


@given(columns=st.integers(1, 50), most=st.integers(1, 60), limit=st.integers(0, 40))
def test_column_blocks_hold_every_column_once_and_are_about_equal(columns, most, limit):
    with use_memory(Memory(16 * 4 * 100 * limit)):
        blocks = column_blocks(100, columns, most)
    widths = [block.stop - block.start for block in blocks]
    assert [column for block in blocks for column in range(block.start, block.stop)] == list(range(columns))
    assert max(widths) <= max(1, min(most, limit))
    assert max(widths) - min(widths) <= 1


@pytest.mark.parametrize("bank", ["monomial", "bernstein", "chebyshev"])
def test_views_in_files_have_the_same_bits(bank, tmp_path):
    graph = example_graph(200)
    operator = Operator.of(graph, BANKS.parse({"bank": bank, "size": 5}))
    start = np.random.default_rng(0).standard_normal((200, 9), dtype=np.float32)
    propagate = operator.on(differentiable=False)
    whole = list(filtered_views(operator.bank, propagate, start, torch.relu))
    with use_memory(Memory(16 * 4 * 200 * 2, ScratchFolder(tmp_path))):
        parts = list(filtered_views(operator.bank, propagate, start, torch.relu))
    assert [is_mapped(view) for view in parts] == [True] * 5
    for one, other in zip(whole, parts, strict=True):
        np.testing.assert_array_equal(one, other, strict=True)


@pytest.mark.parametrize("features", ["dense", "sparse"])
@pytest.mark.parametrize("method", ["untrained", "propagation"])
def test_methods_embed_in_little_memory_with_the_same_bits(method, features, tmp_path):
    graph = example_graph(200, features=features, columns=6)
    fitted = Representation(settings=METHODS.parse({"method": method}), progress=False).fit(graph)
    whole = fitted.transform(graph)
    with use_memory(Memory(16 * 4 * 200 * 2, ScratchFolder(tmp_path))):
        parts = fitted.transform(graph)
    for name, view in whole.items():
        np.testing.assert_array_equal(view, parts[name], strict=True)
