"""A graph on disk."""

from pathlib import Path
from typing import Any

import numpy as np
import scipy.sparse as sp
from kedro.io import AbstractDataset

from figure_kedro.datasets.array_folder import DESCRIPTION, read_arrays, write_arrays
from figure_kedro.graph import Graph


class GraphDataset(AbstractDataset[Graph, Graph]):
    """Saves a :class:`~figure_kedro.graph.Graph` as a folder of ``.npy`` files and a JSON description.

    Example::

        graph:
          type: figure_kedro.datasets.graph_dataset.GraphDataset
          filepath: data/03_primary/cora/graph
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def save(self, data: Graph) -> None:
        arrays = {"ids": data.ids if data.ids.dtype != object else data.ids.astype(np.str_)}
        arrays |= _csr_arrays("adjacency", data.adjacency)
        if sp.issparse(data.features):
            arrays |= _csr_arrays("features", data.features)
        elif data.features is not None:
            arrays["features"] = data.features
        arrays |= {name: getattr(data, name) for name in ("labels", "splits") if getattr(data, name) is not None}
        description = {
            "name": data.name,
            "directed": data.directed,
            "classes": list(data.classes),
            "num_features": data.num_features,
            "generated": data.generated,
            "checksum": data.checksum(),
        }
        write_arrays(self._folder, arrays, description)

    def load(self) -> Graph:
        arrays, description = read_arrays(self._folder)
        n = len(arrays["ids"])
        features = arrays.get("features")
        if "features_indptr" in arrays:
            features = _csr("features", arrays, (n, description["num_features"]))
        return Graph(
            name=description["name"],
            ids=arrays["ids"],
            adjacency=_csr("adjacency", arrays, (n, n)),
            directed=description["directed"],
            features=features,
            labels=arrays.get("labels"),
            classes=tuple(description["classes"]),
            splits=arrays.get("splits"),
            generated=description["generated"],
        )

    def _exists(self) -> bool:
        return (self._folder / DESCRIPTION).exists()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder)}


class SparseMatrixDataset(AbstractDataset[sp.csr_array, sp.csr_array]):
    """Saves a scipy CSR matrix as a folder of ``.npy`` files, mapped from disk when it is loaded.

    Example::

        normalised_adjacency:
          type: figure_kedro.datasets.graph_dataset.SparseMatrixDataset
          filepath: data/05_model_input/cora/normalised_adjacency
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def save(self, data: sp.csr_array) -> None:
        write_arrays(self._folder, _csr_arrays("matrix", data), {"shape": list(data.shape)})

    def load(self) -> sp.csr_array:
        arrays, description = read_arrays(self._folder)
        return _csr("matrix", arrays, tuple(description["shape"]))

    def _exists(self) -> bool:
        return (self._folder / DESCRIPTION).exists()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder)}


def _csr_arrays(name: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    return {f"{name}_{part}": getattr(matrix, part) for part in ("indptr", "indices", "data")}


def _csr(name: str, arrays: dict[str, np.ndarray], shape: tuple[int, int]) -> sp.csr_array:
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_array(parts, shape=shape, copy=False)
