"""The nearest nodes of each node by cosine: exactly in blocks, or by an approximate index where there are many."""

import logging
from typing import Literal

import numpy as np
import torch
from sklearn.preprocessing import normalize

from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.evaluation import Classifier, NoClassifier
from figure_kedro.inference.new_nodes import positions

logger = logging.getLogger(__name__)

EXACT_PRODUCTS = 3e11
"""So many multiplications are done exactly unless asked otherwise: all pairs of 24,000 nodes in 512 dimensions."""

BLOCK_ENTRIES = 1 << 24
"""Cosines that are held at a time: 64 MB of float32."""

LINKS, BREADTH = 32, 64
"""Of the approximate index: links of a node, and how many candidates are kept while it is built and searched. On pubmed
99.7 % of the ten nearest nodes of all nodes were found with these, 512 columns wide."""


def common_space(embeddings: Embeddings, classifier: Classifier | NoClassifier) -> np.ndarray:
    r"""One vector of length 1 for each node ``(n, D)``, float32; rows of zeros stay.

    With a classifier these are the directions of what it reads, :math:`Z = \sum_i \alpha_i \phi(E_i)`: the filters
    count as much as they do for the labels. Without one the views stand side by side, each row of each of length
    :math:`K^{-1/2}`, so that a cosine is the mean of the cosines under all filters.
    """
    if isinstance(classifier, Classifier) and any(classifier.coefficients.values()):
        return normalize(classifier.combine(embeddings))
    return np.hstack([normalize(view) for view in embeddings.values()]) / np.float32(np.sqrt(len(embeddings)))


def rows_of(ids: np.ndarray, asked: np.ndarray, name: str) -> np.ndarray:
    """The rows of some ids, all rows if none are asked for.

    Raises:
        UserError: If there is no such node.
    """
    if not len(asked):
        return np.arange(len(ids))
    if ids.dtype.kind not in "iu" or asked.dtype.kind not in "iu":
        ids, asked = ids.astype(str).astype(object), asked.astype(str).astype(object)
    distinct, back = np.unique(asked, return_inverse=True)
    rows = positions(ids, distinct)
    if (rows < 0).any():
        raise UserError(f"{name}: there is no node {str(distinct[int(np.argmax(rows < 0))])!r} in the graph")
    return rows[back]


def nearest(
    space: np.ndarray, rows: np.ndarray, k: int, index: Literal["auto", "exact", "approximate"] = "auto"
) -> tuple[np.ndarray, np.ndarray]:
    """The ``k`` nearest of all nodes for some of them, the nearest first; a node is not its own neighbour.

    Args:
        space: From :func:`common_space` ``(n, D)``.
        rows: The nodes that are asked for ``(q,)``.
        k: How many; all others if there are fewer.
        index: How; ``auto`` is exact up to :data:`EXACT_PRODUCTS` multiplications.

    Returns:
        Rows of the neighbours and their cosines, ``(q, k)`` each.
    """
    n, width = space.shape
    k = min(k, n - 1)
    exact = index == "exact" or (index == "auto" and len(rows) * n * width <= EXACT_PRODUCTS)
    logger.info("the %d nearest of %d nodes among %d, %s", k, len(rows), n, "exactly" if exact else "by an index")
    found = (_exact if exact else _approximate)(space, rows, k + 1)
    return _without_itself(rows, *found, k)


def _exact(space: np.ndarray, rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    everyone = torch.from_numpy(space)
    step, found, cosines = max(1, BLOCK_ENTRIES // len(space)), [], []
    for start in range(0, len(rows), step):
        block = everyone[torch.from_numpy(rows[start : start + step])] @ everyone.T  # (step, n)
        values, columns = block.topk(count, dim=1)
        found.append(columns.numpy())
        cosines.append(values.numpy())
    return np.concatenate(found), np.concatenate(cosines)


def _approximate(space: np.ndarray, rows: np.ndarray, count: int) -> tuple[np.ndarray, np.ndarray]:
    """By faiss' index of "Efficient and robust approximate nearest neighbor search using Hierarchical Navigable Small
    World graphs" (Malkov and Yashunin, 2018)."""
    try:
        import faiss
    except ImportError:
        raise UserError(
            f"the nearest of {len(space):,} nodes are found by an index that is not installed: pip install "
            "'figure_kedro[neighbours]', ask for fewer nodes (neighbours.of), or set neighbours.index=exact"
        ) from None
    before = faiss.omp_get_max_threads()
    faiss.omp_set_num_threads(torch.get_num_threads())
    try:
        index = faiss.IndexHNSWFlat(space.shape[1], LINKS, faiss.METRIC_INNER_PRODUCT)
        index.hnsw.efConstruction, index.hnsw.efSearch = BREADTH, max(BREADTH, 2 * count)
        index.add(space)
        cosines, found = index.search(space[rows], count)
    finally:
        faiss.omp_set_num_threads(before)
    return found, cosines


def _without_itself(rows: np.ndarray, found: np.ndarray, cosines: np.ndarray, k: int) -> tuple[np.ndarray, np.ndarray]:
    """Leave each node out of its own list, or the last of the list if it is not in it, as beside equal ones."""
    other = found != rows[:, None]
    other[other.all(axis=1), -1] = False
    return found[other].reshape(len(rows), k), cosines[other].reshape(len(rows), k)
