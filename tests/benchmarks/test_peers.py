"""How peers are called, not what they reach."""

import sys

import numpy as np
import scipy.sparse as sp
from benchmarks.peer_embedding import _in_place, _pairs, tiny_graph
from benchmarks.peers import SMALL, peer, peers_python

PATH = sp.csr_matrix(np.array([[0, 1, 0, 0], [1, 0, 1, 0], [0, 1, 0, 0], [0, 0, 0, 0]], dtype=np.float32))


def test_a_peer_sees_every_edge_once():
    assert list(_pairs(PATH)) == [(0, 1), (1, 2)]
    assert len(list(_pairs(tiny_graph()))) == tiny_graph().nnz / 2


def test_rows_of_a_peer_come_back_in_the_order_of_the_nodes_and_nodes_without_edges_have_zeros():
    found = _in_place(PATH, np.array([2, 0, 1]), np.array([[2.0], [0.5], [1.0]]))
    assert found.ravel().tolist() == [0.5, 1.0, 2.0, 0.0]


def test_a_peer_that_is_not_installed_is_a_row_with_a_remark(tmp_path, monkeypatch):
    monkeypatch.setenv("FIGURE_PEERS_PYTHON", sys.executable)
    monkeypatch.setenv("PYTHONPATH", "")
    np.save(tmp_path / "indptr.npy", PATH.indptr)
    np.save(tmp_path / "indices.npy", PATH.indices)
    assert peer("pycleora", SMALL, tmp_path) == "ModuleNotFoundError: No module named 'pycleora'"


def test_without_an_environment_of_their_own_peers_are_left_out(monkeypatch, capsys):
    monkeypatch.delenv("FIGURE_PEERS_PYTHON", raising=False)
    assert peers_python() is None
    assert "FIGURE_PEERS_PYTHON" in capsys.readouterr().out


def test_the_tiny_graph_is_symmetric():
    assert (tiny_graph() != tiny_graph().T).nnz == 0
