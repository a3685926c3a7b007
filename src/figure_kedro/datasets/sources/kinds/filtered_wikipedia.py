"""Chameleon and Squirrel without their duplicate nodes, with ten splits of their own."""

from typing import Literal

import numpy as np
from pydantic import Field

from figure_kedro.datasets.sources.checksums import published_checksums
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.graph import Graph, graph_from_edges, splits_from_masks
from figure_kedro.graph.compact import compact

YANDEX = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"


class FilteredWikipediaSettings(SourceSettings):
    """Which filtered graph."""

    kind: Literal["filtered_wikipedia"] = "filtered_wikipedia"
    name: Literal["chameleon_filtered", "squirrel_filtered"] = Field(description="the published data set")
    directed: bool = Field(False, description="whether links keep their direction")


@SOURCES.register
class FilteredWikipedia(Source):
    """A published graph of Wikipedia pages without duplicates."""

    Settings = FilteredWikipediaSettings
    settings: FilteredWikipediaSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Load a graph of "A Critical Look at the Evaluation of GNNs under Heterophily: Are We Really Making Progress?"
        (Platonov et al., 2023), which removed nodes that share their label and their neighbourhood with another.

        The raw file is an npz archive of plain arrays: nothing in it can be executed. A mirror may have it beside its
        raw files, in a folder ``extra``.
        """
        settings = self.settings
        file = f"{settings.name}{'_directed' * settings.directed}.npz"
        checksum = published_checksums()[file]
        path = None
        if raw.mirror is not None:
            path = RawFiles(raw.folder, raw.mirror.resolve().parent / "extra").find(file, checksum)
        path = path or raw.get(file, f"{YANDEX}/{file}", checksum)
        with np.load(path, allow_pickle=False) as archive:
            arrays = dict(archive)
        train, val, test = (arrays[f"{part}_masks"] for part in ("train", "val", "test"))
        source, target = arrays["edges"].T
        return graph_from_edges(
            source,
            target,
            name=name,
            num_nodes=len(arrays["node_labels"]),
            directed=settings.directed,
            features=compact(arrays["node_features"]),
            labels=arrays["node_labels"],
            splits=splits_from_masks(train, val, test, name),
        )
