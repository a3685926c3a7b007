"""The published minesweeper recipe, drawn from a seed at any size."""

from typing import Annotated, Literal

from pydantic import Field

from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.graph import Graph
from figure_kedro.graph.minesweeper import generate_minesweeper
from figure_kedro.parts import Decides


class MinesweeperGeneratedSettings(SourceSettings):
    """The defaults are the published recipe."""

    kind: Literal["minesweeper_generated"] = "minesweeper_generated"
    rows: int = Field(100, ge=2, description="height of the grid in cells; every cell is a node")
    columns: int = Field(100, ge=2, description="width of the grid in cells")
    mines: float = Field(0.2, gt=0, lt=1, description="share of cells with a mine")
    hidden: float = Field(0.5, ge=0, le=1, description="share of cells whose features are hidden")
    splits: Annotated[int, Decides.TARGETS] = Field(10, ge=1, le=1000, description="number of random 50/25/25 splits")
    seed: int = Field(0, ge=0, description="of the random generator; equal seeds give equal graphs")


@SOURCES.register
class MinesweeperGenerated(Source):
    """A drawn minesweeper board."""

    Settings = MinesweeperGeneratedSettings
    settings: MinesweeperGeneratedSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Draw the graph; no file is read."""
        return generate_minesweeper(**self.settings.model_dump(exclude={"kind"}), name=name)
