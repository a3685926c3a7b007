"""Memory of the methods that the paper could not run on large graphs: GRACE and MVGRL."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import torch

from benchmarks.graphs import PUBLISHED, SMALL, load_local, published_graphs
from benchmarks.measure import Step, Steps, peak_memory
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import FILTERS, objective_epoch
from figure_kedro.datasets.sources import SourceSettings
from figure_kedro.features import STRUCTURAL
from figure_kedro.filters import Operator
from figure_kedro.methods.method import METHODS

NOTE = """
Each row is a fresh process that reads the graph, normalises its adjacency, takes two epochs at 512 dimensions on two
threads and embeds all nodes. arXiv has 128 structural features, computed beforehand. GRACE contrasts all nodes of
pubmed with each other, in tiles; on arXiv it contrasts 4,096 nodes that are drawn anew in each epoch, because all pairs
of 169,343 nodes would take minutes an epoch, not because of memory.

- epoch: seconds of the second epoch.
- peak GiB: the most resident memory of the process; at most GiB: its target.
"""

RUNS = {
    ("pubmed", "grace"): ({"nodes": 0}, 4.0),
    ("pubmed", "mvgrl"): ({}, 6.0),
    ("arXiv", "grace"): ({"nodes": 4096}, 20.0),
    ("arXiv", "mvgrl"): ({}, 20.0),
}
"""Settings of the method, and the most GiB that it may take."""

FEATURES = 128


def run(settings: Settings) -> pd.DataFrame:
    """Measure every pair of graph and method."""
    rows = Rows()
    with tempfile.TemporaryDirectory() as folder:
        for (name, method), (changes, target) in RUNS.items():
            for graph in published_graphs((name,), settings.small):
                file = Path(folder, f"{name}.npy")
                if graph.features is None and not file.exists():
                    svd = STRUCTURAL.parse({"structural": "svd", "components": FEATURES})
                    np.save(file, STRUCTURAL.build(svd).features(graph))
                source = SMALL if settings.small else PUBLISHED[name]
                dim = 8 if settings.small else 512
                steps = peak_memory(partial(journey, source, name, file, method, changes, dim), 2).value
                epoch = next(step.seconds for step in steps if step.name == "epoch 2")
                row = {"graph": graph.name, "method": method, "dim": dim, "epoch": epoch}
                rows.add(row | {"peak GiB": max(step.peak for step in steps) / 1024, "at most GiB": target})
    return rows.frame()


def journey(
    source: SourceSettings, name: str, features: Path, method: str, changes: dict[str, int], dim: int
) -> list[Step]:
    """Read, train for two epochs and embed."""
    steps = Steps()
    graph = steps.run("load", lambda: load_local(source, name))
    if features.exists():
        graph = graph.with_features(np.load(features))
    operator = steps.run("normalise", lambda: Operator.of(graph, FILTERS))
    settings = METHODS.parse({"method": method, "dim": dim, **changes})
    built = METHODS.part(settings)(settings, operator.bank)
    model = built.build(graph.num_nodes, graph.num_features)
    epoch = objective_epoch(built.objective(model, graph, operator, torch.device("cpu"), None))
    steps.run("epoch 1", epoch)
    steps.run("epoch 2", epoch)
    steps.run("embed", lambda: [view.shape for view in built.embed(model, graph, operator)])
    return steps.done
