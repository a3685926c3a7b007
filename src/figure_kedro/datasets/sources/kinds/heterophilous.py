"""Roman-empire and Minesweeper: heterophilous graphs with their ten published splits."""

from typing import Literal

from pydantic import Field

from figure_kedro.datasets.sources.pyg import graph_from_pyg
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.graph import Graph

YANDEX = "https://github.com/yandex-research/heterophilous-graphs/raw/main/data"


class HeterophilousSettings(SourceSettings):
    """Which heterophilous graph."""

    kind: Literal["heterophilous"] = "heterophilous"
    name: Literal["roman_empire", "minesweeper"] = Field(description="the published data set")


@SOURCES.register
class Heterophilous(Source):
    """A published heterophilous graph."""

    Settings = HeterophilousSettings
    settings: HeterophilousSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Load a graph of "A Critical Look at the Evaluation of GNNs under Heterophily: Are We Really Making Progress?"
        (Platonov et al., 2023).

        The raw file is an npz archive of plain arrays: nothing in it can be executed.
        """
        settings = self.settings
        from torch_geometric.datasets import HeterophilousGraphDataset  # slow to import, generated graphs do without

        files = raw.get_all({f"{settings.name}/raw/{settings.name}.npz": f"{YANDEX}/{settings.name}.npz"})
        return graph_from_pyg(lambda root: HeterophilousGraphDataset(root, settings.name), files, name)
