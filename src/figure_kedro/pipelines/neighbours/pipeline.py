"""The wiring of ``neighbours``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.neighbours import nodes


def create_pipeline() -> Pipeline:
    """Find the nearest nodes of all nodes, or of those that are asked for."""
    return Pipeline(
        [
            node(
                nodes.find_neighbours,
                ["embeddings", "classifier", "neighbour_ids", "params:neighbours"],
                "nearest_nodes",
                name="find_neighbours",
            )
        ],
        namespace="neighbours",
        prefix_datasets_with_namespace=False,
    )
