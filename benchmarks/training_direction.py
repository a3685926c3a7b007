"""An epoch of training with the direction of edges beside one without it."""

import dataclasses

import pandas as pd

from benchmarks.graphs import published_graphs
from benchmarks.measure import use_threads
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import Epoch, in_turn, objective_epoch
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.features import FeatureMatrix
from figure_kedro.methods.full import FullObjective
from figure_kedro.methods.kinds.figure import Figure, FigureSettings

NOTE = """
A step on the whole graph, forward and backward, of banks with as many filters. The undirected graph has its edges in
both directions; the directed one is the same matrix, told that it is not symmetric, so that both have the same entries
and the difference is the transpose that the backward pass needs. Powers `I, A, ..., A^6` are compared with the seven
words `I, A, A^T, AA, AA^T, A^TA, A^TA^T`. Epochs are timed in turn in one process.

- times the undirected: the directed median over the undirected one.
"""

GRAPHS = ("chameleon", "squirrel")
BANK_SETTINGS = {
    "out": ({"size": 4}, {"size": 4, "direction": "out"}),
    "in": ({"size": 4}, {"size": 4, "direction": "in"}),
    "both": ({"size": 7}, {"size": 3, "direction": "both"}),
}


def run(settings: Settings) -> pd.DataFrame:
    """Measure every graph, direction and number of threads."""
    rows = Rows()
    for graph in published_graphs(GRAPHS, settings.small):
        directed = dataclasses.replace(graph, directed=True, trusted=True)
        for threads in settings.threads:
            for dim in (8,) if settings.small else (32, 512):
                for direction, (plain, chosen) in BANK_SETTINGS.items():
                    with use_threads(threads):
                        pair = {"undirected": _epoch(graph, dim, plain), "directed": _epoch(directed, dim, chosen)}
                        times = in_turn(pair, settings.repeat)
                    ours, theirs = times["directed"], times["undirected"]
                    row = {"graph": graph.name, "direction": direction, "threads": threads, "dim": dim}
                    row |= {"seconds": ours.median, "spread": ours.spread, "undirected seconds": theirs.median}
                    rows.add(row | {"times the undirected": ours.median / theirs.median})
    return rows.frame()


def _epoch(graph: Graph, dim: int, filters: dict[str, object]) -> Epoch:
    operator = Operator.of(graph, BANKS.parse(filters))
    bank = operator.bank
    model = Figure(FigureSettings(dim=dim), bank).build(graph.num_nodes, graph.num_features)
    return objective_epoch(FullObjective(model, FeatureMatrix(graph.features), operator.on(), bank))
