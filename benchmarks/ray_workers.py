"""Two Ray workers on two cores against one: propagation and training."""

import os
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pandas as pd
import scipy.sparse as sp
import torch

from benchmarks.graphs import ROOT, load_local
from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.training_steps import FILTERS, model_of
from figure_kedro.datasets.sources.kinds.csbm import CsbmSettings
from figure_kedro.execution import Task, use_executor
from figure_kedro.execution.on_ray import OnRay
from figure_kedro.filters import BANKS, normalised_adjacency
from figure_kedro.graph import Graph
from figure_kedro.methods.decoupled import DecoupledObjective, DecoupledSettings
from figure_kedro.training.settings import TrainingSettings

NOTE = """
A contextual stochastic block model of mean degree 20 with 32 features, at 32 dimensions with strategy `decoupled`, on a
Ray cluster of this machine with two CPUs; every worker has one thread, and everything is measured once.

- propagation: the features and four corruptions of them by `A, A^2, A^3`, in column blocks as tasks, from when they are
  given out to when all results are there. The workers' processes are there before.
- an epoch: the median one by the clock of the first worker, all rows. Starting a training takes seconds more, once.
- seconds: by the clock. processor seconds: what all workers together compute for it (propagation: inside the filters).
- to one worker: the ratio of seconds; at most: its target. ideal: the ratio of processor seconds, divided by the number
  of workers, which is the ratio of seconds where every worker has a core to itself. On a machine with other work the
  seconds tell about that work.
"""

GRAPH = CsbmSettings(nodes=500_000, degree=20, features=32, splits=1)
DIM = 32
EPOCHS = 6
TARGET = 0.65


def run(settings: Settings) -> pd.DataFrame:
    """Measure one worker and two, in turn."""
    import ray

    source = GRAPH.model_copy(update={"nodes": 20_000}) if settings.small else GRAPH
    graph = load_local(source, "csbm")
    matrix = normalised_adjacency(graph.adjacency)
    rows, measured = Rows(), {}
    os.environ["PYTHONPATH"] = os.pathsep.join([str(ROOT), str(ROOT / "src")])
    quiet: dict[str, Any] = {"log_to_driver": False, "logging_level": "error", "configure_logging": False}
    ray.init("local", num_cpus=2, include_dashboard=False, **quiet)
    try:
        for workers in (1, 2):
            for step, seconds, processor in _measure(graph, matrix, workers):
                measured[step, workers] = seconds, processor
    finally:
        ray.shutdown()
    for (step, workers), (seconds, processor) in sorted(measured.items(), reverse=True, key=lambda item: item[0][0]):
        row = {"nodes": source.nodes, "edges": graph.num_edges, "step": step, "workers": workers}
        row |= {"seconds": seconds, "processor seconds": processor}
        if workers > 1:
            one = measured[step, 1]
            row |= {"to one worker": seconds / one[0], "ideal": processor / one[1] / workers, "at most": TARGET}
        rows.add(row)
    return rows.frame()


def _measure(graph: Graph, matrix: sp.csr_array, workers: int) -> Iterator[tuple[str, float, float]]:
    """Each step with its seconds and processor seconds."""
    with tempfile.TemporaryDirectory() as name, use_executor(OnRay(workers=workers, folder=Path(name))) as executor:
        tasks = [Task(_process, ()) for _ in range(workers)]
        while len(set(executor.results(tasks, "the start").values())) < workers:
            pass  # until every worker has a process
        bank = ClockedBank(FILTERS)
        bank.clocks = _folder(Path(name) / "propagation")
        start = time.perf_counter()
        objective = Clocked(model_of(graph, DIM), graph.features, matrix, bank, DecoupledSettings(), seed=0)
        yield "propagation", time.perf_counter() - start, _sum(bank.clocks)
        objective.clocks = _folder(Path(name) / "training")
        training = TrainingSettings(max_epochs=EPOCHS, patience=EPOCHS, threads=1)
        record = executor.train(objective, training, device=torch.device("cpu"))
        yield "an epoch", sorted(record.seconds)[EPOCHS // 2], _sum(objective.clocks) / EPOCHS


def _process() -> int:
    time.sleep(1)
    return os.getpid()


class ClockedBank(BANKS["monomial"]):  # type: ignore[misc]
    """Leaves the processor seconds of every block."""

    clocks: Path

    def apply(self, propagate: Any, block: torch.Tensor) -> Iterator[torch.Tensor]:
        start = time.process_time()
        yield from super().apply(propagate, block)
        _leave(self.clocks, time.process_time() - start)


class Clocked(DecoupledObjective):
    """Leaves the processor seconds of every epoch."""

    clocks: Path

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        start = time.process_time()
        yield from super().losses(epoch, generator)
        _leave(self.clocks, time.process_time() - start)


def _folder(path: Path) -> Path:
    path.mkdir()
    return path


def _leave(folder: Path, seconds: float) -> None:
    (folder / f"{os.getpid()}-{time.time_ns()}").write_text(str(seconds))


def _sum(folder: Path) -> float:
    return sum(float(path.read_text()) for path in folder.iterdir())
