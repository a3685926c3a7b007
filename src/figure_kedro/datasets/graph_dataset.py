"""A graph, its targets and its operator on disk."""

from typing import Generic, TypeVar

import numpy as np
import scipy.sparse as sp

from figure_kedro.datasets.files.array_folder import DESCRIPTION, read_arrays, write_arrays
from figure_kedro.datasets.once import OnceDataset
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import Graph, Targets

T = TypeVar("T")


class _ArrayFolderDataset(OnceDataset[T], Generic[T]):
    """A folder of arrays that is there once its description is."""

    def _exists(self) -> bool:
        return (self._filepath / DESCRIPTION).exists()


class GraphDataset(_ArrayFolderDataset[Graph]):
    """Saves a :class:`~figure_kedro.graph.Graph` without its targets as a folder of ``.npy`` files and a description.

    What is read back was checked before it was saved, and is not checked again.

    Example::

        graph:
          type: figure_kedro.datasets.graph_dataset.GraphDataset
          filepath: data/03_primary/cora/graph
    """

    def write(self, data: Graph) -> None:
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
            "structure_checksum": data.structure_checksum,
            "checksum": data.checksum,
        }
        write_arrays(self._filepath, arrays, description)

    def read(self) -> Graph:
        arrays, description = read_arrays(self._filepath)
        n = len(arrays["ids"])
        features = arrays.get("features")
        if "features_indptr" in arrays:
            features = _csr("features", arrays, (n, description["num_features"]))
        graph = Graph(
            name=description["name"],
            ids=arrays["ids"],
            adjacency=_csr("adjacency", arrays, (n, n)),
            directed=description["directed"],
            features=features,
            generated=description["generated"],
            trusted=True,
        )
        vars(graph).update({name: description[name] for name in ("structure_checksum", "checksum")})  # known already
        return graph


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
        arrays, description = read_arrays(self._filepath)
        rows, columns = description["shape"]
        matrix = _csr("matrix", arrays, (rows, columns))
        return Operator(matrix, BANKS.parse(description["filters"]), description["symmetric"])


def _csr_arrays(name: str, matrix: sp.csr_array) -> dict[str, np.ndarray]:
    return {f"{name}_{part}": getattr(matrix, part) for part in ("indptr", "indices", "data")}


def _csr(name: str, arrays: dict[str, np.ndarray], shape: tuple[int, int]) -> sp.csr_array:
    parts = tuple(arrays[f"{name}_{part}"] for part in ("data", "indices", "indptr"))
    return sp.csr_array(parts, shape=shape, copy=False)
