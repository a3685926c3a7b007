"""Whole-graph training on 169,343 nodes with 128 features: an epoch and its memory."""

import tempfile
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from benchmarks.graphs import PUBLISHED, SMALL, load_local, published_graphs
from benchmarks.measure import Step, Steps, peak_memory, timing
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import FILTERS, full_objective
from figure_kedro.datasets.sources import SourceSettings
from figure_kedro.features import STRUCTURAL
from figure_kedro.filters import Operator
from figure_kedro.training.device import pick_device
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings

NOTE = """
The arXiv citation network with 128 structural features (a truncated SVD of its adjacency, computed beforehand). Each
row is a fresh process that reads the graph, normalises its adjacency and trains FiGURe on the filters `A, A^2, A^3`
with strategy `full` through the training loop, early stop and kept best weights included.

- epoch, spread: seconds, the median over epochs without the first, and the slowest minus the fastest.
- peak GiB: the most resident memory of the process, imports, graph and features included; at most GiB: its target.
"""

DIMS = {32: 2.0, 128: 4.0, 512: 10.0}
"""The most GiB that each dimension may take."""

FEATURES = 128


def run(settings: Settings) -> pd.DataFrame:
    """Measure an epoch and the peak at every dimension."""
    rows = Rows()
    source = SMALL if settings.small else PUBLISHED["arXiv"]
    for graph in published_graphs(("arXiv",), settings.small):
        with tempfile.TemporaryDirectory() as folder:
            file = Path(folder, "features.npy")
            svd = STRUCTURAL.parse({"structural": "svd", "components": FEATURES, "keep_given": False})
            np.save(file, STRUCTURAL.build(svd).features(graph))
            for threads in settings.threads:
                for dim, target in {8: None}.items() if settings.small else DIMS.items():
                    epochs, steps = peak_memory(partial(journey, source, file, dim, settings.repeat), threads).value
                    taken, peak = timing(epochs), max(step.peak for step in steps) / 1024
                    row = {"graph": graph.name, "threads": threads, "dim": dim}
                    row |= {"epoch": taken.median, "spread": taken.spread}
                    rows.add(row | {"peak GiB": peak, "at most GiB": target})
    return rows.frame()


def journey(source: SourceSettings, features: Path, dim: int, epochs: int) -> tuple[list[float], list[Step]]:
    """Read, normalise and train; returns the seconds of each epoch after the first, and the steps."""
    steps = Steps()
    graph = steps.run("load", lambda: load_local(source, "arXiv"))
    graph = graph.with_features(np.load(features))
    operator = steps.run("normalise", lambda: Operator.of(graph, FILTERS))
    objective = steps.run("prepare", lambda: full_objective(graph, dim, operator))
    training = TrainingSettings(max_epochs=epochs + 1, patience=epochs + 1)
    record = steps.run("train", lambda: train(objective, training, device=pick_device("cpu")))
    return record.seconds[1:], steps.done
