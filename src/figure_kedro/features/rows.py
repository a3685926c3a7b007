"""Given features with all rows at one scale."""

from sklearn.preprocessing import normalize

from figure_kedro.graph import Graph
from figure_kedro.graph.graph import Features


def with_normalised_rows(graph: Graph) -> Graph:
    """The same graph, each row of its features divided by the sum of its magnitudes.

    Counts of words become shares, so that a long text weighs no more than a short one. Rows of zeros stay as they
    are, sparse features stay sparse, and a graph without features is returned itself.
    """
    if graph.features is None:
        return graph
    return graph.with_features(normalised_rows(graph.features))


def normalised_rows(features: Features) -> Features:
    """Each row divided by the sum of its magnitudes; rows of zeros stay."""
    return normalize(features, norm="l1")
