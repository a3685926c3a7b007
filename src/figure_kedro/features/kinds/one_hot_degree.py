"""One column for each number of neighbours."""

from typing import Literal

import numpy as np
from pydantic import Field

from figure_kedro.features.structural import STRUCTURAL, ColumnSettings, StructuralFeatures
from figure_kedro.graph import Graph
from figure_kedro.graph.csr import column_counts
from figure_kedro.graph.row_blocks import even_blocks
from figure_kedro.memory import memory


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
    sides, most = [out], columns
    if graph.directed:
        sides, most = [out, column_counts(graph.adjacency)], max(columns // 2, 1)
    widths = [min(most, int(counts.max()) + 1) for counts in sides]
    result = memory().empty((graph.num_nodes, sum(widths)))
    for rows in even_blocks(*result.shape):
        result[rows], first = 0, 0
        for counts, width in zip(sides, widths, strict=True):
            result[np.arange(rows.start, rows.stop), first + np.minimum(counts[rows], width - 1)] = 1
            first += width
    return result
