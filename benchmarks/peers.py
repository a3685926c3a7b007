"""Embeddings of other libraries beside FiGURe's: processor seconds, memory, and accuracy through one classifier."""

import json
import os
import signal
import subprocess
import tempfile
import time
from collections.abc import Mapping
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd

from benchmarks.graphs import ROOT, load_local
from benchmarks.measure import high_water_mark, peak_memory, use_threads
from benchmarks.peer_embedding import PEERS, tiny_graph
from benchmarks.report import Rows, console
from benchmarks.settings import Settings
from figure_kedro.config import ProjectConfigLoader
from figure_kedro.datasets.graph_dataset import GraphDataset
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.evaluation import HEADS
from figure_kedro.evaluation.selection import evaluate_split
from figure_kedro.evaluation.views import Views
from figure_kedro.features import prepare_features
from figure_kedro.graph import Graph, Targets
from figure_kedro.graph.row_blocks import take_rows
from figure_kedro.parameters import Parameters
from figure_kedro.projections import MAPS, Projection

NOTE = """
Each row is a process of its own on one thread that reads the same symmetric matrix and leaves an embedding of every
node. The peers live in an environment of their own (`pip install 'figure_kedro[peers]'` there), whose Python the
variable `FIGURE_PEERS_PYTHON` names. They see edges alone; so does FiGURe on structural features, whose time counts
(`svd`: singular vectors of the normalised adjacency; `proximity`: those of ProNE's matrix, the default), while its rows
with given features know more. `propagation` is the filtered features without any training.

- csbm: a contextual stochastic block model of mean degree 20, four classes, homophily 0.5, 32 features, every tenth
  node labelled; FiGURe there trains five epochs by strategy `decoupled`. arXiv has no features and 40 subjects; FiGURe
  trains at most 40 epochs on it. On squirrel it trains until it stops by itself; all see it without direction.
- Peers have their defaults (pycleora four iterations with whitening, ProNE ten steps), but that random projections are
  of the random walk, and node2vec takes walks of 40 steps with a window of 5, one or five from each node. A peer is
  stopped after 240 seconds of the processor. On csbm the slowest two, spectral and five walks, are left out.
- seconds: of the processor, from the matrix in memory to the array in memory. A tiny graph is embedded first, so that
  imports, compilers and files do not count.
- times FiGURe's: seconds over those of FiGURe on features of kind `svd`; below 1, the row is quicker.
- peak MiB: the most resident memory of the process; imports MiB: what it had of that after the tiny graph.
- val, test, std: accuracy in percent, mean over the splits and its deviation, by the linear head (`rms` scale, L-BFGS,
  six trials) with everything chosen on validation; three splits of squirrel, one of the others. dim is the width
  that the head sees: FiGURe and propagation have four views of that width, which it adds up to one by its alphas.
"""

SECONDS = 240
"""Of the processor, that a peer may take."""

DIM, TRIALS = 32, 6

EDGES_ALONE = ("svd", "proximity")
"""Kinds of structural features; ratios are to FiGURe on the first."""


class Case(NamedTuple):
    """A graph, and how it is embedded and judged."""

    name: str
    parameters: dict[str, Any]
    training: dict[str, Any] = {}
    splits: int = 1
    left_out: tuple[str, ...] = ()
    """Peers that would take too long."""


MILLION = {"nodes": 1_000_000, "degree": 20, "features": 32, "homophily": 0.5, "splits": 1, "labelled": 0.1}
FEW_EPOCHS = {"strategy": "decoupled", "training": {"max_epochs": 5}}
CASES = (
    Case("squirrel", {"dataset": "squirrel", "source": {"directed": False}}, splits=3),
    Case("arXiv", {"dataset": "arxiv_no_features"}, {"training": {"max_epochs": 40}}),
    Case("csbm", {"dataset": "csbm", "source": MILLION}, FEW_EPOCHS, left_out=("spectral", "node2vec, 5 walks")),
)
SMALL = Case("csbm, small", {"dataset": "csbm", "source": {**MILLION, "nodes": 2000}}, FEW_EPOCHS)


def run(settings: Settings) -> pd.DataFrame:
    """Embed every graph by every peer and by ours, and judge all of them."""
    rows = Rows()
    for case in (SMALL,) if settings.small else CASES:
        with tempfile.TemporaryDirectory() as folder:
            try:
                targets, size = stored(case, Path(folder))
            except UserError:
                console.print(f"  left out: the files of {case.name} are not here (FIGURE_RAW_MIRROR)", style="yellow")
            else:
                compare(case, targets, size, Path(folder), rows)
    return rows.frame()


def stored(case: Case, folder: Path) -> tuple[Targets, dict[str, Any]]:
    """Put a graph into a folder, for us and for the peers, so that no process holds it for another one."""
    graph = load_local(_parameters(case, {}).source, case.name)
    GraphDataset(filepath=str(folder / "graph")).save(graph.without_targets())
    for part in ("indptr", "indices"):
        np.save(folder / f"{part}.npy", getattr(graph.adjacency, part))
    return graph.targets, {"graph": case.name, "nodes": graph.num_nodes, "edges": graph.num_edges}


def compare(case: Case, targets: Targets, size: dict[str, Any], folder: Path, rows: Rows) -> None:
    """One graph: ours first, because the ratios are to them."""
    measured = None
    known: dict[str, dict[str, Any]] = {
        kind: {"structural": kind, "keep_given": False, "components": DIM} for kind in EDGES_ALONE
    }
    if GraphDataset(filepath=str(folder / "graph")).load().features is not None:
        known["given"] = {}
    for features, chosen in known.items():
        for method in ("figure", "propagation"):
            taken = peak_memory(partial(ours, case, method, chosen, folder), 1)
            seconds, before = taken.value
            measured = measured or seconds
            row = {"by": method, "features": features, "seconds": seconds, "times FiGURe's": seconds / measured}
            memory = {"peak MiB": taken.peak, "imports MiB": before}
            rows.add(size | row | memory | judged(case, targets, folder))
    for name in [name for name in PEERS if name not in case.left_out] if peers_python() else ():
        row = size | {"by": name, "features": "none"}
        taken = peer(name, case, folder)
        if isinstance(taken, str):
            rows.add(row | {"note": taken})
            continue
        row |= {"seconds": taken["seconds"], "times FiGURe's": taken["seconds"] / measured}
        row |= {"peak MiB": taken["peak"], "imports MiB": taken["before"]}
        rows.add(row | judged(case, targets, folder) | {"note": taken["version"]})


def ours(case: Case, method: str, features: Mapping[str, Any], folder: Path) -> tuple[float, float]:
    """Embed by a method of this project; the seconds of the processor, features and training included; MiB before."""
    graph = GraphDataset(filepath=str(folder / "graph")).load()
    chosen = {"method": method} if method == "propagation" else {"method": method, "dim": DIM, **case.training}
    parameters = _parameters(case, {"features": features, "representation": chosen})
    tiny = Graph.from_scipy(tiny_graph())
    _embedded(tiny.with_features(np.eye(600, dtype=np.float32)), parameters, epochs=1)
    before = high_water_mark()
    start = time.process_time()
    views = _embedded(graph, parameters)
    taken = time.process_time() - start
    _save(folder, list(views.values()))
    return taken, before


def _embedded(graph: Graph, parameters: Parameters, epochs: int | None = None) -> dict[str, np.ndarray]:
    graph, settings = prepare_features(graph, parameters.features), parameters.representation
    settings = (
        settings.changed({"training.max_epochs": epochs}) if epochs and "dim" in settings.model_dump() else settings
    )
    return Representation(filters=parameters.filters, settings=settings, progress=False).fit_transform(graph)


def peer(name: str, case: Case, folder: Path) -> dict[str, Any] | str:
    """Embed by a peer in its own environment; what it took, or in words why there is nothing."""
    _save(folder, [])
    script = Path(__file__).with_name("peer_embedding.py")
    command = [str(peers_python()), str(script), name, str(folder), str(DIM), "0", str(SECONDS), _view(folder, 0)]
    one = {f"{library}_NUM_THREADS": "1" for library in ("OMP", "OPENBLAS", "MKL", "NUMBA", "RAYON")}
    ended = subprocess.run(command, env={**os.environ, **one}, capture_output=True, text=True)
    if ended.returncode == 0:
        return json.loads(ended.stdout.splitlines()[-1])
    if ended.returncode < 0:
        slow = -ended.returncode == signal.SIGXCPU
        return f"stopped after {SECONDS:,} seconds" if slow else f"ended by signal {-ended.returncode}"
    return (ended.stderr.strip().splitlines() or ["no word why"])[-1][:120]


def judged(case: Case, targets: Targets, folder: Path) -> dict[str, Any]:
    """Accuracy of the linear head on the views that lie in the folder."""
    assert targets.labels is not None
    assert targets.splits is not None
    files = sorted(folder.glob("view_*.npy"))
    views = {file.stem: np.load(file, mmap_mode="r") for file in files}
    projection = Projection.fit(MAPS.parse({"map": "identity", "scale": "rms"}), list(views.values()))
    head = HEADS.build(HEADS.parse({"head": "linear", "trials": TRIALS, "threads": 1}))
    used, scores = targets.used, []
    with use_threads(1):
        inputs = Views([take_rows(view, used) for view in views.values()], projection)
        for split in targets.splits[: case.splits]:
            result = evaluate_split(head, inputs, np.asarray(targets.labels)[used], split[used], ("accuracy",))
            scores.append([100 * result.scores[f"{part}_accuracy"] for part in ("val", "test")])
    val, test = np.mean(scores, axis=0)
    spread = np.std(scores, axis=0, ddof=1)[1] if len(scores) > 1 else None
    width = next(iter(views.values())).shape[1]
    return {"dim": width, "val": val, "test": test, "std": spread}


def peers_python() -> str | None:
    """The Python of the peers' environment."""
    python = os.environ.get("FIGURE_PEERS_PYTHON")
    if not python:
        console.print(
            "  left out: the peers (set FIGURE_PEERS_PYTHON to the Python of their environment)", style="yellow"
        )
    return python


def _parameters(case: Case, more: Mapping[str, Any]) -> Parameters:
    given = {**case.parameters, **more}
    loader = ProjectConfigLoader(str(ROOT / "conf"), runtime_params=given, base_env="base", default_run_env="base")
    return loader.parameters


def _view(folder: Path, number: int) -> str:
    return str(folder / f"view_{number}.npy")


def _save(folder: Path, views: list[np.ndarray]) -> None:
    for file in folder.glob("view_*.npy"):
        file.unlink()
    for number, view in enumerate(views):
        np.save(_view(folder, number), view)
