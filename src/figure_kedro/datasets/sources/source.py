"""What every source of graphs can do."""

from abc import ABC, abstractmethod
from dataclasses import dataclass

from pydantic import Field

from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.graph import Graph, Targets
from figure_kedro.parts import Kind, Part, Settings


@dataclass(frozen=True)
class GraphSize:
    """How large a graph is, for estimates.

    Args:
        nodes, entries, features: An undirected edge has two entries.
        labelled, classes, splits: Nodes in some split, and how many classes and splits there are.
        drawn: Whether it is drawn by a generator, and not read.
    """

    nodes: int
    entries: int
    features: int
    labelled: int = 0
    classes: int = 2
    splits: int = 0
    drawn: bool = False

    @classmethod
    def of(cls, graph: Graph, targets: Targets | None) -> "GraphSize":
        """Of a graph that is there."""
        known = targets or Targets()
        return cls(
            graph.num_nodes,
            int(graph.adjacency.nnz),
            graph.num_features,
            labelled=len(known.used),
            classes=known.num_classes,
            splits=known.num_splits,
        )


class SourceSettings(Settings):
    """Where a graph comes from: the settings that all sources share."""

    kind: str = Field(description="name of the source")


class Source(Part, ABC):
    """Published files, a generator, or the user's own tables.

    A new source is one new file in ``figure_kedro/datasets/sources/kinds`` with its settings and a class that registers
    itself.
    """

    def __init__(self, settings: SourceSettings) -> None:
        self.settings = settings

    @abstractmethod
    def load(self, raw: RawFiles, name: str) -> Graph:
        """Load the graph that the settings describe.

        Args:
            raw: Provides published files; generated graphs and the user's own do not ask it.
            name: What the graph is called in paths, tables and messages.
        """

    def size(self) -> GraphSize | None:
        """How large the graph will be, if that is known before it is there."""
        return None


SOURCES: Kind[Source] = Kind("source", tag="kind", package="figure_kedro.datasets.sources.kinds")
