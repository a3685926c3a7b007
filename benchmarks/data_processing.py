"""From edge list to filtered features on a graph of 169,343 nodes.

The graph is the arXiv citation network without its features, if its file can be found, and else a generated one of
the same size.
"""

import os
from functools import partial
from pathlib import Path

import pandas as pd
import torch

from benchmarks.measure import Measured, Step, Steps, Timing, peak_memory, plain_copy, side_by_side, timing
from benchmarks.report import Rows, console
from benchmarks.settings import Settings
from figure_kedro.datasets.sources import SOURCES, RawFiles, SourceSettings
from figure_kedro.datasets.sources.checksums import published_checksums
from figure_kedro.datasets.sources.kinds.csbm import CsbmSettings
from figure_kedro.datasets.sources.kinds.npz_archive import NpzArchiveSettings
from figure_kedro.features import STRUCTURAL, structural_features
from figure_kedro.filters import build_bank, normalised_adjacency, to_torch
from figure_kedro.graph import Graph

NOTE = """
Each run is a fresh process that loads the graph (reads the file, builds and checks the graph; or generates it), makes
128 structural features by a truncated SVD of the adjacency, normalises the adjacency, and applies the four filters
`I, A, A^2, A^3`, all of whose results it keeps. Nothing is warmed up.

- seconds, spread: the median over the runs, and the slowest minus the fastest.
- peak MiB: the most resident memory of the process up to the end of the step, with the interpreter and all imports,
  which alone take what the row "imports" says.

The last two rows of a number of threads take the three products of the filter bank alone, warmed up, in turn with the
same products by scipy (CSR times dense, which always uses one thread).

- times scipy's speed: seconds of scipy over seconds of ours in the same process; above 1, ours is faster.
- times the bound of one pass: our seconds over those that a plain copy on the same number of threads, measured in
  turn with the products, needs for the bytes that they must move if every array is read or written once.
- times the bound of gathering: the same, if the row of features is read anew for each stored entry of the adjacency,
  which is what happens where the features of a graph do not fit the caches.
"""

ROOT = Path(__file__).parents[1]
COLUMNS = 128
FILTERS = 4


def run(settings: Settings) -> pd.DataFrame:
    """Measure each step, and the products against scipy and the copy bounds."""
    graph, source = _source(settings)
    rows = Rows()
    for threads in settings.threads:
        where = {"graph": graph, "threads": threads}
        idle = peak_memory(_nothing, threads).peak
        rows.add(where | {"step": "imports", "seconds": None, "spread": None, "peak MiB": idle})
        passes = [peak_memory(partial(journey, source), threads) for _ in range(settings.repeat)]
        for row in _step_rows(passes):
            rows.add(where | row)
        for row in peak_memory(partial(products, source, settings.repeat), threads).value:
            rows.add(where | row)
    return rows.frame()


def journey(source: SourceSettings) -> list[Step]:
    """From the source to the filtered features, once."""
    steps = Steps()
    graph = steps.run("load", lambda: _load(source))
    features = STRUCTURAL.parse({"structural": "svd", "components": COLUMNS})
    graph = steps.run("structural SVD", lambda: structural_features(graph, features))
    matrix = steps.run("normalise", lambda: to_torch(normalised_adjacency(graph.adjacency)))
    bank = build_bank("monomial", FILTERS)
    steps.run("filter", lambda: list(bank.apply(lambda block: matrix @ block, torch.from_numpy(graph.features))))
    return steps.done


def products(source: SourceSettings, repeat: int) -> list[dict]:
    """The filter bank's products by torch and by scipy in turn, and the bounds set by memory traffic."""
    graph = _load(source)
    csr = normalised_adjacency(graph.adjacency)
    matrix = to_torch(csr)
    block = torch.randn(graph.num_nodes, COLUMNS, generator=torch.Generator().manual_seed(0))
    dense = block.numpy()
    bank = build_bank("monomial", FILTERS)
    copy, moved = plain_copy()
    times = side_by_side(
        {
            "ours": lambda: list(bank.apply(lambda x: matrix @ x, block)),
            "scipy": lambda: csr @ (csr @ (csr @ dense)),
            "copy": copy,
        },
        repeat,
    )
    ours, scipy = times["ours"], times["scipy"]
    bandwidth = moved / times["copy"].median
    one_block = 4 * block.numel()
    stored = csr.data.nbytes + csr.indices.nbytes + csr.indptr.nbytes
    once = (FILTERS - 1) * (stored + 2 * one_block) / bandwidth
    gathered = (FILTERS - 1) * (stored + 4 * csr.nnz * COLUMNS + one_block) / bandwidth
    return [
        {
            "step": "three products",
            **_seconds(ours),
            "times scipy's speed": scipy.median / ours.median,
            "times the bound of one pass": ours.median / once,
            "times the bound of gathering": ours.median / gathered,
        },
        {"step": "three products by scipy", **_seconds(scipy)},
    ]


def _source(settings: Settings) -> tuple[str, SourceSettings]:
    if settings.small:
        return "csbm, small", CsbmSettings(nodes=2000, degree=13.7, features=0, splits=1)
    file = NpzArchiveSettings().file
    around = _mirror().resolve().parent if _mirror().is_dir() else None  # archives lie beside the raw files
    path = RawFiles(ROOT / "data" / "01_raw", around).find(file, published_checksums()[file])
    if path is not None:
        return "arXiv", NpzArchiveSettings(path=str(path))
    console.print(
        f"  skipped: {file} is not here (set FIGURE_RAW_MIRROR); a csbm of the same size stands in", style="yellow"
    )
    # as many nodes, edges and classes, and the same share of edges inside classes, as the citation network
    size = {"nodes": 169_343, "degree": 2 * 1_157_799 / 169_343, "classes": 40, "homophily": 0.65}
    return "csbm", CsbmSettings(**size, features=0, splits=1)


def _load(source: SourceSettings) -> Graph:
    return SOURCES.build(source).load(RawFiles(ROOT / "data" / "01_raw"), "benchmark")


def _mirror() -> Path:
    return Path(os.environ.get("FIGURE_RAW_MIRROR") or ROOT.parent / "shared" / "data" / "pyg_raw")


def _nothing() -> None:
    """What a process costs that only imports this module."""


def _step_rows(passes: list[Measured]) -> list[dict]:
    rows = []
    for steps in zip(*(measured.value for measured in passes), strict=True):
        taken = timing([step.seconds for step in steps])
        rows.append({"step": steps[0].name, **_seconds(taken), "peak MiB": max(step.peak for step in steps)})
    total = timing([sum(step.seconds for step in measured.value) for measured in passes])
    return [*rows, {"step": "all", **_seconds(total), "peak MiB": max(measured.peak for measured in passes)}]


def _seconds(taken: Timing) -> dict[str, float]:
    return {"seconds": taken.median, "spread": taken.spread}
