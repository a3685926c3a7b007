"""An epoch of every method, FiGURe at three dimensions beside them."""

from collections.abc import Callable

import pandas as pd
import torch

from benchmarks.graphs import published_graphs
from benchmarks.measure import side_by_side, use_threads
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import FILTERS, objective_epoch
from figure_kedro.filters import Operator
from figure_kedro.graph import Graph
from figure_kedro.methods.method import METHODS

NOTE = """
All methods on one graph are timed in turn, so that other work on the machine slows all of them alike. An epoch is what
the training loop calls one: a step on the whole graph for all but DeepWalk and Node2Vec, whose epoch is one pass over
their walks. Settings are the defaults; GRACE contrasts all nodes. The paper's two tables of epoch times compare the
same methods on a GPU.

- epoch, spread: milliseconds, the median, and the slowest minus the fastest.
- against figure: how many times longer than FiGURe at 512 dimensions.
"""

GRAPHS = ("cora", "citeseer", "squirrel", "chameleon")
OTHERS = ("dgi", "mvgrl", "grace", "sugrl", "deepwalk", "node2vec")
CHANGES = {"figure": {"strategy": "full"}, "dgi": {"strategy": "full"}, "grace": {"nodes": 0}}
"""Where a method's settings are not the defaults."""


def run(settings: Settings) -> pd.DataFrame:
    """Time an epoch of every method on every graph."""
    rows = Rows()
    dims = (8,) if settings.small else (512, 128, 32)
    for graph in published_graphs(GRAPHS, settings.small):
        for threads in settings.threads:
            with use_threads(threads):
                epochs = {("figure", dim): epoch_of(graph, "figure", dim) for dim in dims}
                epochs |= {(method, dims[0]): epoch_of(graph, method, dims[0]) for method in OTHERS}
                taken = side_by_side(epochs, settings.repeat)
            reference = taken["figure", dims[0]].median
            for (method, dim), timing in taken.items():
                row = {"graph": graph.name, "threads": threads, "method": method, "dim": dim}
                row |= {"epoch": 1000 * timing.median, "spread": 1000 * timing.spread}
                rows.add(row | {"against figure": timing.median / reference})
    return rows.frame()


def epoch_of(graph: Graph, method: str, dim: int) -> Callable[[], None]:
    """One epoch of a method as training takes it."""
    settings = METHODS.parse({"method": method, "dim": dim, **CHANGES.get(method, {})})
    operator = Operator.of(graph, FILTERS)
    built = METHODS.part(settings)(settings, operator.bank)
    model = built.build(graph.num_nodes, graph.num_features)
    objective = built.objective(model, graph, operator, torch.device("cpu"), None)
    return objective_epoch(objective)
