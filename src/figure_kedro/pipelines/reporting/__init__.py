"""Charts and pictures of a run."""

from figure_kedro.pipelines.reporting.pipeline import create_pipeline

__all__ = ["create_pipeline"]
