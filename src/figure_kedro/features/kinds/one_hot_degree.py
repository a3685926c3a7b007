"""One column for each number of neighbours."""

from typing import Literal

import numpy as np
from pydantic import Field

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
    version = 2  # both sides of directed graphs
    settings: OneHotDegreeSettings

    def columns(self, graph: Graph) -> np.ndarray | None:
        return one_hot_degrees(graph, self.settings.components)


def one_hot_degrees(graph: Graph, columns: int) -> np.ndarray:
    """One column for each number of neighbours from 0 on, at most ``columns`` of them; the last means that or more.

    A directed graph has half of the columns for the nodes that a node points to, and half for those that point at it.
    """
    out = np.diff(graph.adjacency.indptr)
    if not graph.directed:
        return _indicators(out, columns)
    into = np.bincount(graph.adjacency.indices, minlength=graph.num_nodes)
    return np.hstack([_indicators(counts, max(columns // 2, 1)) for counts in (out, into)])


def _indicators(counts: np.ndarray, columns: int) -> np.ndarray:
    columns = min(columns, int(counts.max()) + 1)
    result = np.zeros((len(counts), columns), dtype=np.float32)
    result[np.arange(len(counts)), np.minimum(counts, columns - 1)] = 1
    return result
