"""From tables of new nodes to their embeddings and predictions, with the encoder and classifier that there are."""

import logging
from typing import Any

import pandas as pd

from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.evaluation import Classifier, NoClassifier
from figure_kedro.evaluation.predictions import prediction_table
from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.inference.embed import attach, embed_attached
from figure_kedro.inference.new_nodes import Attachment, NewNodes
from figure_kedro.inference.settings import InferenceSettings
from figure_kedro.methods.method import METHODS
from figure_kedro.parameters import Parameters

logger = logging.getLogger(__name__)


def attach_new_nodes(
    new_nodes: NewNodes, graph: Graph, classifier: Classifier | NoClassifier, parameters: dict[str, Any]
) -> Attachment:
    """Find the places of new nodes in the graph; whatever is wrong with them is told before anything is written."""
    run = Parameters.model_validate(parameters)
    if run.inference.predictions == "always" and isinstance(classifier, NoClassifier):
        raise UserError(classifier.reason)
    return attach(METHODS.part(run.representation), graph, new_nodes, run.features.normalise)


def embed_new_nodes(attachment: Attachment, graph: Graph, operator: Operator, encoder: Representation) -> Embeddings:
    """Embed the new nodes under every filter, as if they had been in the graph.

    Degrees of known nodes are counted with their new edges.
    """
    return embed_attached(encoder, graph, operator, attachment)


def predict_new_nodes(
    new_embeddings: Embeddings, classifier: Classifier | NoClassifier, inference: InferenceSettings
) -> pd.DataFrame:
    """Predict the class of every new node: its id, the class, and the probability of each class.

    Without a classifier, or if nobody asks for predictions, the table has ids alone.
    """
    if isinstance(classifier, NoClassifier) or inference.predictions == "never":
        if isinstance(classifier, NoClassifier):
            logger.info("no predictions: %s", classifier.reason)
        return pd.DataFrame({"id": new_embeddings.ids})
    return prediction_table(new_embeddings.ids, classifier.probabilities(new_embeddings), classifier.classes)
