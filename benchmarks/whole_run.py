"""A whole run, from the drawn graph to the scores: anonymous memory and seconds of every step."""

import os
import re
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd

from benchmarks.graphs import ROOT
from benchmarks.report import Rows
from benchmarks.settings import Settings
from figure_kedro.cost import PROCESS_BYTES, Cost, Work, stage_costs, total
from figure_kedro.embeddings import STORED_NUMBERS
from figure_kedro.memory import GIB, Memory

NOTE = """
`kedro run` on a contextual stochastic block model of mean degree 20 with 32 features: strategy `decoupled` at 32
dimensions, five epochs, one split with every tenth node labelled, four trials, one thread, everything in a new folder
(`TMPDIR` says where). `memory` is what the run may take; arrays above a sixteenth of it lie in files.

- peak GiB: the most anonymous memory of the process (`RssAnon`, looked at twenty times a second), with all imports;
  pages of mapped files do not count, the system takes them back when it needs them.
- seconds: of the processor, which others on the machine disturb less than the clock; clock s: what a person waits.
- predicted: by `figure_kedro.cost`, whose constants were chosen by runs of these sizes; ratio: the measured peak over
  the predicted one.

Steps that take less than a second are left out. The first one begins with the process: its imports and the drawing of
the graph count to it. Embeddings that are not kept are computed by the first who asks for them, `fit_projection`.
"""

SIZES = ((200_000, 6.0), (200_000, 0.25), (1_000_000, 12.0), (2_000_000, 6.0), (5_000_000, 12.0), (10_000_000, 12.0))
"""Nodes, and GiB that the run may take."""

DEGREE, FEATURES, DIM, VIEWS, EPOCHS, TRIALS, LABELLED = 20, 32, 32, 4, 5, 4, 0.1


FIRST = "prepare_graph"


class Step(NamedTuple):
    """What a node of the pipeline took."""

    name: str
    peak: float
    """GiB."""
    seconds: float
    clock: float


def run(settings: Settings) -> pd.DataFrame:
    """Measure every size."""
    rows = Rows()
    for nodes, limit in ((2_000, 0.01),) if settings.small else SIZES:
        where = {"nodes": nodes, "edges": nodes * DEGREE // 2, "memory GiB": limit}
        costs = predictions(nodes, limit)
        for step in journey(nodes, limit):
            predicted = costs.get(step.name)
            if predicted is None and step.seconds < 1:
                continue
            row = {"step": step.name, "peak GiB": step.peak, "seconds": step.seconds, "clock s": step.clock}
            if predicted is not None:
                expected = predicted.memory / GIB
                row |= {"predicted GiB": expected, "ratio": step.peak / expected, "predicted s": predicted.seconds}
            rows.add(where | row)
    return rows.frame()


def predictions(nodes: int, limit: float) -> dict[str, Cost]:
    """What each step will take, the process included, and all of them together."""
    asked = work(nodes)
    costs = stage_costs(asked, Memory(int(limit * GIB)))
    everything = total(list(costs.values()))
    if not asked.kept:  # then they are computed by the first who asks
        costs["fit_projection"] = costs.pop("embed_nodes")
    alone = {name: replace(cost, memory=cost.memory + PROCESS_BYTES) for name, cost in costs.items()}
    return {**alone, "all": everything}


def work(nodes: int) -> Work:
    """What the cost model is asked for."""
    return Work(
        nodes,
        nodes * DEGREE,
        FEATURES,
        drawn=True,
        dim=DIM,
        corruptions=4,
        epochs=EPOCHS,
        kept=nodes * DIM * VIEWS <= STORED_NUMBERS,
        labelled=int(LABELLED * nodes),
        classes=4,
        decays=TRIALS,
    )


def journey(nodes: int, limit: float) -> list[Step]:
    """Run the command and watch its process; the last step is the whole run."""
    with tempfile.TemporaryDirectory() as folder:
        params = {
            "dataset": "csbm",
            "data_folder": folder,
            "memory": limit,
            "source.nodes": nodes,
            "source.degree": DEGREE,
            "source.features": FEATURES,
            "source.splits": 1,
            "source.labelled": LABELLED,
            "representation.dim": DIM,
            "representation.strategy": "decoupled",
            "representation.training.max_epochs": EPOCHS,
            "representation.training.threads": 1,
            "evaluation.trials": TRIALS,
            "evaluation.threads": 1,
        }
        return kedro_run(params)


def kedro_run(params: Mapping[str, Any]) -> list[Step]:
    """Run everything with these parameters; the last step is the whole run."""
    option = ",".join(f"{name}={value}" for name, value in params.items())
    return watched([sys.executable, "-m", "kedro", "run", "--params", option])


def watched(command: list[str]) -> list[Step]:
    """Run a command of Kedro and look at its memory until it ends."""
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "COLUMNS": "300"}
    process = subprocess.Popen(
        command, cwd=ROOT, env=environment, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, bufsize=1
    )
    node = FIRST
    peaks, spent, clock, start = {node: 0.0}, {node: 0.0}, {node: 0.0}, time.perf_counter()

    def look() -> None:
        while process.poll() is None:
            anonymous, seconds = _state(process.pid)
            peaks[node] = max(peaks.get(node, 0.0), anonymous)
            spent[node] = max(spent.get(node, 0.0), seconds)
            clock[node] = time.perf_counter() - start
            time.sleep(0.05)

    watcher = threading.Thread(target=look, daemon=True)
    watcher.start()
    lines = []
    assert process.stdout is not None
    for line in process.stdout:
        lines.append(line)
        if found := re.search(r"Running node: (\w+)", line):
            node = found[1]
    watcher.join()
    if process.wait() != 0:
        raise RuntimeError("".join(lines[-20:]))
    before, began, steps = 0.0, 0.0, []
    for name, seconds in spent.items():
        steps.append(Step(name, peaks[name] / GIB, seconds - before, clock[name] - began))
        before, began = seconds, clock[name]
    return [*steps, Step("all", max(peaks.values()) / GIB, before, began)]


def _state(pid: int) -> tuple[float, float]:
    """Anonymous bytes of a process, and the seconds of the processor that it has had."""
    try:
        status = Path(f"/proc/{pid}/status").read_text(encoding="utf-8")
        fields = Path(f"/proc/{pid}/stat").read_text(encoding="utf-8").rpartition(")")[2].split()
    except OSError:  # it has just ended
        return 0.0, 0.0
    found = re.search(r"RssAnon:\s+(\d+)", status)
    ticks = os.sysconf("SC_CLK_TCK")
    return (int(found[1]) * 1024.0 if found else 0.0), (int(fields[11]) + int(fields[12])) / ticks
