"""Find the nearest nodes of each node."""

from figure_kedro.pipelines.neighbours.pipeline import create_pipeline

__all__ = ["create_pipeline"]
