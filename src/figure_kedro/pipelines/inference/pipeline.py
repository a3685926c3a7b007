"""The wiring of ``inference``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.inference import nodes


def create_pipeline() -> Pipeline:
    """Attach new nodes to the graph, embed them, and predict their classes."""
    return Pipeline(
        [
            node(
                nodes.attach_new_nodes,
                ["new_nodes", "graph", "classifier", "parameters"],
                "attachment",
                name="attach_new_nodes",
            ),
            node(
                nodes.embed_new_nodes,
                ["attachment", "graph", "operator", "encoder"],
                "new_embeddings",
                name="embed_new_nodes",
            ),
            node(
                nodes.predict_new_nodes,
                ["new_embeddings", "classifier", "params:inference"],
                "new_predictions",
                name="predict_new_nodes",
            ),
        ],
        namespace="inference",
        prefix_datasets_with_namespace=False,
    )
