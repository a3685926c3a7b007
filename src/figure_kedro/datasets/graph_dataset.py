"""A graph, its targets and its operator on disk."""

from typing import Any, Generic, TypeVar

import numpy as np
import scipy.sparse as sp

from figure_kedro.datasets.files.array_folder import are_whole, read_arrays, write_arrays
from figure_kedro.datasets.once import OnceDataset
from figure_kedro.errors import UserError
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import Graph, Targets
from figure_kedro.graph.csr import checked_csr

T = TypeVar("T")

ROUNDING = 1e-3
"""Features this far apart, relative to their size, are the same but for the order of sums."""

ROWS = 65_536
"""Rows that are compared at a time."""


class _ArrayFolderDataset(OnceDataset[T], Generic[T]):
    """A folder of arrays; a damaged one counts as missing."""

    def _exists(self) -> bool:
        return are_whole(self._filepath)


class GraphDataset(_ArrayFolderDataset[Graph]):
    """Saves a :class:`~figure_kedro.graph.Graph` without its targets as a folder of ``.npy`` files and a description.

    What is read back was checked before it was saved, and is not checked again but for its digests.

    Example::

        graph:
          type: figure_kedro.datasets.graph_dataset.GraphDataset
          filepath: data/03_primary/cora/graph
    """

    def write(self, data: Graph) -> None:
        if self._has_but_for_rounding(data):
            return
        arrays = {"ids": data.ids if data.ids.dtype != object else data.ids.astype(np.str_)}
        arrays |= _csr_arrays("adjacency", data.adjacency)
        if sp.issparse(data.features):
            arrays |= _csr_arrays("features", data.features)
        elif data.features is not None:
            arrays["features"] = data.features
        description = {
            "name": data.name,
            "directed": data.directed,
            "num_features": data.num_features,
            "generated": data.generated,
            "feature_names": None if data.feature_names is None else list(data.feature_names),
            "structure_checksum": data.structure_checksum,
            "checksum": data.checksum,
        }
        write_arrays(self._filepath, arrays, description)

    def read(self) -> Graph:
        arrays, description = read_arrays(self._filepath, changeable=True)
        n = len(arrays["ids"])
        features = arrays.get("features")
        if "features_indptr" in arrays:
            features = _csr("features", arrays, (n, description["num_features"]))
        names = description.get("feature_names")  # which older versions did not keep
        graph = Graph(
            name=description["name"],
            ids=arrays["ids"],
            adjacency=_csr("adjacency", arrays, (n, n)),
            directed=description["directed"],
            features=features,
            generated=description["generated"],
            feature_names=None if names is None else tuple(names),
            trusted=True,
        )
        vars(graph).update({name: description[name] for name in ("structure_checksum", "checksum")})  # known already
        return graph

    def _has_but_for_rounding(self, data: Graph) -> bool:
        """Whether the folder has this graph with features that differ by rounding alone.

        Features that are made from edges depend in their last bits on the number of threads. The ones that are there
        stay: an encoder or a checkpoint that was learnt from them belongs to them.
        """
        try:
            stored = self.read() if self._exists() else None
        except (UserError, OSError, ValueError, KeyError):
            return False
        if stored is None or not isinstance(stored.features, np.ndarray) or not isinstance(data.features, np.ndarray):
            return False
        same = ("name", "directed", "generated", "structure_checksum", "num_features")
        if any(getattr(stored, name) != getattr(data, name) for name in same) or stored.checksum == data.checksum:
            return False
        blocks = [slice(start, start + ROWS) for start in range(0, data.num_nodes, ROWS)]
        apart = sum(float(np.square(stored.features[rows] - data.features[rows]).sum()) for rows in blocks)
        whole = sum(float(np.square(data.features[rows]).sum()) for rows in blocks)
        return apart <= ROUNDING**2 * whole

    def profile(self) -> dict[str, Any]:
        """The name, checksum and size of the stored graph, without reading it."""
        arrays, description = read_arrays(self._filepath)
        entries = arrays["adjacency_indices"].shape[0]
        return {
            "name": description["name"],
            "checksum": description["checksum"],
            "nodes": len(arrays["ids"]),
            "edges": entries if description["directed"] else entries // 2,
            "features": description["num_features"],
        }


class TargetsDataset(_ArrayFolderDataset[Targets]):
    """Saves :class:`~figure_kedro.graph.Targets` as a folder of ``.npy`` files and a description.

    Example::

        targets:
          type: figure_kedro.datasets.graph_dataset.TargetsDataset
          filepath: data/03_primary/cora/targets
    """

    def write(self, data: Targets) -> None:
        arrays = {"labels": data.labels, "splits": data.splits, "twins": data.twins}
        description = {"classes": list(data.classes), "metric": data.metric}
        write_arrays(self._filepath, {name: array for name, array in arrays.items() if array is not None}, description)

    def read(self) -> Targets:
        arrays, description = read_arrays(self._filepath)
        classes, metric = tuple(description["classes"]), description["metric"]
        return Targets(arrays.get("labels"), classes, arrays.get("splits"), metric, arrays.get("twins"))


class OperatorDataset(_ArrayFolderDataset[Operator]):
    """Saves an :class:`~figure_kedro.filters.Operator` as a folder of ``.npy`` files, mapped from disk when it is read.

    Example::

        operator:
          type: figure_kedro.datasets.graph_dataset.OperatorDataset
          filepath: data/05_model_input/cora/operator
    """

    def write(self, data: Operator) -> None:
        description = {
            "shape": list(data.matrix.shape),
            "filters": data.filters.model_dump(mode="json"),
            "symmetric": data.symmetric,
        }
        write_arrays(self._filepath, _csr_arrays("matrix", data.matrix), description)

    def read(self) -> Operator:
        arrays, description = read_arrays(self._filepath, changeable=True)
        rows, columns = description["shape"]
        matrix = _csr("matrix", arrays, (rows, columns))
        return Operator(matrix, BANKS.parse(description["filters"]), description["symmetric"])


def _csr_arrays(name: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    return {f"{name}_{part}": getattr(matrix, part) for part in ("indptr", "indices", "data")}


def _csr(name: str, arrays: dict[str, np.ndarray], shape: tuple[int, int]) -> sp.csr_array:
    data, indices, indptr = (arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return checked_csr(data, indices, indptr, shape, f"the stored {name}")
