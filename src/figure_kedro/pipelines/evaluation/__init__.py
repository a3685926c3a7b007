"""Judge embeddings with the alpha-combined classifier, and report what came out."""

from figure_kedro.pipelines.evaluation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
