"""The nearest nodes by cosine."""

import sys

import numpy as np
import pytest
from sklearn.neighbors import NearestNeighbors

from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.evaluation import NoClassifier
from figure_kedro.inference import neighbours
from figure_kedro.inference.neighbours import common_space, nearest, rows_of

RNG = np.random.default_rng(0)
NOBODY = NoClassifier("no labels")


def embeddings(views):
    ids = np.array([f"n{i}" for i in range(len(views[0]))])
    names = tuple(f"v{i}" for i in range(len(views)))
    arrays = dict(zip(names, views, strict=True))
    return Embeddings(names, ids, 3, compute=lambda: iter(views), graph=lambda: None, arrays=arrays)


def unit(rows):
    return (rows / np.linalg.norm(rows, axis=1, keepdims=True)).astype(np.float32)


def test_exact_neighbours_are_those_of_scikit_learn(monkeypatch):
    monkeypatch.setattr(neighbours, "BLOCK_ENTRIES", 300)  # several blocks
    space = unit(RNG.normal(size=(120, 6)))
    found, cosines = nearest(space, np.arange(120), 5)
    distances, expected = (
        NearestNeighbors(n_neighbors=6, metric="cosine", algorithm="brute").fit(space).kneighbors(space)
    )
    np.testing.assert_array_equal(found, expected[:, 1:])
    np.testing.assert_allclose(cosines, 1 - distances[:, 1:], atol=1e-6)


def test_the_index_finds_nearly_all_of_them():
    pytest.importorskip("faiss")
    space = unit(RNG.normal(size=(2000, 16)))
    rows = np.arange(0, 2000, 7)
    exact, _ = nearest(space, rows, 10, "exact")
    found, cosines = nearest(space, rows, 10, "approximate")
    recall = np.mean([len({*a} & {*b}) / 10 for a, b in zip(exact, found, strict=True)])
    assert recall > 0.95
    assert (np.diff(cosines, axis=1) <= 1e-6).all()
    assert (found != rows[:, None]).all()


def test_many_nodes_without_the_index_are_one_line(monkeypatch):
    monkeypatch.setitem(sys.modules, "faiss", None)
    monkeypatch.setattr(neighbours, "EXACT_PRODUCTS", 10)
    with pytest.raises(UserError, match="pip install 'figure_kedro\\[neighbours\\]'"):
        nearest(unit(RNG.normal(size=(20, 3))), np.arange(20), 2)


def test_a_node_is_not_its_own_neighbour_also_beside_equal_ones():
    space = np.repeat(unit(RNG.normal(size=(3, 4))), 5, axis=0)
    found, cosines = nearest(space, np.arange(15), 3)
    assert (found != np.arange(15)[:, None]).all()
    np.testing.assert_allclose(cosines, 1, atol=1e-6)


def test_there_are_no_more_neighbours_than_other_nodes():
    found, _ = nearest(unit(RNG.normal(size=(4, 3))), np.array([2]), 10)
    assert sorted(found[0]) == [0, 1, 3]


def test_without_a_classifier_a_cosine_is_the_mean_over_the_views():
    views = [RNG.normal(size=(8, 3)).astype(np.float32) * size for size in (1, 100)]
    space = common_space(embeddings(views), NOBODY)
    expected = sum(unit(view) @ unit(view).T for view in views) / 2
    np.testing.assert_allclose(space @ space.T, expected, atol=1e-5)


def test_ids_are_found_in_the_order_in_which_they_are_asked_for():
    ids = np.array([5, 3, 9])
    assert rows_of(ids, np.array([9, 5, 9]), "ids.csv").tolist() == [2, 0, 2]
    assert rows_of(ids, np.array(["3"], dtype=object), "ids.csv").tolist() == [1]
    assert rows_of(ids, np.arange(0), "ids.csv").tolist() == [0, 1, 2]


def test_an_unknown_id_is_one_line():
    with pytest.raises(UserError, match=r"ids.csv: there is no node '4' in the graph"):
        rows_of(np.array([5, 3]), np.array([3, 4]), "ids.csv")
