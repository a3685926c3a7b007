"""Requests to a served model beside the same calls in Python."""

import http.client
import json
import os
import signal
import socket
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import mlflow
import numpy as np
import pandas as pd
import torch

from benchmarks.graphs import published_graphs
from benchmarks.measure import use_threads
from benchmarks.report import Rows
from benchmarks.settings import Settings
from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset
from figure_kedro.estimator import Representation
from figure_kedro.evaluation import HEADS, Classifier
from figure_kedro.features import STRUCTURAL, prepare_features
from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.method import METHODS
from figure_kedro.projections import MAPS, Projection
from figure_kedro.serving.package import local_path, log_model

NOTE = """
New nodes, each with 20 edges to known nodes that are drawn at random and with the features of a known node, are
embedded by FiGURe's encoder (512 dimensions, filters `I, A, A^2, A^3`) and classified by a linear head. The weights are
as drawn: time does not depend on them. `mlflow models serve --env-manager local` runs in a process of its own with one
worker and is asked over one connection on this machine, one request after another; Python is `predict` of the same
model, loaded with `mlflow.pyfunc.load_model`. Both check the signature; the server reads and writes JSON as well.

Columns:

- p50, p99: milliseconds of a call, half and 99 % of the calls are quicker; of few calls p99 is the slowest one.
- MB: of the request as JSON.
"""

EDGES, START_SECONDS = 20, 120
CALLS = {1: 50, 1000: 5}
"""How many calls are timed for each repetition, by the number of nodes in a call; three before them are not."""


def run(settings: Settings) -> pd.DataFrame:
    """Ask for one node and for a thousand, on one thread."""
    rows = Rows()
    for graph in published_graphs(("pubmed",), settings.small):
        graph = prepare_features(graph, STRUCTURAL.parse({"structural": "none"})).without_targets()
        with tempfile.TemporaryDirectory() as folder, use_threads(1):
            path = _package(Path(folder), graph, 8 if settings.small else 512)
            model = mlflow.pyfunc.load_model(str(path))
            with _server(path) as ask:
                for nodes, calls in CALLS.items():
                    table = _new_nodes(graph, nodes)
                    body = json.dumps(
                        {"dataframe_split": json.loads(table.to_json(orient="split", index=False))}
                    ).encode()
                    count = 3 if settings.small else calls * settings.repeat
                    for way, call in {"REST": lambda: ask(body), "Python": lambda: model.predict(table)}.items():  # noqa: B023
                        row = {"graph": graph.name, "new nodes": nodes, "call": way, "calls": count}
                        rows.add(row | _percentiles(call, count) | {"MB": len(body) / 2**20})
    return rows.frame()


def _percentiles(call: Callable[[], object], count: int) -> dict[str, float]:
    for _ in range(3):
        call()
    taken = []
    for _ in range(count):
        start = time.perf_counter()
        call()
        taken.append(1000 * (time.perf_counter() - start))
    return {"p50": float(np.percentile(taken, 50)), "p99": float(np.percentile(taken, 99))}


def _new_nodes(graph: Graph, count: int) -> pd.DataFrame:
    generator = np.random.default_rng(0)
    rows = generator.integers(graph.num_nodes, size=count)
    features = graph.features[rows]
    values = features.toarray() if hasattr(features, "toarray") else features
    table = pd.DataFrame(np.asarray(values, dtype=np.float64), columns=list(graph.feature_names))
    neighbours = [graph.ids[generator.choice(graph.num_nodes, EDGES, replace=False)].tolist() for _ in range(count)]
    table.insert(0, "neighbours", neighbours)
    table.insert(0, "id", np.arange(count) + int(graph.ids.max()) + 1)
    return table


def _package(folder: Path, graph: Graph, dim: int) -> Path:
    """A model with weights as they are drawn, in a store of its own."""
    encoder = Representation(settings=METHODS.parse({"method": "untrained", "dim": dim}), progress=False).fit(graph)
    GraphDataset(filepath=str(folder / "graph")).save(graph)
    OperatorDataset(filepath=str(folder / "operator")).save(Operator.of(graph, encoder.filters))
    encoder.save(folder)
    views = encoder.view_names
    weights = {"alpha": torch.ones(len(views)), "weights": torch.randn(3, dim), "bias": torch.zeros(3)}
    projection = Projection.fit(MAPS.parse({}), [np.ones((2, dim), dtype=np.float32)] * len(views))
    Classifier(HEADS.parse({}), projection, {}, weights, ("a", "b", "c"), views, "accuracy", 0, "all").save(folder)
    names = {"graph": "graph", "operator": "operator", "weights": "weights.safetensors"}
    files = {name: folder / file for name, file in (names | {"classifier": "classifier.safetensors"}).items()}
    mlflow.set_tracking_uri(f"sqlite:///{folder}/mlflow.db")
    number = mlflow.create_experiment("serving", artifact_location=(folder / "kept").as_uri())
    with mlflow.start_run(experiment_id=number):
        path = local_path(log_model(files, graph, encoder.method, normalise="none"))
    assert path is not None
    return path


@contextmanager
def _server(model: Path) -> Iterator[Callable[[bytes], None]]:
    """MLflow's server in a process of its own; what is given asks it and waits for the answer."""
    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        port = free.getsockname()[1]
    command = [sys.executable, "-m", "mlflow", "models", "serve", "--env-manager", "local", "-m", str(model)]
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}"}
    process = subprocess.Popen(
        [*command, "-h", "127.0.0.1", "-p", str(port)],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )
    try:
        connection = _connect(port, process)

        def ask(body: bytes) -> None:
            try:
                connection.request("POST", "/invocations", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
            except ConnectionError:  # the server has closed it, because nothing was asked for some seconds
                connection.close()
                connection.request("POST", "/invocations", body, {"Content-Type": "application/json"})
                answer = connection.getresponse()
            text = answer.read()
            if answer.status != 200:
                raise RuntimeError(f"the server answered {answer.status}: {text[:300]!r}")

        yield ask
    finally:
        os.killpg(process.pid, signal.SIGTERM)
        process.wait()


def _connect(port: int, process: "subprocess.Popen[bytes]") -> http.client.HTTPConnection:
    deadline = time.monotonic() + START_SECONDS
    while process.poll() is None and time.monotonic() < deadline:
        connection = http.client.HTTPConnection("127.0.0.1", port, timeout=600)
        try:
            connection.request("GET", "/ping")
            connection.getresponse().read()
        except OSError:
            time.sleep(0.2)
        else:
            return connection
    raise RuntimeError("the server did not start")
