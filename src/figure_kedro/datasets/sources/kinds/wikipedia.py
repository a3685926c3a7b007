"""Chameleon and Squirrel: Wikipedia pages, as Geom-GCN prepared them, with its ten splits."""

import dataclasses
from typing import Literal

import scipy.sparse as sp
from pydantic import Field

from figure_kedro.datasets.sources.pyg import graph_from_pyg
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.graph import Graph
from figure_kedro.graph.twins import twin_groups

GEOM_GCN = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/f1fc0d14b3b019c562737240d06ec83b07d16a8f"


class WikipediaSettings(SourceSettings):
    """Which Wikipedia graph."""

    kind: Literal["wikipedia"] = "wikipedia"
    name: Literal["chameleon", "squirrel"] = Field(description="the published data set")
    directed: bool = Field(False, description="whether links keep their direction; the paper has none")


@SOURCES.register
class Wikipedia(Source):
    """A published graph of Wikipedia pages."""

    Settings = WikipediaSettings
    settings: WikipediaSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Load a graph of "Multi-scale Attributed Node Embedding" (Rozemberczki et al., 2021) in the form of "Geom-GCN:
        Geometric Graph Convolutional Networks" (Pei et al., 2020): five classes of monthly traffic.

        The published links are directed and hold self-loops. As in the FiGURe paper the graph has no self-loops, and
        it is undirected unless ``directed`` is set. Twins are told by the published links either way.
        """
        settings = self.settings
        from torch_geometric.datasets import WikipediaNetwork  # slow to import, and generated graphs do without

        folder = f"{settings.name}/geom_gcn/raw"
        tables = ("out1_node_feature_label.txt", "out1_graph_edges.txt")
        splits = [f"{settings.name}_split_0.6_0.2_{i}.npz" for i in range(10)]
        urls = {f"{folder}/{table}": f"{GEOM_GCN}/new_data/{settings.name}/{table}" for table in tables}
        urls |= {f"{folder}/{split}": f"{GEOM_GCN}/splits/{split}" for split in splits}
        graph = graph_from_pyg(
            lambda root: WikipediaNetwork(root, settings.name), raw.get_all(urls), name, directed=True
        )
        targets = dataclasses.replace(graph.targets, twins=twin_groups(graph))
        adjacency = graph.adjacency if settings.directed else sp.csr_array(graph.adjacency.maximum(graph.adjacency.T))
        return dataclasses.replace(
            graph, adjacency=adjacency, directed=settings.directed, targets=targets, trusted=True
        )
