"""Structural features for graphs that have no others."""

from typing import Literal

import numpy as np

from figure_kedro.features.kinds.svd import SpectralSettings, Svd
from figure_kedro.features.structural import STRUCTURAL
from figure_kedro.graph import Graph


class AutoSettings(SpectralSettings):
    """Those of ``svd`` for a graph without features, none for the others."""

    structural: Literal["auto"] = "auto"


@STRUCTURAL.register
class Auto(Svd):
    """:class:`~figure_kedro.features.kinds.svd.Svd` where there is nothing else."""

    Settings = AutoSettings  # type: ignore[assignment]

    def columns(self, graph: Graph) -> np.ndarray | None:
        return super().columns(graph) if graph.features is None else None
