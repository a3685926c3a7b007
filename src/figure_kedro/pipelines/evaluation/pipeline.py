"""The wiring of ``evaluation``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.evaluation import nodes, reports


def create_pipeline() -> Pipeline:
    """Evaluate every split, then tables, charts, pictures and the summary."""
    return Pipeline(
        [
            node(
                nodes.evaluate_splits,
                [
                    "graph",
                    "normalised_adjacency",
                    "encoder",
                    "projection_map",
                    "params:evaluation",
                    "evaluation_journal",
                ],
                ["split_scores", "split_alphas", "predictions"],
                name="evaluate_splits",
            ),
            node(
                reports.tabulate_results,
                ["graph", "encoder", "timing", "split_scores", "split_alphas", "params:evaluation"],
                ["results_table", "alpha_table", "timing_table", "results_markdown"],
                name="tabulate_results",
            ),
            node(
                reports.draw_charts,
                ["graph", "loss_curve", "split_alphas", "predictions"],
                ["loss_chart", "alpha_chart", "confusion_matrix"],
                name="draw_charts",
            ),
            node(
                reports.draw_embeddings,
                ["graph", "normalised_adjacency", "encoder", "params:projection"],
                ["tsne", "correlations"],
                name="draw_embeddings",
            ),
            node(
                reports.summarise_run,
                [
                    "graph",
                    "encoder",
                    "timing",
                    "split_scores",
                    "parameters",
                    "params:filters",
                    "params:projection",
                    "params:evaluation",
                ],
                "summary",
                name="summarise_run",
            ),
        ]
    )
