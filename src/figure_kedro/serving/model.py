"""The model that MLflow loads: embeds and classifies nodes that were not there in training."""

from pathlib import Path
from typing import Any

import pandas as pd
from mlflow.exceptions import MlflowException
from mlflow.protos.databricks_pb2 import INVALID_PARAMETER_VALUE
from mlflow.pyfunc import PythonModel, PythonModelContext

from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.evaluation import Classifier
from figure_kedro.evaluation.classifier import load_classifier
from figure_kedro.evaluation.predictions import prediction_table
from figure_kedro.inference.embed import attach, embed_attached
from figure_kedro.serving.request import read_request

WITH_EMBEDDINGS = "embeddings"
"""The parameter of a request that asks for embeddings beside predictions."""


class RequestError(MlflowException):
    """A mistake in a request, in one line: HTTP 400.

    MLflow's server writes the whole table before a message; the first message stays here.
    """

    def __init__(self, message: str) -> None:
        self._message: str | None = None
        super().__init__(message, error_code=INVALID_PARAMETER_VALUE)

    @property
    def message(self) -> str:
        return self._message or ""

    @message.setter
    def message(self, text: str) -> None:
        self._message = self._message or text


class NewNodesModel(PythonModel):
    """Predicts the classes of new nodes by the graph that was trained on, an encoder and a classifier.

    A row of the input is a new node: ``id``, ``neighbours`` (ids of known or new nodes that it has an edge to), on a
    directed graph ``neighbours_in``, if edges have weights ``weights``, and the features by their names. Every call is
    about the graph as it was trained on: new nodes of an earlier call are not remembered.
    """

    def load_context(self, context: PythonModelContext) -> None:
        """Read the files of the model; arrays of the graph are mapped from disk."""
        files = {name: Path(path) for name, path in context.artifacts.items()}
        self._graph = GraphDataset(filepath=str(files["graph"])).load()
        self._operator = OperatorDataset(filepath=str(files["operator"])).load()
        self._encoder = Representation.load(files["weights"].parent)
        # a request is too small for threads, and looking for idle cores takes longer than it
        self._encoder.settings = self._encoder.settings.changed({"training.threads": 1})
        self._classifier = load_classifier(files["classifier"].parent)
        self._normalise = (context.model_config or {}).get("normalise", "none")

    def predict(
        self, context: PythonModelContext, model_input: pd.DataFrame, params: dict[str, Any] | None = None
    ) -> pd.DataFrame:
        """One row per new node: its id, the predicted class and the probability of each class.

        Args:
            context: Of MLflow.
            model_input: The new nodes.
            params: ``{"embeddings": true}`` adds a column ``embedding_<filter>`` for each filter. A model without a
                classifier gives embeddings alone.
        """
        try:
            return self._answer(model_input, bool((params or {}).get(WITH_EMBEDDINGS)))
        except UserError as error:
            raise RequestError(str(error)) from error

    def _answer(self, table: pd.DataFrame, with_embeddings: bool) -> pd.DataFrame:
        new = read_request(table, self._graph)
        attached = attach(type(self._encoder.method), self._graph, new, self._normalise)
        embeddings = embed_attached(self._encoder, self._graph, self._operator, attached)
        answer = pd.DataFrame({"id": new.ids})
        if isinstance(self._classifier, Classifier):
            answer = prediction_table(new.ids, self._classifier.probabilities(embeddings), self._classifier.classes)
        if with_embeddings or not isinstance(self._classifier, Classifier):
            for name, view in embeddings.items():
                answer[f"embedding_{name}"] = list(view)
        return answer
