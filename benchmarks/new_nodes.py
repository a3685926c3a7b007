"""New nodes: embedding 1,000 of them beside embedding all nodes; loading a model and embedding cora."""

import tempfile
import time
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.graphs import published_graphs
from benchmarks.measure import peak_memory, seconds
from benchmarks.report import Rows
from benchmarks.settings import Settings
from figure_kedro.datasets.graph_dataset import GraphDataset, OperatorDataset
from figure_kedro.estimator import Representation
from figure_kedro.features import STRUCTURAL, prepare_features
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import Graph
from figure_kedro.graph.csbm import generate_csbm
from figure_kedro.inference.embed import attach, embed_attached
from figure_kedro.inference.new_nodes import NewNodes
from figure_kedro.methods.kinds.untrained import Untrained, UntrainedSettings

NOTE = """
A csbm of two million nodes of degree 20, 16 features, filters `I, A, A^2, A^3`. Graph and operator lie in files and are
mapped, as after a run. New nodes have as many edges to random known nodes as these have among each other; ids are
looked up, the neighbourhood is cut out, degrees are counted anew, and all views of the new nodes are computed.
Embedding all nodes starts from the same files. Weights are as drawn: training changes no time here.

Seconds are those of the processor, of all threads together: what else runs on the machine does not count.

- all: seconds for every view of all nodes, each dropped when it is there; new: for 1,000 new nodes; share: their ratio
  in per cent, which is to be at most 1.
- nodes read: known nodes that the new ones depend on, as a share of all.
- load: seconds to read a saved model of 512 dimensions and embed cora with it, to be below 2.
"""

FILTERS = BANKS.parse({"bank": "monomial", "size": 4})
DEGREE, FEATURES, NEW = 20, 16, 1_000


def run(settings: Settings) -> pd.DataFrame:
    """Measure both at every dimension."""
    rows = Rows()
    nodes, dims = (2_000, (32,)) if settings.small else (2_000_000, (128, 512))
    with tempfile.TemporaryDirectory() as folder:
        _store(nodes, Path(folder))
        for threads in settings.threads:
            for dim in dims:
                taken = peak_memory(partial(journey, folder, dim, settings.repeat), threads).value
                rows.add({"graph": f"csbm, {nodes:,} nodes", "threads": threads, "dim": dim, **taken})
    for graph in published_graphs(("cora",), settings.small):
        for threads in settings.threads:
            with tempfile.TemporaryDirectory() as folder:
                fitted = Representation(512, filters=FILTERS, settings=UntrainedSettings())
                fitted.fit(graph.without_targets()).save(folder)
                load = seconds(partial(_load_and_embed, folder, graph), settings.repeat, time.process_time)
                rows.add({"graph": graph.name, "threads": threads, "dim": 512, "load": load.median})
    return rows.frame()


def _load_and_embed(folder: str, graph: Graph) -> None:
    Representation.load(folder).transform(graph)


def _store(nodes: int, folder: Path) -> None:
    graph = generate_csbm(nodes, DEGREE, 4, 0.8, FEATURES, 1.0, 1, 0, "csbm").without_targets()
    graph = prepare_features(graph, STRUCTURAL.parse({"structural": "none"}))
    GraphDataset(filepath=str(folder / "graph")).save(graph)
    OperatorDataset(filepath=str(folder / "operator")).save(Operator.of(graph, FILTERS))


def journey(folder: str, dim: int, repeat: int) -> dict[str, float]:
    """Embed all nodes once, and new nodes several times, in this process."""
    graph = GraphDataset(filepath=f"{folder}/graph").load()
    operator = OperatorDataset(filepath=f"{folder}/operator").load()
    fitted = Representation(dim, filters=FILTERS, settings=UntrainedSettings())
    fitted.model_ = fitted.method.build(graph.num_nodes, graph.num_features)
    fitted.num_nodes_, fitted.num_features_, fitted.structural_ = graph.num_nodes, graph.num_features, False
    started = time.process_time()
    for _, view in fitted.embed(graph, operator).items_in_turn():
        del view
    everyone = time.process_time() - started
    added = new_nodes(graph, np.random.default_rng(0))
    read: list[int] = []

    def embed() -> None:
        found = embed_attached(fitted, graph, operator, attach(Untrained, graph, added))
        for _ in found.values():
            pass
        read.append(found.graph().num_nodes - NEW)

    few = seconds(embed, repeat, time.process_time)
    share, reach = 100 * few.median / everyone, read[0] / graph.num_nodes
    return {"all": everyone, "new": few.median, "spread": few.spread, "share": share, "nodes read": reach}


def new_nodes(graph: Graph, rng: np.random.Generator) -> NewNodes:
    """New nodes with as many edges as known ones have."""
    ids = graph.num_nodes + np.arange(NEW)
    features = pd.DataFrame(rng.standard_normal((NEW, FEATURES)), columns=list(graph.feature_names or ()))
    return NewNodes(ids, np.repeat(ids, DEGREE), rng.integers(0, graph.num_nodes, NEW * DEGREE), None, features)
