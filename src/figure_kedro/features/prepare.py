"""A graph with the features that its settings ask for."""

import dataclasses
import logging

from figure_kedro.features.columns import large_columns, with_standard_columns
from figure_kedro.features.rows import with_normalised_rows
from figure_kedro.features.structural import STRUCTURAL, FeatureSettings
from figure_kedro.graph import Graph

logger = logging.getLogger(__name__)


def prepare_features(graph: Graph, settings: FeatureSettings) -> Graph:
    """Normalise given features if that is asked for, and add structural ones where they are needed or asked for.

    Given features that stay have names from here on: ``x0``, ``x1``, ... where the source has none.
    """
    if settings.normalise == "none" and (caution := large_columns(graph.features)):
        logger.warning("%s: %s, or expect training to fail or to add little", graph.name, caution)
    scaled = {"none": _as_they_are, "rows": with_normalised_rows, "columns": with_standard_columns}[settings.normalise]
    given = scaled(graph)
    prepared = structural_features(given, settings)
    names = graph.feature_names or tuple(f"x{column}" for column in range(graph.num_features))
    kept = prepared is given or getattr(settings, "keep_given", True)
    return dataclasses.replace(prepared, feature_names=names if kept else (), trusted=True)


def _as_they_are(graph: Graph) -> Graph:
    return graph


def structural_features(graph: Graph, settings: FeatureSettings | None = None) -> Graph:
    """The same graph with structural features; by default those of a graph without features.

    A graph that gets none is returned itself.
    """
    chosen = STRUCTURAL.parse({}) if settings is None else settings
    features = STRUCTURAL.build(chosen).features(graph)
    return graph if features is graph.features or features is None else graph.with_features(features)
