"""From a ``Data`` of PyTorch Geometric to a graph."""

import logging
import warnings
from typing import TYPE_CHECKING, Any

import numpy as np

from figure_kedro.errors import UserError
from figure_kedro.graph.build import graph_from_edges
from figure_kedro.graph.features import as_features
from figure_kedro.graph.graph import Graph
from figure_kedro.graph.labels import encode_labels
from figure_kedro.graph.splits import PARTS, splits_from_masks

if TYPE_CHECKING:
    from torch_geometric.data import Data

logger = logging.getLogger(__name__)


def from_pyg(
    data: "Data", *, directed: bool | None = None, targets: bool = True, features: Any = None, name: str = "graph"
) -> Graph:
    """A graph from a ``Data`` of PyTorch Geometric, or from a data set that holds one.

    ``edge_weight`` gives weights, ``x`` features; classes in ``y`` and masks become targets.

    Args:
        data: With ``edge_index``; nodes are numbered.
        directed: Whether to keep the direction of the edges; by default it is kept if some edge lacks its reverse.
        targets: Whether to take labels and splits.
        features: Instead of ``x``, as in :meth:`Graph.from_arrays`.
        name: Of the graph.
    """
    data = _single(data)
    edge_index = getattr(data, "edge_index", None)
    if edge_index is None:
        raise UserError(f"{name}: the Data has no edge_index, of which a graph is made; add it, say with ToEdgeIndex")
    source, target = edge_index.detach().cpu().numpy()
    weights = _array(data, "edge_weight")
    if directed is None:
        directed = bool(data.is_directed())
        if directed:
            logger.warning("%s: some edges lack their reverse, so directions are kept; directed=False joins both", name)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it guesses the number from the edges, and says so
        count = int(data.num_nodes)
    features = getattr(data, "x", None) if features is None else features
    labels, classes, splits = _targets(data, count, name) if targets else (None, None, None)
    if getattr(data, "edge_attr", None) is not None and weights is None:
        logger.info("%s: edge_attr is not used; a weight for each edge is edge_weight", name)
    return graph_from_edges(
        source,
        target,
        name=name,
        num_nodes=count,
        weights=None if weights is None else weights.reshape(-1),
        directed=directed,
        features=None if features is None else as_features(features, name),
        labels=labels,
        classes=classes,
        splits=splits,
    )


def _single(data: Any) -> Any:
    from torch_geometric.data import Data, Dataset

    if isinstance(data, Dataset):
        if len(data) != 1:
            raise UserError(f"a data set of {len(data)} graphs was given; choose one of them, say dataset[0]")
        data = data[0]
    if not isinstance(data, Data):
        raise UserError(
            f"nodes of one kind are embedded, not {type(data).__name__}; make it a Data, say with to_homogeneous()"
        )
    return data


def _targets(data: Any, n: int, name: str) -> tuple[np.ndarray | None, tuple[str, ...] | None, np.ndarray | None]:
    y = _array(data, "y")
    if y is None:
        return None, None, None
    y = y.reshape(-1) if y.ndim == 2 and y.shape[1] == 1 else y
    if y.shape != (n,) or y.dtype.kind not in "iub":
        logger.warning("%s: y is no class for each node, and left out", name)
        return None, None, None
    labels, classes = encode_labels(y.astype(np.int64))
    masks = [_array(data, f"{part}_mask") for part in PARTS]
    if any(mask is None for mask in masks):
        return labels, classes, None
    train, val, test = (mask.astype(bool).T for mask in masks if mask is not None)
    return labels, classes, splits_from_masks(train, val, test, name)


def _array(data: Any, key: str) -> np.ndarray | None:
    value: Any = getattr(data, key, None)
    return value.detach().cpu().numpy() if hasattr(value, "detach") else None
