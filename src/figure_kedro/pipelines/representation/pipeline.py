"""The wiring of ``representation``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.representation import nodes


def create_pipeline() -> Pipeline:
    """Tune if asked to, train the shared encoder, and embed the nodes."""
    return Pipeline(
        [
            node(
                nodes.tune_representation,
                [
                    "graph",
                    "normalised_adjacency",
                    "params:filters",
                    "params:representation",
                    "tuning_journal",
                    "propagated_blocks",
                ],
                "tuned_representation",
                name="tune_representation",
            ),
            node(
                nodes.train_encoder,
                [
                    "graph",
                    "normalised_adjacency",
                    "params:filters",
                    "tuned_representation",
                    "checkpoint",
                    "propagated_blocks",
                ],
                ["encoder", "encoder_settings", "loss_curve", "timing"],
                name="train_encoder",
            ),
            node(
                nodes.embed_nodes,
                ["graph", "normalised_adjacency", "encoder", "params:representation"],
                "embeddings",
                name="embed_nodes",
            ),
        ]
    )
