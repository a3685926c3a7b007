"""A contextual stochastic block model: size, degree, classes and homophily as wanted."""

from collections.abc import Collection
from typing import Annotated, Literal

from pydantic import Field

from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, GraphSize, Source, SourceSettings
from figure_kedro.graph import Graph
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.parts import Decides


class CsbmSettings(SourceSettings):
    """What decides the graph that is drawn."""

    kind: Literal["csbm"] = "csbm"
    nodes: int = Field(1000, ge=2, description="number of nodes")
    degree: float = Field(10.0, gt=0, description="mean number of neighbours of a node")
    classes: int = Field(4, ge=2, description="number of classes, of equal size")
    homophily: float = Field(0.8, ge=0, le=1, description="share of edges that join nodes of one class")
    features: int = Field(16, ge=0, description="number of features; 0 for none")
    signal: float = Field(1.0, ge=0, description="norm of the class means, in standard deviations of the noise")
    splits: Annotated[int, Decides.TARGETS] = Field(10, ge=1, le=1000, description="number of random splits")
    labelled: Annotated[float, Decides.TARGETS] = Field(
        1.0, gt=0, le=1, description="share of the nodes of each class whose label is known"
    )
    seed: int = Field(0, ge=0, description="of the random generator; equal seeds give equal graphs")

    def idle(self) -> Collection[str]:
        return {"labelled"} if self.labelled == 1 else ()


@SOURCES.register
class Csbm(Source):
    """A drawn graph of any size."""

    Settings = CsbmSettings
    settings: CsbmSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Draw the graph; no file is read."""
        return generate_csbm(**self.settings.model_dump(exclude={"kind"}), name=name)

    def size(self) -> GraphSize:
        drawn = self.settings
        return GraphSize(
            drawn.nodes,
            int(drawn.nodes * drawn.degree),
            drawn.features,
            labelled=int(drawn.labelled * drawn.nodes),
            classes=drawn.classes,
            splits=drawn.splits,
            drawn=True,
        )
