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
`kedro experiment run` on twelve cells that differ in the seed of a drawn graph alone (csbm, 3,000 nodes; FiGURe at
512 dimensions, 60 epochs; three splits, 12 trials), in a new data folder each time and with one thread a cell. The
first row is the same cells made one after another by a process that has imported the project and does nothing else;
the last row is the same command once more, when all cells are there. Each row is one run.

- seconds: by the clock, from the start of the command to its end; on a busy machine it counts what others do.
- processor seconds: of the command and all its processes, the imports included.
- beyond cells, a cell: seconds that are not part of a cell, over the number of cells; in the command's last row there
  are no cells, so that this is what a start, a plan and the reports take. `processor` is the same in processor seconds,
  the cells being those of the first row.
- of one worker's time: seconds over those of one worker. `processor` is what two cores without other work could
  reach at best: half of the processor seconds of the workers, and all of those of the last row, which nobody shares.
"""

CELLS, SMALL_CELLS = 12, 2

SETTINGS = {
    "dataset": "csbm",
    "source.nodes": 3000,
    "representation.dim": 512,
    "representation.training.max_epochs": 60,
    "representation.training.patience": 1000,
    "evaluation.trials": 12,
    "evaluation.splits": 3,
}
SMALL_SETTINGS = SETTINGS | {"source.nodes": 200, "representation.dim": 8, "representation.training.max_epochs": 5}

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


class Taken(NamedTuple):
    """Seconds of a command."""

    clock: float
    processor: float


def run(settings: Settings) -> pd.DataFrame:
    """Measure cells alone, then the command with one worker, with two, and with nothing to do."""
    count = SMALL_CELLS if settings.small else CELLS
    common = SMALL_SETTINGS if settings.small else SETTINGS
    rows = Rows()
    with tempfile.TemporaryDirectory() as folder:
        project = _project(Path(folder), common, count)
        cells = _alone(project, common, count)
        rows.add({"what": "cells alone", "cells": count, "seconds": cells.clock, "processor seconds": cells.processor})
        one = _command(project, "one")
        _add(rows, "one worker", count, one, one.clock - _seconds_of_cells(project, "one"), cells.processor)
        again = _command(project, "one")
        if available_cores() > 1:
            two = _command(project, "two", "--workers", "2")
            best = again.processor + (two.processor - again.processor) / 2
            ratios = {"of one worker's time": two.clock / one.clock, "processor: of one worker's": best / one.processor}
            rows.add({"what": "two workers", "cells": count, **_columns(two), **ratios})
        _add(rows, "nothing to do", count, again, again.clock, 0.0)
    return rows.frame()


def _add(rows: Rows, what: str, count: int, taken: Taken, beyond: float, cells: float) -> None:
    ratios = {"beyond cells, a cell": beyond / count, "processor: beyond cells": (taken.processor - cells) / count}
    rows.add({"what": what, "cells": count, **_columns(taken), **ratios})


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


def _alone(project: Path, common: dict[str, Any], count: int) -> Taken:
    seeds = [count, *range(count)]  # the first one is not counted
    cells = [{**common, "source.seed": seed, "data_folder": str(project / "alone")} for seed in seeds]
    told = _run(project, [sys.executable, "-c", ALONE, str(project), json.dumps(cells)])
    return Taken(*json.loads(told.strip().splitlines()[-1]))


def _command(project: Path, data: str, *options: str) -> Taken:
    command = [sys.executable, "-m", "kedro", "experiment", "run", "equal_cells", *options]
    before, clock = resource.getrusage(resource.RUSAGE_CHILDREN), time.perf_counter()
    _run(project, [*command, "--params", f"data_folder={project / data}"])
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    spent = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    return Taken(time.perf_counter() - clock, spent)


def _run(project: Path, command: list[str]) -> str:
    environment = {**os.environ, "OMP_NUM_THREADS": "1", "PYTHONPATH": str(project / "src")}
    done = subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)
    if done.returncode:
        raise RuntimeError(re.sub(r"\s+\n", "\n", done.stdout + done.stderr)[-2000:])
    return done.stdout


def _seconds_of_cells(project: Path, data: str) -> float:
    (journal,) = (project / data).glob("08_reporting/experiments/runs.jsonl")
    return sum(json.loads(line)["seconds"] for line in journal.read_text().splitlines())
