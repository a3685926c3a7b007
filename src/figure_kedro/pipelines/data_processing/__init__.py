"""Load a graph, split it, and prepare its filter bank."""

from figure_kedro.pipelines.data_processing.pipeline import create_pipeline

__all__ = ["create_pipeline"]
