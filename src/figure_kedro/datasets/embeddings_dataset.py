"""Embeddings on disk: mapped arrays for programs, and tables under the user's ids for people."""

import os
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from kedro_datasets._typing import TablePreview

from figure_kedro.datasets.files.array_folder import are_whole, read_arrays, save_array, write_description
from figure_kedro.datasets.files.unfinished import Unfinished
from figure_kedro.datasets.files.writing import writing
from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset
from figure_kedro.datasets.handles import BlockStore
from figure_kedro.datasets.once import OnceDataset
from figure_kedro.datasets.representation_dataset import RepresentationDataset
from figure_kedro.embeddings import STORED_NUMBERS, Embeddings
from figure_kedro.errors import UserError
from figure_kedro.graph import Graph

TABLE_ROWS = 65_536
"""Rows of a table that are written at a time."""


class EmbeddingsDataset(OnceDataset[Embeddings]):
    """Keeps the embeddings of every view twice in one folder: ``view_<number>.npy``, mapped from disk by whatever comes
    after, and ``<view>.parquet``, the user's node ids and then one column for each dimension.

    Embeddings that are not kept are computed again, from the weights and view by view, when they are first asked for;
    until the run is over they lie in files that are removed then.

    Args:
        filepath: Of the folder.
        keep: Whether to keep them: ``always``, ``never``, or ``auto`` up to 100 million numbers.
        graph, operator, encoder: Where the things are that embeddings are computed from.
        metadata: For Kedro-Viz.

    Example::

        embeddings:
          type: figure_kedro.datasets.embeddings_dataset.EmbeddingsDataset
          filepath: data/07_model_output/cora/embeddings
          keep: auto
          graph: data/03_primary/cora/graph
          operator: data/05_model_input/cora/operator
          encoder: data/06_models/cora
    """

    keeps_saved = True

    def __init__(
        self,
        *,
        filepath: str,
        graph: str,
        operator: str,
        encoder: str,
        keep: Literal["auto", "always", "never"] = "auto",
        metadata: dict[str, Any] | None = None,
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._keep = keep
        self._graph, self._operator = GraphDataset(filepath=graph), OperatorDataset(filepath=operator)
        self._encoder = RepresentationDataset(filepath=encoder)
        self._scratch = BlockStore(self._filepath)

    def write(self, data: Embeddings) -> None:
        """Write every view as it is computed, if they are to be kept; the folder appears whole or not at all."""
        if self._keep == "never" or (self._keep == "auto" and data.numbers > STORED_NUMBERS):
            shutil.rmtree(self._filepath, ignore_errors=True)  # of an earlier run that kept them
            return
        write_embeddings(self._filepath, data)

    def save(self, data: Embeddings) -> None:
        self.write(data)
        if self._is_kept():
            self._loaded = None  # read back, mapped from disk
        else:
            self._scratch.clear()  # of what was saved before
            self._loaded = _Scratched(data, self._scratch)

    def read(self) -> Embeddings:
        if not self._is_kept() and (self._can_be_computed() or not self._filepath.exists()):
            computed = self._encoder.load().embed(self._graph.load(), self._operator.load())
            return _Scratched(computed, self._scratch)
        return read_embeddings(self._filepath, self._graph.load)

    def preview(self, nrows: int = 5, columns: int = 8) -> TablePreview:
        """The first nodes and dimensions under every view, for Kedro-Viz; nothing is computed for it.

        Args:
            nrows: How many nodes.
            columns: How many dimensions.
        """
        if not self._is_kept():
            return TablePreview({"index": [0], "columns": ["embeddings"], "data": [["not kept: computed when needed"]]})
        kept = self.read()
        rows = [
            [name, str(kept.ids[node]), *(round(float(number), 4) for number in kept[name][node, :columns])]
            for name in kept.names
            for node in range(min(nrows, len(kept.ids)))
        ]
        shown = min(columns, kept.width)
        names = ["view", "id", *(f"e{column}" for column in range(shown))]
        return TablePreview({"index": list(range(len(rows))), "columns": names, "data": rows})

    def _is_kept(self) -> bool:
        return are_whole(self._filepath)

    def _can_be_computed(self) -> bool:
        return all(part.exists() for part in (self._encoder, self._graph, self._operator))

    def _exists(self) -> bool:
        return self._is_kept() or (self._keep != "always" and self._can_be_computed())

    def _release(self) -> None:
        super()._release()
        for part in (self._graph, self._operator, self._encoder):
            part.release()
        self._scratch.clear()


class NewEmbeddingsDataset(OnceDataset[Embeddings]):
    """Keeps the embeddings of new nodes in the same way, always; their graph is not kept.

    Example::

        new_embeddings:
          type: figure_kedro.datasets.embeddings_dataset.NewEmbeddingsDataset
          filepath: data/07_model_output/cora/new_embeddings
    """

    def write(self, data: Embeddings) -> None:
        write_embeddings(self._filepath, data)

    def read(self) -> Embeddings:
        return read_embeddings(self._filepath, _no_graph)

    def _exists(self) -> bool:
        return are_whole(self._filepath)


def write_embeddings(folder: Path, data: Embeddings) -> None:
    """Write every view as it is computed; the folder appears whole or not at all."""
    size = 8 * data.numbers  # once as arrays, once as tables
    with writing(folder, size), Unfinished(folder, folder=True) as new, Unfinished(folder, folder=True) as old:
        _write_to(new.path, data)
        if folder.exists():  # moved aside: whoever reads it finds one or the other
            os.replace(folder, old.path)
        new.put(folder)


def _write_to(folder: Path, data: Embeddings) -> None:
    digests = {}
    for number, (name, view) in enumerate(data.items_in_turn()):
        digests[f"view_{number}.npy"] = save_array(folder / f"view_{number}.npy", view)
        _write_table(folder / f"{name}.parquet", data.ids, view)
    ids = data.ids.astype(np.str_) if data.ids.dtype == object else data.ids
    digests["ids.npy"] = save_array(folder / "ids.npy", ids)
    write_description(folder, {"views": list(data.names), "width": data.width}, digests)


def read_embeddings(folder: Path, graph: Callable[[], Graph]) -> Embeddings:
    """Embeddings mapped from disk, and what gives their graph."""
    arrays, description = read_arrays(folder, changeable=True)
    names = tuple(description["views"])
    views = {name: arrays[f"view_{number}"] for number, name in enumerate(names)}
    return Embeddings(
        names, arrays["ids"], description["width"], compute=lambda: iter(views.values()), graph=graph, arrays=views
    )


def _no_graph() -> Graph:
    raise UserError("the graph of new nodes is not kept; embed them again")


class _Scratched(Embeddings):
    """Embeddings that are computed into files of their own when the first of them is asked for."""

    def __init__(self, lazy: Embeddings, scratch: BlockStore) -> None:
        super().__init__(lazy.names, lazy.ids, lazy.width, compute=lazy._compute, graph=lazy.graph)
        self._scratch = scratch

    def __getitem__(self, name: str) -> np.ndarray:
        self.materialise(self._scratch.allocate)
        return super().__getitem__(name)


def _write_table(path: Path, ids: np.ndarray, view: np.ndarray) -> None:
    names = ["id", *(f"e{column}" for column in range(view.shape[1]))]
    writer = None
    for start in range(0, len(view), TABLE_ROWS):
        rows = slice(start, start + TABLE_ROWS)
        values = ids[rows].astype(object) if ids.dtype.kind in "US" else ids[rows]
        columns = [pa.array(values), *(pa.array(column) for column in np.ascontiguousarray(view[rows].T))]
        table = pa.table(columns, names=names)
        writer = writer or pq.ParquetWriter(path, table.schema)
        writer.write_table(table)
    if writer is not None:
        writer.close()
