"""A user's graph in one npz archive."""

import logging
from typing import TYPE_CHECKING

import scipy.sparse as sp

from figure_kedro.datasets.sources.npz import Archive
from figure_kedro.errors import UserError
from figure_kedro.graph import Graph
from figure_kedro.graph.convert import from_arrays, from_scipy
from figure_kedro.graph.labels import encode_labels
from figure_kedro.graph.node_table import drawn_splits
from figure_kedro.graph.splits import PARTS

if TYPE_CHECKING:
    from figure_kedro.datasets.sources.kinds.own import OwnSettings

logger = logging.getLogger(__name__)

KNOWN = {
    *("edges", "edges_directed", "ids", "weights", "node_features", "node_labels"),
    *(f"{part}_masks" for part in PARTS),
    *(f"node_features_{part}" for part in ("data", "indices", "indptr", "shape")),
}
"""The arrays that are read."""


def graph_of_archive(settings: "OwnSettings", name: str) -> Graph:
    """Read an archive of plain arrays (``n`` nodes, ``m`` edges, ``d`` features, ``s`` splits) with

    - ``edges`` ``(m, 2)`` or ``edge_index`` ``(2, m)``: row numbers, or ids if there are ``ids`` ``(n,)``;
    - and, where they exist, ``weights`` ``(m,)``;
    - ``node_features`` or ``x`` ``(n, d)``, or the parts of a CSR matrix ``node_features_data``, ``_indices``,
      ``_indptr`` and ``_shape``;
    - ``node_labels`` or ``y`` ``(n,)``, negative where unknown;
    - ``train_masks``, ``val_masks`` and ``test_masks`` ``(s, n)``, or ``train_mask`` and so on ``(n,)`` or ``(n, s)``;

    or one that ``scipy.sparse.save_npz`` wrote, whose entries are weights.
    """
    path = settings.edges
    archive = Archive(path)
    if {"format", "shape", "data"} <= set(archive):
        try:
            matrix = sp.load_npz(path)
        except (ValueError, NotImplementedError, KeyError) as error:
            raise UserError(f"{path} holds no matrix: {' '.join(str(error).split())}") from error
        return from_scipy(matrix, name=name, directed=settings.directed)
    labels, classes, splits = None, None, None
    if "node_labels" in archive:
        labels, classes = encode_labels(archive["node_labels"])
        if any(f"{part}_masks" in archive for part in PARTS):
            splits = archive.splits(name, len(labels))
        else:
            splits = drawn_splits(settings, labels, f"{path}, array 'node_labels'")
    unused = set(archive) - KNOWN
    source, target = archive.endpoints()
    graph = from_arrays(
        source,
        target,
        ids=archive.optional("ids"),
        num_nodes=None if labels is None else len(labels),
        weights=archive.optional("weights"),
        directed=settings.directed,
        features=archive.features(),
        labels=labels,
        classes=classes,
        splits=splits,
        name=name,
    )
    logger.info(
        "%s: %d features, %s, %d splits%s",
        path,
        graph.num_features,
        "no labels" if labels is None else f"labels of {graph.targets.num_classes} classes",
        graph.targets.num_splits,
        f"; not used: {', '.join(sorted(unused))}" if unused else "",
    )
    return graph
