"""Embeddings of new nodes from the weights that there are, without a look at the rest of the graph."""

import dataclasses
import logging
from collections.abc import Iterator

import numpy as np

from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.features.rows import normalised_rows
from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.inference.neighbourhood import Neighbourhood
from figure_kedro.inference.new_nodes import Attachment, NewNodes
from figure_kedro.methods.method import Method
from figure_kedro.training.threads import threads

logger = logging.getLogger(__name__)


def attach(method: type[Method], graph: Graph, new: NewNodes, normalise: str = "none") -> Attachment:
    """Find the places of new nodes in a graph; everything that a user can get wrong is found here.

    Args:
        method: What made the embeddings.
        graph: That it was trained on, with named features.
        new: The new nodes, with their features and edges.
        normalise: How given features were prepared, ``none`` or ``rows``.

    Raises:
        UserError: For new nodes that do not fit the graph, and for a method that knows only the nodes of training.
    """
    if not method.inductive:
        name = method.Settings.model_fields["method"].default
        raise UserError(
            f"{name} knows only the nodes that it was trained on; train it on the joined graph, or "
            "use a method with an encoder, such as figure"
        )
    attached = Attachment.of(new, graph)
    features = new.matched_features(graph) if "features" in method.reads else None
    if features is not None and normalise == "rows":
        features = np.asarray(normalised_rows(features))
    return dataclasses.replace(attached, features=features)


def embed_attached(fitted: Representation, graph: Graph, operator: Operator, attached: Attachment) -> Embeddings:
    """Embed new nodes, as if they had been in the graph when it was embedded.

    Degrees of known nodes are counted with the new edges, so that the result is that of the joined graph. Only what the
    new nodes can see is read of graph and operator (:class:`~figure_kedro.inference.neighbourhood.Neighbourhood`).

    Args:
        fitted: The trained encoder.
        graph: That it was trained on.
        operator: Of that graph.
        attached: From :func:`attach`.
    """
    method, hops = fitted.method, fitted.method.hops(operator)
    if hops is None:
        raise UserError(
            f"{fitted.settings.method} does not say how far it looks (Method.hops), so that new nodes cannot be "
            "embedded by their neighbourhoods; embed the joined graph"
        )
    if graph.num_features != fitted.num_features_:
        raise UserError(
            f"{graph.name} has {graph.num_features} features, but the model was trained on {fitted.num_features_}"
        )
    around = Neighbourhood.of(graph, operator, attached, hops)
    count, total = len(attached.ids), graph.num_nodes + len(attached.ids)
    logger.info("%d new nodes depend on %d of all %d nodes", count, around.graph.num_nodes, total)

    def compute() -> Iterator[np.ndarray]:
        with threads(fitted.settings.training.threads):
            # all at once, since they are few: nothing else runs while the threads are set
            yield from list(method.embed_first(fitted.model_, around.graph, around.operator, around.levels))

    return Embeddings(fitted.view_names, attached.ids, fitted.width, compute=compute, graph=lambda: around.graph)
