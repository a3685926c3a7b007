"""Structural features for graphs that have no others."""

from typing import Literal

import numpy as np

from figure_kedro.features.kinds.proximity import Proximity, ProximitySettings
from figure_kedro.features.structural import STRUCTURAL
from figure_kedro.graph import Graph

WHERE_NONE = "proximity"
"""The kind that a graph without features gets."""


class AutoSettings(ProximitySettings):
    """Those of ``proximity`` for a graph without features, none for the others."""

    structural: Literal["auto"] = "auto"  # type: ignore[assignment]


@STRUCTURAL.register
class Auto(Proximity):
    """:class:`~figure_kedro.features.kinds.proximity.Proximity` where there is nothing else."""

    Settings = AutoSettings
    version = 2  # proximity; 1 had svd

    def columns(self, graph: Graph) -> np.ndarray | None:
        return super().columns(graph) if graph.features is None else None
