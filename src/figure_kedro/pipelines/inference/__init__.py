"""Embed and classify nodes that were not there in training."""

from figure_kedro.pipelines.inference.pipeline import create_pipeline

__all__ = ["create_pipeline"]
