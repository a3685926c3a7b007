"""Growth of training from 10^4 to 10^6 nodes."""

from functools import partial

import pandas as pd

from benchmarks.graphs import load_local
from benchmarks.measure import high_water_mark, peak_memory, timing
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import full_objective
from figure_kedro.datasets.sources.kinds.csbm import CsbmSettings
from figure_kedro.training.device import pick_device
from figure_kedro.training.loop import train
from figure_kedro.training.settings import TrainingSettings

NOTE = """
Contextual stochastic block models of mean degree 10 with 16 features; FiGURe at 32 dimensions on the filters
`A, A^2, A^3`, strategy `full`. Each size has its own process, which is warmed up on 1,000 nodes.

- epoch, spread: seconds, the median over epochs without the first, and the slowest minus the fastest.
- seconds per million edges; growth: that over the same of the smallest graph, so that about 1 means linear in edges.
  The smallest graph fits the caches of a processor and the largest does not, which shows in this ratio.
- peak MiB: the most resident memory of the process while it trains, with imports and the graph.
- MiB per million edges: the same without what the process had after its warm-up.
"""

DIM = 32


def run(settings: Settings) -> pd.DataFrame:
    """Measure every size."""
    rows = Rows()
    for threads in settings.threads:
        smallest = None
        for nodes in (1_000, 10_000) if settings.small else (10_000, 100_000, 1_000_000):
            epochs = max(settings.repeat, 300_000 // nodes)
            edges, idle, seconds, peak = peak_memory(partial(journeys, nodes, epochs), threads).value
            millions, taken = edges / 1e6, timing(seconds)
            smallest = smallest or taken.median / millions
            row = {"threads": threads, "nodes": nodes, "edges": edges}
            row |= {"epoch": taken.median, "spread": taken.spread}
            row |= {"seconds per million edges": taken.median / millions}
            row |= {"growth": taken.median / millions / smallest}
            rows.add(row | {"peak MiB": peak, "MiB per million edges": (peak - idle) / millions})
    return rows.frame()


def journeys(nodes: int, epochs: int) -> tuple[int, float, list[float], float]:
    """Warm up, then train: the edges, the MiB before, the seconds of each epoch, and the MiB at most."""
    journey(1_000, 2)
    idle = high_water_mark()
    edges, seconds = journey(nodes, epochs)
    return edges, idle, seconds, high_water_mark()


def journey(nodes: int, epochs: int) -> tuple[int, list[float]]:
    """Generate a graph and train on it; returns its edges and the seconds of each epoch after the first."""
    graph = load_local(CsbmSettings(nodes=nodes, degree=10, features=16, splits=1), "csbm")
    training = TrainingSettings(max_epochs=epochs + 1, patience=epochs + 1)
    record = train(full_objective(graph, DIM), training, device=pick_device("cpu"))
    return graph.num_edges, record.seconds[1:]
