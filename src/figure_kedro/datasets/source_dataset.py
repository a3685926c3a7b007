"""The graph that a data set's source provides, as the first entry of the catalog."""

from pathlib import Path
from typing import Any

from kedro.io import AbstractDataset, DatasetError

from figure_kedro.datasets.sources import SOURCES, RawFiles
from figure_kedro.graph import Graph


class SourceDataset(AbstractDataset[None, Graph]):
    """Loads a graph from its source: published files, a generator, or the user's own tables.

    Example::

        source_graph:
          type: figure_kedro.datasets.source_dataset.SourceDataset
          name: cora
          source: {kind: planetoid, name: cora}
          filepath: data/01_raw
          raw_mirror: null
    """

    def __init__(
        self,
        *,
        name: str,
        source: dict[str, Any],
        filepath: str,
        raw_mirror: str | None = None,
        metadata: dict[str, Any] | None = None,
    ) -> None:
        self._name = name
        self._source = SOURCES.parse(source)
        self._raw = RawFiles(Path(filepath), Path(raw_mirror) if raw_mirror else None)
        self.metadata = metadata

    def load(self) -> Graph:
        return SOURCES.build(self._source).load(self._raw, self._name)

    def save(self, data: None) -> None:
        raise DatasetError("a source is only ever read")

    def _exists(self) -> bool:
        return True  # loading says what is missing

    def _describe(self) -> dict[str, Any]:
        return {"name": self._name, "source": self._source.model_dump()}
