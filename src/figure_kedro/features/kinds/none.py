"""No structural features."""

from typing import Literal

from figure_kedro.features.structural import STRUCTURAL, FeatureSettings, StructuralFeatures
from figure_kedro.graph import Graph
from figure_kedro.graph.graph import Features


class NoneSettings(FeatureSettings):
    """The features as they are given."""

    structural: Literal["none"] = "none"


@STRUCTURAL.register
class NoStructuralFeatures(StructuralFeatures):
    """Leaves the features of a graph as they are, also where there are none."""

    Settings = NoneSettings

    def __init__(self, settings: NoneSettings) -> None:
        pass

    def columns(self, graph: Graph) -> None:
        return None

    def features(self, graph: Graph) -> Features | None:
        return graph.features
