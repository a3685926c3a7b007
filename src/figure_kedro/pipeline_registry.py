"""The pipelines by name; ``kedro run`` runs the sum of those that make a model."""

from kedro.pipeline import Pipeline

from figure_kedro.pipelines import (
    data_processing,
    evaluation,
    inference,
    neighbours,
    projection,
    reporting,
    representation,
)


def register_pipelines() -> dict[str, Pipeline]:
    """Register the pipelines explicitly, in the order in which they build on each other."""
    pipelines = {
        "data_processing": data_processing.create_pipeline(),
        "representation": representation.create_pipeline(),
        "projection": projection.create_pipeline(),
        "evaluation": evaluation.create_pipeline(),
        "reporting": reporting.create_pipeline(),
    }
    after = {"inference": inference.create_pipeline(), "neighbours": neighbours.create_pipeline()}
    return {**pipelines, **after, "__default__": sum(pipelines.values(), Pipeline([]))}
