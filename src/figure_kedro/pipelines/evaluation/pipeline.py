"""The wiring of ``evaluation``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.evaluation import nodes


def create_pipeline() -> Pipeline:
    """Evaluate every split, fit the classifier that is kept, record the run, and tabulate what came out."""
    return Pipeline(
        [
            node(
                nodes.evaluate_splits,
                ["embeddings", "projection", "targets", "params:evaluation", "evaluation_journal"],
                ["split_scores", "split_alphas", "split_predictions"],
                name="evaluate_splits",
            ),
            node(
                nodes.fit_classifier,
                ["embeddings", "projection", "targets", "split_scores", "parameters"],
                ["classifier", "predictions"],
                name="fit_classifier",
            ),
            node(
                nodes.record_run,
                ["encoder", "targets", "split_scores", "parameters", "run_index"],
                "summary",
                name="record_run",
            ),
            node(
                nodes.tabulate_results,
                ["summary", "split_scores", "split_alphas"],
                ["results_table", "alpha_table", "timing_table", "results_markdown"],
                name="tabulate_results",
            ),
        ],
        namespace="evaluation",
        prefix_datasets_with_namespace=False,
    )
