"""The random feature map, prepared once for all filters."""

from figure_kedro.embeddings import Embeddings
from figure_kedro.projections import Projection, ProjectionSettings


def fit_projection(embeddings: Embeddings, projection: ProjectionSettings) -> Projection:
    """Fit the scaling before the map; embeddings are projected where they are used, never all at once."""
    return Projection.fit(projection, list(embeddings.values()))
