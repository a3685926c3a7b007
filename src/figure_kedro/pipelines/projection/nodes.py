"""The random feature map, prepared once for all filters."""

from typing import Any

import numpy as np
import scipy.sparse as sp

from figure_kedro.estimator import Representation, State
from figure_kedro.graph import Graph
from figure_kedro.projections import ProjectionSettings, fit_projection


def prepare_projection(
    graph: Graph, normalised_adjacency: sp.csr_array, encoder: State, projection: ProjectionSettings
) -> dict[str, Any]:
    """Fit the scaling and describe the map; embeddings are projected where they are used, never all at once.

    Returns:
        The settings, the fitted scale, and the width that comes out.
    """
    views = [view for _, view in Representation.from_state(*encoder).views(graph, normalised_adjacency)]
    projector = fit_projection(projection, views)
    scaler = projector.named_steps["scale"]
    return {
        "settings": projection.model_dump(mode="json"),
        "input_dim": views[0].shape[1],
        "output_dim": projector.transform(views[0][:1]).shape[1],
        "mean": np.asarray(scaler.mean_).tolist(),
        "scale": np.asarray(scaler.scale_).tolist(),
    }
