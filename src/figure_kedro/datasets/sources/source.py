"""What every source of graphs can do."""

from abc import ABC, abstractmethod

from pydantic import Field

from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.graph import Graph
from figure_kedro.parts import Kind, Part, Settings


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


SOURCES: Kind[Source] = Kind("source", tag="kind", package="figure_kedro.datasets.sources.kinds")
