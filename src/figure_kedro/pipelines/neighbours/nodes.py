"""From embeddings to the nearest nodes of each node."""

import numpy as np
import pandas as pd

from figure_kedro.embeddings import Embeddings
from figure_kedro.evaluation import Classifier, NoClassifier
from figure_kedro.inference.neighbours import common_space, nearest, rows_of
from figure_kedro.inference.settings import NeighbourSettings
from figure_kedro.training.threads import threads


def find_neighbours(
    embeddings: Embeddings,
    classifier: Classifier | NoClassifier,
    neighbour_ids: np.ndarray,
    neighbours: NeighbourSettings,
) -> pd.DataFrame:
    """List the nearest nodes by cosine on the combined embedding.

    Returns:
        One row per node that is asked for and neighbour: both ids, the rank from 1 on, and the cosine.
    """
    rows = rows_of(embeddings.ids, neighbour_ids, str(neighbours.of))
    with threads(0):
        found, cosines = nearest(common_space(embeddings, classifier), rows, neighbours.k, neighbours.index)
    k = found.shape[1]
    return pd.DataFrame(
        {
            "id": np.repeat(embeddings.ids[rows], k),
            "rank": np.tile(np.arange(1, k + 1), len(rows)),
            "neighbour": embeddings.ids[found.ravel()],
            "cosine": cosines.ravel(),
        }
    )
