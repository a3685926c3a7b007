"""Cora, CiteSeer and PubMed: citation graphs with the ten splits of Geom-GCN."""

from typing import Literal

from pydantic import Field

from figure_kedro.datasets.sources.pyg import graph_from_pyg
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.graph import Graph

PLANETOID = "https://github.com/kimiyoung/planetoid/raw/master/data"
GEOM_GCN = "https://raw.githubusercontent.com/graphdml-uiuc-jlu/geom-gcn/master/splits"
PARTS = ("x", "tx", "allx", "y", "ty", "ally", "graph", "test.index")


class PlanetoidSettings(SourceSettings):
    """Which citation graph."""

    kind: Literal["planetoid"] = "planetoid"
    name: Literal["cora", "citeseer", "pubmed"] = Field(description="the published data set")


@SOURCES.register
class Planetoid(Source):
    """A published citation graph."""

    Settings = PlanetoidSettings
    settings: PlanetoidSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Load a graph of "Revisiting Semi-Supervised Learning with Graph Embeddings" (Yang et al., 2016), with the
        splits of "Geom-GCN: Geometric Graph Convolutional Networks" (Pei et al., 2020).

        Features are the published values, not normalised. Seven of the raw files are pickles, which is why all are
        checked before the first is opened. In CiteSeer 15 nodes have no features; their label 0 is a placeholder.
        """
        settings = self.settings
        from torch_geometric.datasets import Planetoid  # slow to import, and generated graphs do without

        folder = f"{settings.name}/geom-gcn/raw"
        splits = [f"{settings.name}_split_0.6_0.2_{i}.npz" for i in range(10)]
        urls = {f"{folder}/ind.{settings.name}.{part}": f"{PLANETOID}/ind.{settings.name}.{part}" for part in PARTS}
        urls |= {f"{folder}/{split}": f"{GEOM_GCN}/{split}" for split in splits}
        return graph_from_pyg(lambda root: Planetoid(root, settings.name, split="geom-gcn"), raw.get_all(urls), name)
