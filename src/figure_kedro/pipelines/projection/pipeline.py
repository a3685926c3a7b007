"""The wiring of ``projection``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.projection import nodes


def create_pipeline() -> Pipeline:
    """Fit the scaling before the random feature map, one for all filters."""
    return Pipeline(
        [node(nodes.fit_projection, ["embeddings", "params:projection"], "projection", name="fit_projection")],
        namespace="projection",
        prefix_datasets_with_namespace=False,
    )
