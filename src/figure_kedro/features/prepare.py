"""A graph with the features that its settings ask for."""

from figure_kedro.features.rows import with_normalised_rows
from figure_kedro.features.structural import STRUCTURAL, FeatureSettings
from figure_kedro.graph import Graph


def prepare_features(graph: Graph, settings: FeatureSettings) -> Graph:
    """Normalise given features if that is asked for, and add structural ones where they are needed or asked for."""
    return structural_features(with_normalised_rows(graph) if settings.normalise == "rows" else graph, settings)


def structural_features(graph: Graph, settings: FeatureSettings | None = None) -> Graph:
    """The same graph with structural features; by default those of a graph without features.

    A graph that gets none is returned itself.
    """
    chosen = STRUCTURAL.parse({}) if settings is None else settings
    features = STRUCTURAL.build(chosen).features(graph)
    return graph if features is graph.features or features is None else graph.with_features(features)
