"""One peer's embedding of one graph, in a process of its own: run by the Python of the peers' environment.

``python peer_embedding.py NAME GRAPH DIM SEED SECONDS OUTPUT`` reads a symmetric CSR matrix (``indptr.npy``,
``indices.npy`` in the folder ``GRAPH``), writes the embedding and prints a line of JSON: processor seconds from the
matrix in memory to the array in memory, memory before and at most, version. A tiny graph is embedded first, so that
imports and compilers do not count. This file imports nothing of this project.
"""

import json
import resource
import sys
import time
from collections.abc import Iterator
from importlib.metadata import version
from pathlib import Path

import numpy as np
import scipy.sparse as sp

WALKS = {"walk_length": 40, "window": 5, "workers": 1, "p": 1.0, "q": 1.0}
"""Of fastnode2vec."""


def cleora(adjacency: sp.csr_matrix, dim: int, seed: int, iterations: int = 4) -> np.ndarray:
    from pycleora import SparseMatrix, embed

    graph = SparseMatrix.from_iterator((f"{a} {b}" for a, b in _pairs(adjacency)), "complex::reflexive::node")
    found = embed(graph, feature_dim=dim, num_iterations=iterations, seed=seed, num_workers=1)
    return _in_place(adjacency, np.array(graph.entity_ids).astype(np.int64), found)


def prone(adjacency: sp.csr_matrix, dim: int, seed: int) -> np.ndarray:
    from nodevectors import ProNE

    np.random.seed(seed)  # noqa: NPY002  (it asks for no generator)
    return ProNE(n_components=dim, verbose=False).fit_transform(adjacency)


def spectral(adjacency: sp.csr_matrix, dim: int, seed: int) -> np.ndarray:
    from sknetwork.embedding import Spectral

    np.random.seed(seed)  # noqa: NPY002
    return Spectral(dim).fit_transform(adjacency)


def random_projection(adjacency: sp.csr_matrix, dim: int, seed: int) -> np.ndarray:
    from sknetwork.embedding import RandomProjection

    return RandomProjection(dim, random_walk=True, random_state=seed).fit_transform(adjacency)


def node2vec(adjacency: sp.csr_matrix, dim: int, seed: int, epochs: int = 1) -> np.ndarray:
    from fastnode2vec import Graph, Node2Vec

    graph = Graph(_pairs(adjacency), directed=False, weighted=False, verbose=False)
    model = Node2Vec(graph, dim, **WALKS)  # its own seed would restart the generator in every batch of walks
    np.random.seed(seed)  # noqa: NPY002
    model.train(epochs=epochs, verbose=False)
    order = [model.wv.key_to_index[name] for name in graph.node_names]
    return _in_place(adjacency, graph.node_names, model.wv.vectors[order])


PEERS = {
    "pycleora": ("pycleora", cleora),
    "ProNE": ("nodevectors", prone),
    "spectral": ("scikit-network", spectral),
    "random projection": ("scikit-network", random_projection),
    "node2vec, 1 walk": ("fastnode2vec", node2vec),
    "node2vec, 5 walks": ("fastnode2vec", lambda *given: node2vec(*given, epochs=5)),
}
"""The package of each, and its call."""


def tiny_graph() -> sp.csr_matrix:
    """A ring of 600 nodes with chords."""
    nodes = np.arange(600)
    ends = np.concatenate([(nodes + step) % 600 for step in (1, 7, 60)])
    half = sp.csr_matrix((np.ones(1800, dtype=np.float32), (np.tile(nodes, 3), ends)), shape=(600, 600))
    return (half + half.T).tocsr()


def _pairs(adjacency: sp.csr_matrix) -> Iterator[tuple[int, int]]:
    """Every edge once."""
    for row in range(adjacency.shape[0]):
        for column in adjacency.indices[adjacency.indptr[row] : adjacency.indptr[row + 1]].tolist():
            if row <= column:
                yield row, column


def _in_place(adjacency: sp.csr_matrix, nodes: np.ndarray, found: np.ndarray) -> np.ndarray:
    """Rows in the order of the nodes; a node without edges, which such a peer does not see, has zeros."""
    embedding = np.zeros((adjacency.shape[0], found.shape[1]), dtype=np.float32)
    embedding[nodes] = found
    return embedding


def _peak() -> float:
    """MiB that this process has had at most; ``ru_maxrss`` would begin with that of its parent."""
    for line in Path("/proc/self/status").read_text(encoding="utf-8").splitlines():
        if line.startswith("VmHWM:"):
            return int(line.split()[1]) / 1024
    return float("nan")


def main(name: str, folder: str, dim: str, seed: str, seconds: str, output: str) -> None:
    resource.setrlimit(resource.RLIMIT_CPU, (int(seconds), int(seconds) + 5))
    package, embed = PEERS[name]
    embed(tiny_graph(), int(dim), int(seed))
    before = _peak()
    indptr, indices = (np.load(Path(folder, f"{part}.npy")) for part in ("indptr", "indices"))
    n = len(indptr) - 1
    adjacency = sp.csr_matrix((np.ones(len(indices), dtype=np.float32), indices, indptr), shape=(n, n))
    start = time.process_time()
    embedding = embed(adjacency, int(dim), int(seed))
    taken = time.process_time() - start
    np.save(output, np.ascontiguousarray(embedding, dtype=np.float32))
    words = {"version": f"{package} {version(package)}"}
    print(json.dumps({"seconds": taken, "before": before, "peak": _peak(), **words}))


if __name__ == "__main__":
    main(*sys.argv[1:])
