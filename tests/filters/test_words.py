"""Words in the two directions of a directed graph."""

import numpy as np
import pytest
import torch

from examples import NODES, example_graph, example_operator, relabelled, unweighted, words_and_filters
from figure_kedro.filters import BANKS, Operator, SparseOperator, build_bank, normalised_adjacency
from figure_kedro.filters.words import Words
from figure_kedro.graph import graph_from_edges

pytestmark = pytest.mark.usefixtures("one_thread")


def words(size):
    return BANKS.build(BANKS.parse({"size": size, "direction": "both"}))


def block_of(nodes, columns=3):
    return torch.randn(nodes, columns, generator=torch.Generator().manual_seed(0))


class Counting:
    """An operator that counts its products."""

    def __init__(self, operator):
        self.operator, self.forth, self.backwards = operator, 0, 0

    def __call__(self, block):
        self.forth += 1
        return self.operator(block)

    def back(self, block):
        self.backwards += 1
        return self.operator.back(block)


def test_monomial_bank_in_both_directions_is_one_of_words():
    assert isinstance(words(3), Words)
    for direction in ("auto", "ignore", "out", "in"):
        assert not isinstance(BANKS.build(BANKS.parse({"direction": direction})), Words)


@pytest.mark.parametrize("self_loops", [True, False])
@pytest.mark.parametrize("weighted", [True, False])
@pytest.mark.parametrize("size", range(1, 6))
def test_every_word_equals_the_dense_product_of_its_letters(size, weighted, self_loops):
    graph = example_graph(directed=True, seed=size)
    graph = graph if weighted else unweighted(graph)
    bank, filters = words_and_filters(graph, size, self_loops=self_loops)
    results = list(bank.apply(example_operator(graph, self_loops=self_loops), torch.eye(NODES)))
    assert len(results) == len(filters)
    for name, result, dense in zip(bank.names, results, filters, strict=True):
        np.testing.assert_allclose(result.numpy(), dense.numpy(), atol=1e-5, err_msg=name)
    if size > 2:
        by_name = dict(zip(bank.names, results, strict=True))
        assert not torch.allclose(by_name["AA^T"], by_name["A^TA"], atol=1e-3), "the order of letters must count"


@pytest.mark.parametrize("size", range(1, 8))
def test_there_are_two_to_the_size_minus_one_words(size):
    bank = words(size)
    assert bank.size == len(bank.names) == len(set(bank.names)) == len(bank.labels) == 2**size - 1
    assert (bank.degree, bank.products) == (size - 1, 2**size - 2)
    assert bank.identities == (True,) + (False,) * (2**size - 2)


def test_words_are_named_by_their_letters_and_shorter_ones_stand_first():
    bank = words(3)
    assert bank.names == ("I", "A", "A^T", "AA", "AA^T", "A^TA", "A^TA^T")
    assert bank.labels[4:] == ("$AA^{T}$", "$A^{T}A$", "$A^{T}A^{T}$")


def test_words_of_one_direction_are_the_powers_of_the_plain_bank():
    graph = example_graph(directed=True)
    operator, block = example_operator(graph), block_of(NODES)
    by_name = dict(zip(words(4).names, words(4).apply(operator, block), strict=True))
    for name, power in zip(("I", "A", "AA", "AAA"), build_bank("monomial", 4).apply(operator, block), strict=True):
        assert torch.equal(by_name[name], power)


@pytest.mark.parametrize("size", range(1, 6))
def test_all_words_take_the_stated_number_of_products(size):
    bank = words(size)
    operator = Counting(example_operator(example_graph(directed=True)))
    list(bank.apply(operator, block_of(NODES)))
    assert operator.forth == operator.backwards == bank.products / 2


@pytest.mark.parametrize("self_loops", [True, False])
def test_source_sink_and_isolated_node_stay_finite_and_get_what_is_promised(self_loops):
    # 0 is a source, 2 a sink, 3 alone
    graph = graph_from_edges(np.array([0, 1, 0]), np.array([1, 2, 2]), name="toy", num_nodes=4, directed=True)
    block = block_of(4).abs() + 1
    bank = words(4)
    operator = Operator.of(graph, bank.settings.model_copy(update={"self_loops": self_loops})).on()
    for word, result in zip(bank.words, bank.apply(operator, block), strict=True):
        assert torch.isfinite(result).all()
        if self_loops or not word:
            assert torch.equal(result[3], block[3])
            continue
        assert not result[3].any()
        out = word[0] == 0
        assert not result[2 if out else 0].any(), "nothing leaves a sink, and nothing enters a source"
        if len(word) == 1:
            assert result[0 if out else 2].all()


@pytest.mark.parametrize("self_loops", [True, False])
def test_no_word_lengthens_a_vector(self_loops):
    for seed in range(5):
        graph = example_graph(directed=True, seed=seed)
        operator = example_operator(graph, self_loops=self_loops)
        for result in words(5).apply(operator, torch.eye(NODES)):
            assert torch.linalg.matrix_norm(result, 2) <= 1 + 1e-5


def test_responses_are_powers_of_the_singular_value():
    np.testing.assert_allclose(words(3).response(np.array([0.0, 0.5])), [[1, 1]] + 2 * [[0, 0.5]] + 4 * [[0, 0.25]])
    assert words(3).axis[1:] == (0.0, 1.0)


def test_filtering_commutes_with_relabelling():
    graph, order = example_graph(directed=True), np.random.default_rng(0).permutation(NODES)
    block = block_of(NODES)
    before = words(4).apply(example_operator(graph), block)
    after = words(4).apply(example_operator(relabelled(graph, order)), block[order])
    for left, right in zip(before, after, strict=True):
        torch.testing.assert_close(left[order], right, rtol=1e-5, atol=1e-5)


def test_apply_does_not_change_its_input():
    block = block_of(NODES)
    before = block.clone()
    list(words(4).apply(example_operator(example_graph(directed=True)), block))
    assert torch.equal(block, before)


def test_gradient_flows_through_every_word():
    operator = SparseOperator(normalised_adjacency(example_graph(6, directed=True).adjacency))
    block = block_of(6, 2).double().requires_grad_()
    assert torch.autograd.gradcheck(lambda x: tuple(f * 1.0 for f in words(3).apply(operator, x)), block)


def test_operator_without_its_transpose_is_refused():
    operator = SparseOperator(normalised_adjacency(example_graph(directed=True).adjacency), differentiable=False)
    with pytest.raises(RuntimeError, match="made without its transpose"):
        list(words(2).apply(operator, block_of(NODES)))


def test_operator_of_both_directions_keeps_its_transpose_where_nothing_is_differentiated():
    graph = example_graph(directed=True)
    operator = Operator.of(graph, words(3).settings).on(differentiable=False)
    dense = torch.from_numpy(normalised_adjacency(graph.adjacency).toarray())
    block = block_of(NODES)
    torch.testing.assert_close(operator.back(block), dense.t() @ block, rtol=1e-5, atol=1e-5)
