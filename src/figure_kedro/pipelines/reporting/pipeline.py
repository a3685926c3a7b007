"""The wiring of ``reporting``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.reporting import nodes


def create_pipeline() -> Pipeline:
    """Draw the filters, the training, the evaluation and the embeddings, and write the page of the run."""
    return Pipeline(
        [
            node(nodes.draw_filter_responses, "params:filters", "filter_responses", name="draw_filter_responses"),
            node(
                nodes.draw_charts,
                ["targets", "loss_curve", "split_alphas", "split_predictions", "summary"],
                ["loss_chart", "alpha_chart", "confusion_matrix"],
                name="draw_charts",
            ),
            node(
                nodes.draw_embeddings,
                ["embeddings", "projection", "targets", "split_scores", "summary"],
                ["tsne", "correlations"],
                name="draw_embeddings",
            ),
            node(
                nodes.gather_tables,
                ["dataset_statistics", "results_table", "alpha_table"],
                "report_tables",
                name="gather_tables",
            ),
            node(
                nodes.gather_pictures,
                ["loss_chart", "alpha_chart", "confusion_matrix", "tsne", "correlations"],
                "report_pictures",
                name="gather_pictures",
            ),
            node(
                nodes.write_report,
                ["summary", "report_tables", "report_pictures", "filter_responses", "command"],
                "report",
                name="write_report",
            ),
        ],
        namespace="reporting",
        prefix_datasets_with_namespace=False,
    )
