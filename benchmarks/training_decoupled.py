"""Training on two million nodes and twenty million edges with propagated rows on disk."""

import tempfile
from functools import partial
from pathlib import Path

import pandas as pd

from benchmarks.graphs import load_local
from benchmarks.measure import Step, Steps, peak_memory
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import BANK, model_of
from figure_kedro.datasets.handles import BlockStore
from figure_kedro.datasets.sources.kinds.csbm import CsbmSettings
from figure_kedro.filters import normalised_adjacency
from figure_kedro.methods.decoupled import DecoupledObjective, DecoupledSettings
from figure_kedro.training.device import pick_device
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings

NOTE = """
A contextual stochastic block model of mean degree 20 with 16 features, trained at 32 dimensions with strategy
`decoupled` from end to end in one fresh process: generate (draw and check the graph), normalise (its adjacency),
propagate (the features and four corruptions of them by `A, A^2, A^3` into files mapped from disk), and an epoch over
all rows (the median). Nothing is warmed up. The files are in a temporary folder; `TMPDIR` says where.

- seconds: of the step; all: of the journey with every epoch.
- peak GiB: the most resident memory of the process up to the end of the step, with imports and with the pages of the
  mapped files that happen to be in memory, which the system takes back when it needs them.
- at most GiB: the target for the journey.
"""

GRAPH = CsbmSettings(nodes=2_000_000, degree=20, features=16, splits=1)
DIM = 32
EPOCHS = 3
TARGET = 8.0


def run(settings: Settings) -> pd.DataFrame:
    """Measure each step."""
    rows = Rows()
    source = GRAPH.model_copy(update={"nodes": 20_000}) if settings.small else GRAPH
    for threads in settings.threads:
        edges, steps, epochs = peak_memory(partial(journey, source), threads).value
        where = {"nodes": source.nodes, "edges": edges, "threads": threads}
        peak = 0.0
        for step in steps[:-1]:
            peak = max(peak, step.peak)
            rows.add(where | {"step": step.name, "seconds": step.seconds, "peak GiB": peak / 1024})
        peak = max(peak, steps[-1].peak)
        rows.add(where | {"step": "an epoch", "seconds": sorted(epochs)[len(epochs) // 2], "peak GiB": peak / 1024})
        total = sum(step.seconds for step in steps)
        rows.add(where | {"step": "all", "seconds": total, "peak GiB": peak / 1024, "at most GiB": TARGET})
    return rows.frame()


def journey(source: CsbmSettings) -> tuple[int, list[Step], list[float]]:
    """From nothing to a trained model; returns the number of edges, the steps and the seconds of each epoch."""
    steps = Steps()
    graph = steps.run("generate", lambda: load_local(source, "csbm"))
    matrix = steps.run("normalise", lambda: normalised_adjacency(graph.adjacency))
    with tempfile.TemporaryDirectory() as folder:
        blocks = BlockStore(Path(folder))
        settings = DecoupledSettings()
        objective = steps.run(
            "propagate",
            lambda: DecoupledObjective(
                model_of(graph, DIM), graph.features, matrix, BANK, settings, seed=0, allocate=blocks.allocate
            ),
        )
        training = TrainingSettings(max_epochs=EPOCHS, patience=EPOCHS)
        record = steps.run("train", lambda: train(objective, training, device=pick_device("cpu")))
    return graph.num_edges, steps.done, record.seconds
