"""The pipelines by name; ``kedro run`` runs their sum."""

from kedro.pipeline import Pipeline

from figure_kedro.pipelines import data_processing, evaluation, projection, reporting, representation


def register_pipelines() -> dict[str, Pipeline]:
    """Register the pipelines explicitly, in the order in which they build on each other."""
    pipelines = {
        "data_processing": data_processing.create_pipeline(),
        "representation": representation.create_pipeline(),
        "projection": projection.create_pipeline(),
        "evaluation": evaluation.create_pipeline(),
        "reporting": reporting.create_pipeline(),
    }
    return {**pipelines, "__default__": sum(pipelines.values(), Pipeline([]))}
