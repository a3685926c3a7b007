"""An experiment of equal cells: what it takes beyond its cells, and with one and two workers."""

import json
import os
import re
import resource
import shutil
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, NamedTuple

import pandas as pd
import yaml

from benchmarks.graphs import ROOT
from benchmarks.report import Rows
from benchmarks.settings import Settings, available_cores

NOTE = """
`kedro experiment run` on twelve cells that differ in the seed of a drawn graph alone (csbm; FiGURe, three splits, 12
trials), in a new data folder each time and with one thread a cell: wide cells have 3,000 nodes, 512 dimensions and 60
epochs, narrow ones 3,000 nodes, 32 dimensions with Fourier features and 300 epochs. Each row is one run.

- cells alone: the same cells made one after another by a process that has imported the project and does nothing else.
- two alone: two such processes with half of the cells each, which tell each other nothing and share nothing but the
  machine. What they take of one process's time is the bound of any two workers here: half, if its cores do not get in
  each other's way.
- one worker, two workers: the command, from its start to its end.
- nothing to do: the command once more, when all cells are there.
- seconds: by the clock; on a busy machine it counts what others do.
- processor seconds: of the command and all its processes, the imports included.
- beyond cells, a cell: seconds that are not part of a cell, over the number of cells; in the last row there are no
  cells, so that this is what a start, a plan and the reports take. `processor` is the same in processor seconds, the
  cells being those of the first row.
- of one's time: seconds over those of one process, or of one worker.
"""

CELLS, SMALL_CELLS = 12, 2
WARMING_UP = 1000
"""The seed of a cell that is not counted."""

COMMON = {
    "dataset": "csbm",
    "source.nodes": 3000,
    "representation.training.patience": 1000,
    "evaluation.trials": 12,
    "evaluation.splits": 3,
}
SETTINGS = {
    "wide": COMMON | {"representation.dim": 512, "representation.training.max_epochs": 60},
    "narrow": COMMON
    | {"representation.dim": 32, "projection.map": "fourier", "representation.training.max_epochs": 300},
}
SMALL = {"source.nodes": 200, "representation.dim": 8, "representation.training.max_epochs": 5}

ALONE = """
import json, sys, time
from figure_kedro.experiments.cells import make
project, cells = sys.argv[1], json.loads(sys.argv[2])
make(project, cells[0], "evaluation")  # what is imported or made once
before, clock = time.process_time(), time.perf_counter()
outcomes = [make(project, cell, "evaluation") for cell in cells[1:]]
assert not any(outcome.error for outcome in outcomes), outcomes
print(json.dumps([time.perf_counter() - clock, time.process_time() - before]))
"""


OF_ONE = "of one's time"


class Taken(NamedTuple):
    """Seconds of a command."""

    clock: float
    processor: float


def run(settings: Settings) -> pd.DataFrame:
    """Measure cells alone, then the command with one worker, with two, and with nothing to do."""
    count = SMALL_CELLS if settings.small else CELLS
    rows = Rows()
    for kind, common in SETTINGS.items():
        with tempfile.TemporaryDirectory() as folder:
            cell = common | SMALL if settings.small else common
            _measure(rows, _project(Path(folder), cell, count), kind, cell, count)
    return rows.frame()


def _measure(rows: Rows, project: Path, kind: str, cell: dict[str, Any], count: int) -> None:
    seeds = list(range(count))
    (alone,) = _alone(project, "alone", cell, [seeds])
    rows.add({"cells": kind, "what": "cells alone", **_columns(alone)})
    several = available_cores() > 1
    if several:
        halves = _alone(project, "halves", cell, [seeds[: count // 2], seeds[count // 2 :]])
        both = Taken(max(half.clock for half in halves), sum(half.processor for half in halves))
        rows.add({"cells": kind, "what": "two alone", **_columns(both), OF_ONE: both.clock / alone.clock})
    one = _command(project, "one")
    _add(rows, kind, "one worker", count, one, one.clock - _seconds_of_cells(project, "one"), alone.processor)
    again = _command(project, "one")
    if several:
        two = _command(project, "two", "--workers", "2")
        rows.add({"cells": kind, "what": "two workers", **_columns(two), OF_ONE: two.clock / one.clock})
    _add(rows, kind, "nothing to do", count, again, again.clock, 0.0)


def _add(rows: Rows, kind: str, what: str, count: int, taken: Taken, beyond: float, cells: float) -> None:
    ratios = {"beyond cells, a cell": beyond / count, "processor: beyond cells": (taken.processor - cells) / count}
    rows.add({"cells": kind, "what": what, **_columns(taken), **ratios})


def _columns(taken: Taken) -> dict[str, float]:
    return {"seconds": taken.clock, "processor seconds": taken.processor}


def _project(folder: Path, common: dict[str, Any], count: int) -> Path:
    """This project, with an experiment of equal cells beside its own."""
    shutil.copytree(ROOT / "conf", folder / "conf")
    shutil.copy(ROOT / "pyproject.toml", folder)
    shutil.copytree(ROOT / "src", folder / "src")  # Kedro wants it inside of the project
    experiment = {
        "title": "Equal cells",
        "settings": common,
        "columns": {f"seed {seed}": {"source.seed": seed} for seed in range(count)},
        "rows": {"FiGURe": {"representation.method": "figure"}},
        "show": "score",
    }
    file = folder / "conf" / "local" / "experiments" / "equal_cells.yml"
    file.parent.mkdir(parents=True, exist_ok=True)
    file.write_text(yaml.safe_dump({"equal_cells": experiment}, sort_keys=False))
    return folder


def _alone(project: Path, data: str, cell: dict[str, Any], parts: list[list[int]]) -> list[Taken]:
    """One process for each part of the seeds, all at a time."""
    processes = []
    for number, seeds in enumerate(parts):
        here = cell | {"data_folder": str(project / f"{data}-{number}")}
        cells = [here | {"source.seed": seed} for seed in [WARMING_UP, *seeds]]
        processes.append(_begin(project, [sys.executable, "-c", ALONE, str(project), json.dumps(cells)]))
    return [Taken(*json.loads(_told(process).strip().splitlines()[-1])) for process in processes]


def _command(project: Path, data: str, *options: str) -> Taken:
    command = [sys.executable, "-m", "kedro", "experiment", "run", "equal_cells", *options]
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    _told(_begin(project, [*command, "--params", f"data_folder={project / data}"]))
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(time.perf_counter() - clock, spent)


def _begin(project: Path, command: list[str]) -> subprocess.Popen[str]:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(project / "src")}
    pipe = subprocess.PIPE
    return subprocess.Popen(command, cwd=project, env=environment, stdout=pipe, stderr=pipe, text=True)


def _told(process: subprocess.Popen[str]) -> str:
    said, complained = process.communicate()
    if process.returncode:
        raise RuntimeError(re.sub(r"\s+\n", "\n", said + complained)[-2000:])
    return said


def _seconds_of_cells(project: Path, data: str) -> float:
    (journal,) = (project / data).glob("08_reporting/experiments/runs.jsonl")
    return sum(json.loads(line)["seconds"] for line in journal.read_text().splitlines())
