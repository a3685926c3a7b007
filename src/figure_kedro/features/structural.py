"""What every kind of structural features can do: features that are made from the edges alone."""

from abc import ABC, abstractmethod
from typing import Literal

import numpy as np
import scipy.sparse as sp
from pydantic import Field

from figure_kedro.graph import Graph
from figure_kedro.graph.graph import Features
from figure_kedro.graph.row_blocks import csr_rows, even_blocks, stacked
from figure_kedro.memory import memory
from figure_kedro.parts import Kind, Part, Settings


class FeatureSettings(Settings):
    """Which features a graph is given before it is filtered: the settings that all kinds share."""

    structural: str = Field(description="kind of structural features")
    normalise: Literal["none", "rows", "columns"] = Field(
        "none",
        description="of the given features: rows divides each row by the sum of its magnitudes, columns gives each "
        "column mean 0 and deviation 1",
    )


class ColumnSettings(FeatureSettings):
    """What a kind that adds columns has beside that."""

    keep_given: bool = Field(True, description="whether the given features stand before the structural ones")
    scale: float = Field(1.0, gt=0, allow_inf_nan=False, description="factor on the structural columns")


class StructuralFeatures(Part, ABC):
    """Columns that say where a node stands in its graph, for a graph without features or beside those it has.

    A new kind is one new file in ``figure_kedro/features/kinds`` with its settings and a class that registers itself.
    """

    def __init__(self, settings: ColumnSettings) -> None:
        self.settings = settings

    @abstractmethod
    def columns(self, graph: Graph) -> np.ndarray | None:
        """The columns ``(n, c)``, finite on every graph; ``None`` if this graph gets none."""

    def features(self, graph: Graph) -> Features | None:
        """The graph's own features with the structural ones beside them, or instead of them.

        Given features that are sparse stay so, and the result is CSR; otherwise it is dense.
        """
        columns = self.columns(graph)
        if columns is None:
            return graph.features
        given = graph.features if self.settings.keep_given else None
        if sp.issparse(given):
            return self._beside_sparse(given, columns)
        first = 0 if given is None else given.shape[1]
        features = memory().empty((len(columns), first + columns.shape[1]), np.float32)
        for rows in even_blocks(*features.shape):
            if given is not None:
                features[rows, :first] = given[rows]
            features[rows, first:] = self.settings.scale * columns[rows]
        return features

    def _beside_sparse(self, given: sp.csr_array, columns: np.ndarray) -> sp.csr_array:
        shape = (len(columns), given.shape[1] + columns.shape[1])

        def block(rows: slice) -> sp.csr_array:
            structural = (self.settings.scale * columns[rows]).astype(np.float32)
            return sp.hstack([csr_rows(given, rows), sp.csr_array(structural)], format="csr")

        entries = given.nnz + sum(int(np.count_nonzero(columns[rows])) for rows in even_blocks(*columns.shape))
        return stacked(map(block, even_blocks(*shape)), shape, entries)


STRUCTURAL: Kind[StructuralFeatures] = Kind(
    "kind of structural features", tag="structural", package="figure_kedro.features.kinds", default="auto"
)
