"""Prepare the random feature map that every filter's embedding goes through."""

from figure_kedro.pipelines.projection.pipeline import create_pipeline

__all__ = ["create_pipeline"]
