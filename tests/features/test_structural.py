import numpy as np
import pydantic
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.features import STRUCTURAL, structural_features
from figure_kedro.features.kinds.degrees import degree_features, pagerank
from figure_kedro.features.kinds.one_hot_degree import one_hot_degrees
from figure_kedro.features.kinds.proximity import log_proximity
from figure_kedro.features.kinds.svd import spectral_features
from figure_kedro.features.truncated_svd import truncated_svd
from figure_kedro.filters import normalised_adjacency
from figure_kedro.graph import graph_from_edges
from figure_kedro.graph.csbm import generate_csbm

KINDS = ("svd", "proximity", "degrees", "one_hot_degree")


def small(edges=((0, 1), (1, 2), (2, 0), (2, 3)), nodes=5, **given):
    ends = np.array(edges, dtype=np.int64).reshape(-1, 2)
    return graph_from_edges(ends[:, 0], ends[:, 1], name="toy", num_nodes=nodes, **given)


def settings_of(kind="auto", **given):
    return STRUCTURAL.parse({"structural": kind, **given})


def features_of(graph, kind, **given):
    """The features that a graph gets, as an array."""
    return STRUCTURAL.build(settings_of(kind, **given)).features(graph)


def random_graph(nodes=300, features=0):
    return generate_csbm(nodes, 8, 3, 0.8, features, 1.0, 0, 0, "toy")


@pytest.mark.parametrize("directed", [False, True])
def test_truncated_svd_finds_the_exact_leading_triples(directed):
    rng = np.random.default_rng(0)
    graph = small(rng.integers(0, 400, (2400, 2)), 400, directed=directed)
    matrix = normalised_adjacency(graph.adjacency, self_loops=False)
    left, values, right = truncated_svd(matrix, 6, seed=0)
    u, s, vt = np.linalg.svd(matrix.toarray().astype(np.float64))
    np.testing.assert_allclose(values, s[:6], atol=1e-3)
    np.testing.assert_allclose(left.T @ left, np.eye(6), atol=1e-4)
    np.testing.assert_allclose(right.T @ right, np.eye(6), atol=1e-4)
    np.testing.assert_allclose(np.abs(u[:, 0] @ left[:, 0]), 1, atol=1e-4)
    np.testing.assert_allclose(np.abs(vt[0] @ right[:, 0]), 1, atol=1e-4)


def test_all_components_give_back_the_matrix():
    matrix = normalised_adjacency(random_graph(40).adjacency, self_loops=False)
    left, values, right = truncated_svd(matrix, 40, seed=0)
    np.testing.assert_allclose(left * values @ right.T, matrix.toarray(), atol=1e-5)


def test_spectral_columns_are_weighted_by_the_root_of_their_singular_values():
    graph = random_graph()
    columns = spectral_features(graph, 4)
    values = np.linalg.svd(normalised_adjacency(graph.adjacency, self_loops=False).toarray(), compute_uv=False)
    norms = np.square(columns).sum(axis=0)
    np.testing.assert_allclose(norms / norms[0], values[:4] / values[0], rtol=1e-3)


def test_without_given_features_an_entry_has_mean_square_one():
    assert np.square(spectral_features(random_graph(), 16)).mean() == pytest.approx(1, rel=1e-4)


@pytest.mark.parametrize("sparse", [False, True])
def test_beside_given_features_both_blocks_have_rows_of_the_same_size(sparse):
    given_features = np.random.default_rng(0).random((5, 7)).astype(np.float32) * 30
    graph = small(features=sp.csr_array(given_features) if sparse else given_features)
    columns = features_of(graph, "svd", components=3, scale=2.0, keep_given=False)
    expected = 4 * np.square(given_features).sum(axis=1).mean()
    assert np.square(columns).sum(axis=1).mean() == pytest.approx(expected, rel=1e-4)


@pytest.mark.parametrize("kind", KINDS)
def test_structural_features_are_the_same_every_time(kind):
    graph = random_graph()
    first, again = (features_of(graph, kind) for _ in range(2))
    np.testing.assert_array_equal(first, again)
    assert first.dtype == np.float32


def test_largest_entry_of_each_spectral_column_is_positive():
    columns = spectral_features(random_graph(), 8)
    assert (columns[np.abs(columns).argmax(axis=0), np.arange(8)] > 0).all()


@settings(max_examples=40, deadline=None)
@given(
    edges=st.lists(st.tuples(st.integers(0, 5), st.integers(0, 5)), max_size=12),
    kind=st.sampled_from(KINDS),
    directed=st.booleans(),
)
def test_every_kind_is_finite_on_every_graph(edges, kind, directed):
    columns = features_of(small(edges, 7, directed=directed), kind)
    assert columns.shape[0] == 7
    assert np.isfinite(columns).all()


def test_isolated_node_gets_zeros_from_svd():
    columns = spectral_features(small(), 128)
    assert columns.shape == (5, 5)  # no more components than nodes
    np.testing.assert_array_equal(columns[4], 0)


def test_directed_graph_gets_out_and_in_patterns():
    columns = spectral_features(small([(0, 2), (1, 2), (0, 3)], directed=True), 4)
    assert columns.shape == (5, 4)
    assert np.abs(columns[0, :2]).max() > 0.1  # node 0 only points
    assert np.abs(columns[3, 2:]).max() > 0.1  # node 3 is only pointed at
    np.testing.assert_allclose(columns[0, 2:], 0, atol=1e-5)
    np.testing.assert_allclose(columns[3, :2], 0, atol=1e-5)


def test_degree_statistics_match_hand_computation():
    # degrees 2, 2, 3, 1, 0
    one, two, three = np.log([2, 3, 4])
    raw = np.array(
        [
            [two, (two + three) / 2, two, three, (three - two) / 2],
            [two, (two + three) / 2, two, three, (three - two) / 2],
            [three, (2 * two + one) / 3, one, two, np.std([two, two, one])],
            [one, three, three, three, 0],
            [0, 0, 0, 0, 0],
        ]
    )
    expected = (raw - raw.mean(axis=0)) / raw.std(axis=0)
    np.testing.assert_allclose(degree_features(small())[:, :5], expected, atol=1e-6)


def test_degree_statistics_of_a_directed_graph_are_those_of_each_side():
    # a -> b -> c: degrees 1, 1, 0 out and 0, 1, 1 in; b is what a points to, c what b points to
    one = np.log(2)
    out = np.array([[one, one, one, one, 0], [one, 0, 0, 0, 0], [0, 0, 0, 0, 0]])
    into = np.array([[0, 0, 0, 0, 0], [one, 0, 0, 0, 0], [one, one, one, one, 0]])
    chain = small([(0, 1), (1, 2)], 3, directed=True)
    raw = np.column_stack([out, into, np.log(pagerank(chain))])
    spread = raw.std(axis=0)
    expected = np.divide(raw - raw.mean(axis=0), spread, out=np.zeros_like(raw), where=spread > 0)
    columns = degree_features(chain)
    assert columns.shape == (3, 11)
    np.testing.assert_allclose(columns, expected, atol=1e-6)


def test_sides_of_a_directed_graph_change_places_with_its_edges():
    edges = np.random.default_rng(0).integers(0, 30, (80, 2))
    forth, back = (degree_features(small(ends, 30, directed=True)) for ends in (edges, edges[:, ::-1]))
    np.testing.assert_allclose(forth[:, :5], back[:, 5:10], atol=1e-6)
    np.testing.assert_allclose(forth[:, 5:10], back[:, :5], atol=1e-6)


def test_directed_graph_with_both_directions_of_every_edge_has_the_undirected_columns_twice():
    edges = np.random.default_rng(0).integers(0, 30, (80, 2))
    plain = degree_features(small(edges, 30))
    twice = degree_features(small(np.vstack([edges, edges[:, ::-1]]), 30, directed=True))
    np.testing.assert_allclose(twice, np.hstack([plain[:, :5], plain]), atol=1e-5)


def test_constant_degree_columns_are_zero():
    ring = [(i, (i + 1) % 6) for i in range(6)]
    np.testing.assert_array_equal(degree_features(small(ring, 6)), 0)


def test_pagerank_solves_its_equation_with_dangling_and_isolated_nodes():
    graph = small([(0, 1), (1, 2), (2, 0), (2, 3)], directed=True, weights=np.array([1.0, 1.0, 3.0, 1.0]))
    dense = graph.adjacency.toarray().astype(np.float64)
    step = np.full((5, 5), 1 / 5)
    busy = dense.sum(axis=1) > 0
    step[busy] = dense[busy] / dense[busy].sum(axis=1, keepdims=True)
    expected = np.linalg.solve(np.eye(5) - 0.85 * step.T, np.full(5, 0.15 / 5))
    np.testing.assert_allclose(pagerank(graph), expected, atol=1e-9)


def test_one_hot_degree_has_a_last_column_for_that_or_more():
    np.testing.assert_array_equal(one_hot_degrees(small(), 128).argmax(axis=1), [2, 2, 3, 1, 0])
    capped = one_hot_degrees(small(), 2)
    np.testing.assert_array_equal(capped, [[0, 1], [0, 1], [0, 1], [0, 1], [1, 0]])


def test_one_hot_degree_of_a_directed_graph_has_a_half_for_each_side():
    # 0 -> 1 -> 2, 0 -> 2: degrees 2, 1, 0 out and 0, 1, 2 in
    graph = small([(0, 1), (1, 2), (0, 2)], 3, directed=True)
    np.testing.assert_array_equal(one_hot_degrees(graph, 128), np.hstack([np.eye(3)[::-1], np.eye(3)]))
    capped = [[0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]]
    np.testing.assert_array_equal(one_hot_degrees(graph, 4), capped)
    assert one_hot_degrees(graph, 4).dtype == np.float32
    np.testing.assert_array_equal(one_hot_degrees(graph, 1), np.ones((3, 2)))


def test_one_hot_degree_of_a_directed_path_is_that_of_its_ends():
    chain = small([(0, 1), (1, 2)], 3, directed=True)
    np.testing.assert_array_equal(one_hot_degrees(chain, 128), [[0, 1, 1, 0], [0, 1, 0, 1], [1, 0, 0, 1]])


def test_auto_makes_features_only_where_there_are_none():
    bare, furnished = small(), small(features=np.ones((5, 2)))
    assert structural_features(bare).num_features == structural_features(bare, settings_of("auto")).num_features == 5
    assert structural_features(furnished) is structural_features(furnished, settings_of("auto")) is furnished
    np.testing.assert_array_equal(
        structural_features(bare).features, structural_features(bare, settings_of("proximity")).features
    )
    assert STRUCTURAL.build(settings_of("none")).columns(bare) is None
    assert structural_features(bare, settings_of("none")) is bare


def test_given_features_stand_before_the_structural_ones_or_not_at_all():
    graph = small(features=np.arange(10).reshape(5, 2))
    both = structural_features(graph, settings_of("degrees"))
    np.testing.assert_array_equal(both.features[:, :2], graph.features)
    assert both.num_features == 2 + 6
    alone = structural_features(graph, settings_of("degrees", keep_given=False))
    assert alone.num_features == 6
    assert graph.num_features == 2


def test_sparse_given_features_stay_sparse():
    graph = small(features=sp.csr_array(np.eye(5, dtype=np.float32)))
    both = structural_features(graph, settings_of("one_hot_degree"))
    assert isinstance(both.features, sp.csr_array)
    assert both.features.dtype == np.float32
    np.testing.assert_array_equal(both.features.toarray()[:, :5], np.eye(5))


def test_kinds_are_the_files_of_the_folder():
    assert STRUCTURAL.names() == ("auto", "degrees", "levels", "none", "one_hot_degree", "proximity", "svd")


@pytest.mark.parametrize(
    "bad",
    [
        {"components": 0},
        {"scale": 0},
        {"unknown": 1},
        {"kind": "degrees", "components": 4},
        {"kind": "none", "scale": 2},
    ],
)
def test_settings_refuse_what_they_do_not_know(bad):
    with pytest.raises(pydantic.ValidationError):
        settings_of(**bad)


def test_unknown_kind_gets_the_nearest_name():
    with pytest.raises(UserError, match=r"^there is no kind of structural features 'svdd'; did you mean 'svd'\?$"):
        settings_of("svdd")


def test_nearly_all_singular_vectors_of_a_wide_spectrum_are_finite_and_right():
    edges = np.triu(np.random.default_rng(0).random((400, 400)) < 0.05, 1)
    adjacency = sp.csr_array((edges | edges.T).astype(float))
    matrix = normalised_adjacency(adjacency, self_loops=False)
    exact = np.linalg.svd(matrix.toarray(), compute_uv=False)
    assert exact[381 + 15] < 0.01  # so small that the filter would multiply the largest direction beyond float32
    left, values, right = truncated_svd(matrix, 381, seed=0)
    assert np.isfinite(left).all()
    assert np.isfinite(right).all()
    np.testing.assert_allclose(values, exact[:381], atol=2e-3)


def test_log_proximity_of_a_path_is_as_computed_by_hand():
    path = small(((0, 1), (1, 2)), nodes=4)  # and an isolated node
    chance = np.array([0.5, 2.0, 0.5, 0.0]) ** 0.75
    chance /= chance.sum()
    by_hand = np.zeros((4, 4))
    by_hand[0, 1] = by_hand[2, 1] = np.log(1 / chance[1])
    by_hand[1, 0] = by_hand[1, 2] = np.log(0.5 / chance[0])
    np.testing.assert_allclose(log_proximity(path.adjacency).toarray(), by_hand, rtol=1e-6)


@pytest.mark.parametrize("directed", [False, True])
def test_proximity_columns_are_exact_singular_vectors_with_rows_of_one_length(directed):
    graph = random_graph(60)
    if directed:
        ends = sp.triu(graph.adjacency).nonzero()
        graph = graph_from_edges(*ends, name="toy", num_nodes=60, directed=True)
    columns = features_of(graph, "proximity", components=6)
    u, s, vt = np.linalg.svd(log_proximity(graph.adjacency).toarray().astype(np.float64))
    exact = np.hstack([u[:, :3] * np.sqrt(s[:3]), vt[:3].T * np.sqrt(s[:3])]) if directed else u[:, :6] * np.sqrt(s[:6])
    lengths = np.linalg.norm(exact, axis=1)
    exact = np.divide(exact, lengths[:, None], where=lengths[:, None] > 1e-9, out=np.zeros_like(exact))
    exact *= np.sqrt(exact.size / np.square(exact).sum())
    np.testing.assert_allclose(columns @ columns.T, exact @ exact.T, atol=2e-3)  # signs of columns left aside
    found = np.linalg.norm(columns, axis=1)
    np.testing.assert_allclose(found[lengths > 1e-9], found.max(), rtol=1e-4)


def test_small_components_take_no_columns_from_the_large_one():
    graph = random_graph(300)
    pairs = sp.block_diag([np.array([[0, 1], [1, 0]])] * 40, format="csr", dtype=np.float32)
    joined = sp.csr_array(sp.block_diag([graph.adjacency, pairs], format="csr", dtype=np.float32))
    whole = graph_from_edges(*joined.nonzero(), name="toy", num_nodes=380)
    weight = {kind: np.square(features_of(whole, kind, components=8)[:300]).sum() for kind in ("svd", "proximity")}
    assert weight["svd"] < 0.2 * 300 * 8, "singular vectors of the normalised adjacency tell the pairs apart"
    assert weight["proximity"] > 0.7 * 300 * 8
