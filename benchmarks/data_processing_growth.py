"""Growth of data processing from 10^4 to 10^6 nodes."""

from functools import partial

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from benchmarks.measure import Step, Steps, high_water_mark, peak_memory, timing
from benchmarks.report import Rows
from benchmarks.settings import Settings
from figure_kedro.filters import build_bank, normalised_adjacency, to_torch
from figure_kedro.graph import graph_from_edges
from figure_kedro.graph.csbm import generate_csbm

NOTE = """
Contextual stochastic block models of mean degree 10 with 16 features. Each size has its own process, which is warmed
up on 1,000 nodes. Steps: generate (draw the edges and features, build the graph), build (the graph once more, from
its edges in random order), normalise (the adjacency), filter (`I, A, A^2, A^3`), and all of them.

- seconds, spread: the median over the runs, and the slowest minus the fastest.
- seconds per million edges; growth: that over the same of the smallest graph, so that about 1 means linear in edges.
  The smallest graph fits the caches of a processor and the largest does not, which shows in this ratio.
- peak MiB: the most resident memory of the process up to the end of the step, with imports.
- MiB per million edges: the same without what the process had after its warm-up.
"""

DEGREE = 10
FEATURES = 16


def run(settings: Settings) -> pd.DataFrame:
    """Measure every step at every size."""
    rows = Rows()
    for threads in settings.threads:
        smallest: dict[str, float] = {}
        for nodes in (1_000, 10_000) if settings.small else (10_000, 100_000, 1_000_000):
            edges, idle, passes = peak_memory(partial(journeys, nodes, settings.repeat), threads).value
            millions = edges / 1e6
            for steps in zip(*passes, strict=True):
                taken = timing([step.seconds for step in steps])
                name, peak = steps[0].name, steps[0].peak
                smallest.setdefault(name, taken.median / millions)
                row = {"threads": threads, "nodes": nodes, "edges": edges, "step": name}
                row |= {"seconds": taken.median, "spread": taken.spread}
                row |= {"seconds per million edges": taken.median / millions}
                row |= {"growth": taken.median / millions / smallest[name]}
                rows.add(row | {"peak MiB": peak, "MiB per million edges": (peak - idle) / millions})
    return rows.frame()


def journeys(nodes: int, repeat: int) -> tuple[int, float, list[list[Step]]]:
    """Several passes over a graph of that size: its edges, the MiB before the first pass, and the steps of each."""
    journey(1_000)
    idle = high_water_mark()
    edges, passes = 0, []
    for _ in range(repeat):
        edges, steps = journey(nodes)
        passes.append(steps)
    return edges, idle, passes


def journey(nodes: int) -> tuple[int, list[Step]]:
    """Generate, build, normalise and filter once; returns the number of edges and the steps."""
    steps = Steps()
    drawn = steps.run(
        "generate",
        lambda: generate_csbm(
            nodes, DEGREE, classes=4, homophily=0.8, features=FEATURES, signal=1.0, splits=1, seed=0, name="csbm"
        ),
    )
    features = drawn.features
    source, target = _edge_list(drawn.adjacency)
    del drawn  # its memory would count in the steps that follow
    graph = steps.run(
        "build", lambda: graph_from_edges(source, target, name="csbm", num_nodes=nodes, features=features)
    )
    matrix = steps.run("normalise", lambda: to_torch(normalised_adjacency(graph.adjacency)))
    bank = build_bank("monomial", 4)
    steps.run("filter", lambda: list(bank.apply(lambda block: matrix @ block, torch.from_numpy(graph.features))))
    total = Step("all", sum(step.seconds for step in steps.done), steps.done[-1].peak)
    return graph.num_edges, [*steps.done, total]


def _edge_list(adjacency: sp.csr_array) -> tuple[np.ndarray, np.ndarray]:
    """Each edge once, in random order, as in a table that nobody sorted."""
    source, target = sp.triu(adjacency, format="coo").coords
    order = np.random.default_rng(0).permutation(len(source))
    return source[order], target[order]
