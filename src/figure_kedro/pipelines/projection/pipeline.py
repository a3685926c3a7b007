"""The wiring of ``projection``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.projection import nodes


def create_pipeline() -> Pipeline:
    """Fit the scaling before the random feature map, one for all filters."""
    return Pipeline(
        [
            node(
                nodes.prepare_projection,
                ["graph", "normalised_adjacency", "encoder", "params:projection"],
                "projection_map",
                name="prepare_projection",
            )
        ]
    )
