"""Train the shared encoder by mutual information, on every filter of the bank."""

from figure_kedro.pipelines.representation.pipeline import create_pipeline

__all__ = ["create_pipeline"]
