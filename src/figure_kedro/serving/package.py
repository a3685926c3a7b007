"""Packages a trained model for MLflow: files of ours, a signature and an example; no pickle."""

import contextlib
import logging
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import urlparse
from urllib.request import url2pathname

import mlflow
import numpy as np
import pandas as pd
import scipy.sparse as sp
from mlflow.environment_variables import MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR
from mlflow.models import ModelSignature
from mlflow.models.model import ModelInfo
from mlflow.types import ColSpec, DataType, ParamSchema, ParamSpec, Schema
from mlflow.types.schema import Array, TensorSpec

from figure_kedro import __version__
from figure_kedro.graph import Graph
from figure_kedro.inference.embed import attach
from figure_kedro.methods.method import Method
from figure_kedro.serving.model import WITH_EMBEDDINGS
from figure_kedro.serving.request import ID, NEIGHBOURS, NEIGHBOURS_IN, WEIGHTS, read_request

MODEL_CODE = Path(__file__).with_name("model_code.py")


def log_model(
    files: Mapping[str, Path], graph: Graph, method: Method, *, normalise: str, register: str | None = None
) -> ModelInfo:
    """Give the active run of MLflow a model that embeds and classifies new nodes, and register it on request.

    Args:
        files: Of the ``graph`` and its ``operator`` (folders), of the encoder's ``weights`` and the ``classifier``.
        graph: That was trained on.
        method: What made the embeddings.
        normalise: How given features were prepared, ``none`` or ``rows``.
        register: The name of the registered model that this is a new version of.

    Raises:
        UserError: If the model could not embed a new node.
    """
    example = input_example(graph)
    attach(type(method), graph, read_request(example, graph), normalise)  # or a server would find it out
    with _quietly():
        return mlflow.pyfunc.log_model(
            name="model",
            python_model=str(MODEL_CODE),
            artifacts={name: str(path) for name, path in files.items()},
            model_config={"normalise": normalise},
            pip_requirements=[f"figure-kedro=={__version__}"],
            signature=signature(graph),
            input_example=example,
            registered_model_name=register,
        )


def signature(graph: Graph) -> ModelSignature:
    """The columns of a request.

    None is marked as needed: what is missing is told by the model, in one line, and not by MLflow with the whole table.
    """
    node = DataType.long if graph.ids.dtype.kind in "iu" else DataType.string
    columns: list[ColSpec | TensorSpec] = [
        ColSpec(node, ID, required=False),
        ColSpec(Array(node), NEIGHBOURS, required=False),
    ]
    columns += [ColSpec(Array(node), NEIGHBOURS_IN, required=False)] if graph.directed else []
    columns += [ColSpec(Array(DataType.double), WEIGHTS, required=False)]
    columns += [ColSpec(DataType.double, name, required=False) for name in graph.feature_names or ()]
    params = ParamSchema([ParamSpec(WITH_EMBEDDINGS, DataType.boolean, False)])
    return ModelSignature(inputs=Schema(columns), params=params)


def input_example(graph: Graph) -> pd.DataFrame:
    """A new node beside the first one of the graph: with its neighbours and its features."""
    neighbours = graph.adjacency.indices[graph.adjacency.indptr[0] : graph.adjacency.indptr[1]]
    ids: list[Any] = graph.ids[np.concatenate([[0], neighbours]).astype(np.int64)].tolist()
    new: Any = int(graph.ids.max()) + 1 if graph.ids.dtype.kind in "iu" else f"{max(map(str, graph.ids), key=len)} new"
    row: dict[str, Any] = {ID: [new], NEIGHBOURS: [ids]}
    if graph.features is not None and graph.feature_names:
        first = graph.features[[0]]
        values = sp.csr_array(first).toarray()[0]
        row |= {name: [float(values[column])] for column, name in enumerate(graph.feature_names)}
    return pd.DataFrame(row)


def local_path(model: ModelInfo) -> Path | None:
    """Where the files of a model are, if that is on this machine."""
    place = urlparse(model.artifact_path)
    return Path(url2pathname(place.path)) if place.scheme in ("", "file") else None


@contextlib.contextmanager
def _quietly() -> Iterator[None]:
    """Without MLflow's bars of progress, and without the advice that it has for packages of others."""
    logger, bars = logging.getLogger("mlflow"), MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR.get_raw()
    level = logger.level
    logger.setLevel(logging.ERROR)
    MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR.set(False)
    try:
        yield
    finally:
        logger.setLevel(level)
        if bars is None:
            MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR.unset()
        else:
            MLFLOW_ENABLE_ARTIFACTS_PROGRESS_BAR.set(bars)
