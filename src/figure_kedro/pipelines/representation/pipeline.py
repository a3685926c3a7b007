"""The wiring of ``representation``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.representation import nodes


def create_pipeline() -> Pipeline:
    """Tune if asked to, train the shared encoder, and embed the nodes."""
    return Pipeline(
        [
            node(
                nodes.tune_representation,
                ["graph", "operator", "params:representation", "tuning", "propagated_blocks"],
                "tuned_representation",
                name="tune_representation",
            ),
            node(
                nodes.train_encoder,
                ["graph", "operator", "tuned_representation", "checkpoint", "propagated_blocks"],
                ["encoder", "loss_curve", "timing"],
                name="train_encoder",
            ),
            node(nodes.embed_nodes, ["graph", "operator", "encoder"], "embeddings", name="embed_nodes"),
        ],
        namespace="representation",
        prefix_datasets_with_namespace=False,
    )
