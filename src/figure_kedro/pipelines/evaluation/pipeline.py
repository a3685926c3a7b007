"""The wiring of ``evaluation``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.evaluation import nodes


def create_pipeline() -> Pipeline:
    """Evaluate every split."""
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
        ]
    )
