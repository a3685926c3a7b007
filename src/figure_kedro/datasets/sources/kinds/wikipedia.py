"""Chameleon and Squirrel: Wikipedia pages, as Geom-GCN prepared them, with its ten splits."""

from typing import Literal

from pydantic import Field

from figure_kedro.datasets.sources.pyg import graph_from_pyg
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.graph import Graph

GEOM_GCN = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f"


class WikipediaSettings(SourceSettings):
    """Which Wikipedia graph."""

    kind: Literal["wikipedia"] = "wikipedia"
    name: Literal["chameleon", "squirrel"] = Field(description="the published data set")


@SOURCES.register
class Wikipedia(Source):
    """A published graph of Wikipedia pages."""

    Settings = WikipediaSettings
    settings: WikipediaSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Load a graph of "Multi-scale Attributed Node Embedding" (Rozemberczki et al., 2021) in the form of "Geom-GCN:
        Geometric Graph Convolutional Networks" (Pei et al., 2020): five classes of monthly traffic.

        The published links are directed and hold self-loops; as in the FiGURe paper the graph is undirected and has
        none.
        """
        settings = self.settings
        from torch_geometric.datasets import WikipediaNetwork  # slow to import, and generated graphs do without

        folder = f"{settings.name}/geom_gcn/raw"
        tables = ("out1_node_feature_label.txt", "out1_graph_edges.txt")
        splits = [f"{settings.name}_split_0.6_0.2_{i}.npz" for i in range(10)]
        urls = {f"{folder}/{table}": f"{GEOM_GCN}/new_data/{settings.name}/{table}" for table in tables}
        urls |= {f"{folder}/{split}": f"{GEOM_GCN}/splits/{split}" for split in splits}
        return graph_from_pyg(lambda root: WikipediaNetwork(root, settings.name), raw.get_all(urls), name)
