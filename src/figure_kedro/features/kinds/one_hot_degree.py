"""One column for each number of neighbours."""

from typing import Literal

import numpy as np
from pydantic import Field

from figure_kedro.features.neighbours import neighbours_in_either_direction
from figure_kedro.features.structural import STRUCTURAL, ColumnSettings, StructuralFeatures
from figure_kedro.graph import Graph


class OneHotDegreeSettings(ColumnSettings):
    """Numbers of neighbours as indicators."""

    structural: Literal["one_hot_degree"] = "one_hot_degree"
    components: int = Field(128, gt=0, description="the largest number of columns")


@STRUCTURAL.register
class OneHotDegree(StructuralFeatures):
    """Columns of :func:`one_hot_degrees`."""

    Settings = OneHotDegreeSettings
    settings: OneHotDegreeSettings

    def columns(self, graph: Graph) -> np.ndarray | None:
        return one_hot_degrees(graph, self.settings.components)


def one_hot_degrees(graph: Graph, columns: int) -> np.ndarray:
    """One column for each number of neighbours from 0 on, at most ``columns`` of them; the last means that or more."""
    counts = np.diff(neighbours_in_either_direction(graph).indptr)
    columns = min(columns, int(counts.max()) + 1)
    result = np.zeros((graph.num_nodes, columns), dtype=np.float32)
    result[np.arange(graph.num_nodes), np.minimum(counts, columns - 1)] = 1
    return result
