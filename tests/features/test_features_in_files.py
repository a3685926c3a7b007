"""Features in little memory are those in much memory, and no array of all nodes and columns is made in memory."""

import tracemalloc
from contextlib import contextmanager

import numpy as np
import pytest
import scipy.sparse as sp
import torch
from hypothesis import given, settings
from hypothesis import strategies as st
from torch.utils._python_dispatch import TorchDispatchMode
from torch.utils._pytree import tree_leaves

from figure_kedro.datasets.files.scratch import ScratchFolder
from figure_kedro.features import STRUCTURAL, prepare_features
from figure_kedro.features.kinds.svd import _sum_of_squares, spectral_features
from figure_kedro.features.truncated_svd import truncated_svd
from figure_kedro.filters import normalised_adjacency
from figure_kedro.graph import graph_from_edges, row_blocks
from figure_kedro.memory import Memory, is_mapped, use_memory

pytestmark = pytest.mark.usefixtures("one_thread")

GROUPS = (70, 60, 50, 40, 30)
SINGULAR = 5
"""Singular vectors that tell groups apart; others lie close together, and any rounding mixes them."""

FORMS = {
    "undirected": {},
    "weighted": {"weighted": True},
    "directed": {"directed": True},
    "directed and weighted": {"directed": True, "weighted": True},
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    return ScratchFolder(tmp_path_factory.mktemp("scratch"))


@pytest.fixture
def little(folder):
    """A context in which every array lies in a file, one column goes through products, and blocks have few rows."""

    @contextmanager
    def context(entries=500):
        with pytest.MonkeyPatch.context() as patch, use_memory(Memory(1, folder)) as limited:
            patch.setattr(row_blocks, "ENTRIES", entries)
            yield limited

    return context


def grouped(*, directed=False, weighted=False, features=None):
    """Groups that are joined to others the more, the smaller they are, and five nodes without edges."""
    rng = np.random.default_rng(1)
    group = np.repeat(np.arange(len(GROUPS)), GROUPS)
    inside = rng.random((len(group), len(group))) < 0.3
    across = rng.random((len(group), len(group))) < 0.012 * (group[:, None] + group + 1)
    dense = np.where(group[:, None] == group, inside, across)
    np.fill_diagonal(dense, False)
    ends = np.nonzero(dense if directed else np.triu(dense))
    weights = 0.5 + rng.random(len(ends[0])) if weighted else None
    given = {"directed": directed, "weights": weights, "features": features}
    return graph_from_edges(*ends, name="toy", num_nodes=len(group) + 5, **given)


def features_of(graph, kind, **given):
    return prepare_features(graph, STRUCTURAL.parse({"structural": kind, **given})).features


def drawn_features(form, columns=70):
    values = 3 * np.random.default_rng(2).standard_normal((sum(GROUPS) + 5, columns)).astype(np.float32)
    values[:, :2], values[7] = 5, 0
    return values if form == "dense" else sp.csr_array(np.where(values > 3, values, 0))


def same_bits(one, other):
    if sp.issparse(one):
        for part in ("indptr", "indices", "data"):
            np.testing.assert_array_equal(getattr(one, part), getattr(other, part), strict=True)
    else:
        np.testing.assert_array_equal(one, other, strict=True)


def in_a_file(features):
    return is_mapped(features.data if sp.issparse(features) else features)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("kind", ["svd", "proximity"])
def test_singular_vectors_in_files_are_those_in_memory_to_five_digits(kind, form, little):
    graph = grouped(**FORMS[form])
    components = 2 * SINGULAR if graph.directed else SINGULAR
    much = features_of(graph, kind, components=components)
    with little():
        found = features_of(graph, kind, components=components)
    assert (in_a_file(much), in_a_file(found)) == (False, True)
    np.testing.assert_allclose(found, much, atol=1e-5 * np.abs(much).max())
    np.testing.assert_array_equal(found[-5:], 0)


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("rank", [SINGULAR, 100])
def test_triples_in_files_are_exact(rank, directed, little):
    matrix = normalised_adjacency(grouped(directed=directed).adjacency, self_loops=False)
    u, s, vt = np.linalg.svd(matrix.toarray().astype(np.float64))
    assert (s[: SINGULAR - 1] - s[1:SINGULAR] > 0.02).all(), "separated"
    whole = truncated_svd(matrix, rank, seed=0)
    with little():
        left, values, right = truncated_svd(matrix, rank, seed=0)
    np.testing.assert_allclose(values, whole[1], rtol=1e-5)
    np.testing.assert_allclose(left.T @ left, np.eye(rank), atol=1e-5)
    np.testing.assert_allclose(right.T @ right, np.eye(rank), atol=1e-5)
    np.testing.assert_allclose(values[:SINGULAR], s[:SINGULAR], rtol=1e-5)
    for exact, found in ((u, left), (vt.T, right)):
        alike = np.abs((exact[:, :SINGULAR] * found[:, :SINGULAR]).sum(axis=0))
        np.testing.assert_allclose(alike, 1, atol=1e-5)
    for one, other in ((whole[0], left), (whole[2], right)):
        angles = np.linalg.svd(one[:, :SINGULAR].T @ other[:, :SINGULAR], compute_uv=False)
        np.testing.assert_allclose(angles, 1, atol=1e-5)


@settings(max_examples=40, deadline=None)
@given(edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12), directed=st.booleans())
def test_all_singular_vectors_of_any_small_graph_say_the_same_in_files(edges, directed, folder):
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    graph = graph_from_edges(*ends.T, name="toy", num_nodes=8, directed=directed)
    much = spectral_features(graph, 16)
    with use_memory(Memory(1, folder)):
        found = spectral_features(graph, 16)
    assert np.isfinite(found).all()
    for half in (slice(0, 8), slice(8, 16)):  # the vectors of equal values are any basis, their products are not
        np.testing.assert_allclose(found[:, half] @ found[:, half].T, much[:, half] @ much[:, half].T, atol=1e-4)


@pytest.mark.parametrize("features", [None, "dense", "sparse"])
@pytest.mark.parametrize(
    ("kind", "form"),
    [("one_hot_degree", form) for form in FORMS] + [("levels", form) for form in FORMS if "directed" in form.split()],
)
def test_degrees_and_levels_in_files_have_the_same_bits(kind, form, features, little):
    given = None if features is None else drawn_features(features)
    graph = grouped(**FORMS[form], features=given)
    much = features_of(graph, kind, scale=0.3)
    with little():
        found = features_of(graph, kind, scale=0.3)
    assert (in_a_file(much), in_a_file(found)) == (False, True)
    same_bits(found, much)


@pytest.mark.parametrize("normalise", ["rows", "columns"])
@pytest.mark.parametrize("form", ["dense", "sparse"])
def test_normalised_features_in_files_have_the_same_bits(form, normalise, little):
    graph = grouped(features=drawn_features(form))
    much = features_of(graph, "none", normalise=normalise)
    with little():
        found = features_of(graph, "none", normalise=normalise)
    assert (in_a_file(much), in_a_file(found)) == (False, True)
    same_bits(found, much)


def test_a_single_column_is_normalised_the_same_up_to_rounding(little):
    graph = grouped(features=drawn_features("dense", columns=3)[:, 2:])
    much = features_of(graph, "none", normalise="columns")
    with little():
        np.testing.assert_allclose(features_of(graph, "none", normalise="columns"), much, rtol=1e-6)


@pytest.mark.parametrize("size", [1, 129, 1000, 4097, 100_003])
def test_squares_are_added_up_in_parts_with_the_bits_of_numpy(size, little):
    values = np.random.default_rng(size).standard_normal(size).astype(np.float32)
    with little():
        assert _sum_of_squares(values) == np.square(values, dtype=np.float64).sum()


class Watch(TorchDispatchMode):
    """Counts the numbers of the largest tensor in memory that an operation makes or changes."""

    def __init__(self, mapped):
        super().__init__()
        self.mapped, self.largest = mapped, 0

    def __torch_dispatch__(self, function, types, args=(), kwargs=None):
        result = function(*args, **(kwargs or {}))
        for tensor in tree_leaves(result):
            if isinstance(tensor, torch.Tensor) and tensor.layout == torch.strided and tensor.is_floating_point():
                storage = tensor.untyped_storage()
                if not any(first <= storage.data_ptr() < last for first, last in self.mapped):
                    self.largest = max(self.largest, storage.nbytes() // tensor.itemsize)
        return result


@pytest.fixture
def largest(folder, monkeypatch):
    """Says how many numbers the largest tensor in memory had, and how many bytes numpy took at most, while something
    was made within a limit."""
    mapped = []

    def noted(shape, dtype):
        array = folder(shape, dtype)
        mapped.append((array.ctypes.data, array.ctypes.data + array.nbytes))
        return array

    def measured(make, limit):
        with use_memory(Memory(limit, noted)), Watch(mapped) as watch:
            tracemalloc.start()
            make()
            peak = tracemalloc.get_traced_memory()[1]
            tracemalloc.stop()
        return watch.largest, peak

    with Watch(mapped):
        torch.zeros(1).square()  # what torch imports for it does not count
    monkeypatch.setattr(row_blocks, "ENTRIES", 1500)
    return measured


@pytest.mark.parametrize("directed", [False, True])
@pytest.mark.parametrize("kind", ["svd", "proximity", "one_hot_degree", "levels", "rows", "columns"])
def test_no_array_of_all_nodes_and_columns_is_made_in_memory(kind, directed, largest):
    if kind == "levels" and not directed:
        pytest.skip("levels are of directed graphs")
    n, columns = 2000, 40
    ends = np.random.default_rng(0).integers(n, size=(2, 2 * n))
    given = np.random.default_rng(1).standard_normal((n, columns), dtype=np.float32)
    normalised = kind in ("rows", "columns")
    graph = graph_from_edges(*ends, name="toy", num_nodes=n, directed=directed, features=given if normalised else None)
    if kind == "one_hot_degree":
        hub = np.zeros(2 * columns, np.int64), np.arange(1, 2 * columns + 1)
        graph = graph_from_edges(*np.hstack([ends, hub, hub[::-1]]), name="toy", num_nodes=n, directed=directed)
    width = {"levels": {"bins": 64}, "rows": {"normalise": "rows"}, "columns": {"normalise": "columns"}}
    settings = STRUCTURAL.parse(
        {"structural": "none" if normalised else kind, **width.get(kind, {"components": columns})}
    )
    made = prepare_features(graph, settings).features.shape[1]  # and everything is imported
    assert made >= 40
    whole, all_bytes = largest(lambda: prepare_features(graph, settings), 2**40)
    part, bytes_at_a_time = largest(lambda: prepare_features(graph, settings), 1)
    assert all_bytes > 4 * n * made, "what is made in memory is seen"
    assert bytes_at_a_time < 0.8 * 4 * n * made
    if kind in ("svd", "proximity"):
        assert whole > n * made / (1 + directed)
        assert part < n * made / 10, "one column, or some rows"
