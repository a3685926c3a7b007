"""The wiring of ``reporting``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.reporting import nodes


def create_pipeline() -> Pipeline:
    """Draw the filters, the training, the evaluation and the embeddings."""
    return Pipeline(
        [
            node(nodes.draw_filter_responses, "params:filters", "filter_responses", name="draw_filter_responses"),
            node(
                nodes.draw_charts,
                ["targets", "loss_curve", "split_alphas", "predictions"],
                ["loss_chart", "alpha_chart", "confusion_matrix"],
                name="draw_charts",
            ),
            node(
                nodes.draw_embeddings,
                ["embeddings", "projection", "targets", "split_scores"],
                ["tsne", "correlations"],
                name="draw_embeddings",
            ),
        ],
        namespace="reporting",
        prefix_datasets_with_namespace=False,
    )
