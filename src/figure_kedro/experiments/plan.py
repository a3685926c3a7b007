"""Which runs the cells of experiments need, which of them are there, and how long the others may take."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.datasets.run_folder import RunFolder
from figure_kedro.errors import UserError
from figure_kedro.experiments.cells import Run
from figure_kedro.experiments.definition import Cell, Experiment
from figure_kedro.experiments.records import Key, Recorded
from figure_kedro.experiments.shows import SHOWS
from figure_kedro.planning import predicted_seconds


@dataclass
class Plan:
    """The cells of some experiments, and the runs behind them, each of which is there once.

    Args:
        experiments: By name.
        cells: Of every experiment, each with the keys of its runs.
        runs: By key, in the order in which they are to be made.
        done: Keys of those that an earlier run has left.
        recorded: Records of others, by key: for reports, and not to be made again.
    """

    experiments: dict[str, Experiment]
    cells: dict[str, list[tuple[Cell, list[Key]]]] = field(default_factory=dict)
    runs: dict[Key, Run] = field(default_factory=dict)
    done: set[Key] = field(default_factory=set)
    recorded: dict[Key, Recorded] = field(default_factory=dict)

    def folder(self, key: Key) -> RunFolder | Recorded | None:
        """Where the numbers of a run are read from, if they are anywhere."""
        return self.runs[key].folder if key in self.done else self.recorded.get(key)

    @property
    def missing(self) -> list[Run]:
        return [run for key, run in self.runs.items() if key not in self.done and key not in self.recorded]

    def needs(self, key: Key) -> set[str]:
        """The files of a run that cells show."""
        cells = [cell for cells in self.cells.values() for cell, keys in cells if key in keys]
        return {name for cell in cells for name in SHOWS[cell.show.partition(".")[0]].needs}


def plan_experiments(
    loader: ProjectConfigLoader,
    experiments: Mapping[str, Experiment],
    given: Mapping[str, Any],
    datasets: Iterable[str] = (),
) -> Plan:
    """Resolve the settings of all cells before anything runs.

    Args:
        loader: Of the project, with nothing given.
        experiments: By name.
        given: Settings by path that win over the files.
        datasets: Only cells of these are planned; all by default.

    Raises:
        UserError: For a setting that does not exist, with the experiment and the cell.
    """
    plan, wanted = Plan(dict(experiments)), set(datasets)
    resolved: dict[str, Run] = {}
    for name, experiment in experiments.items():
        plan.cells[name] = []
        for cell in experiment.cells(given):
            cell.check(name)
            show, keys = SHOWS[cell.show.partition(".")[0]], []
            for changes in cell.runs if show.pipeline else ():
                identity = repr((show.pipeline, sorted(changes.items(), key=lambda item: item[0])))
                try:
                    run = resolved.get(identity) or Run.of(loader, changes, show)
                    key = run.key  # reads the user's files, of which one may be missing
                except UserError as error:
                    raise UserError(f"experiment {name}, {cell.row or '-'} / {cell.column or '-'}: {error}") from None
                resolved[identity] = run
                if not wanted or run.parameters.dataset in wanted:
                    keys.append(key)
                    plan.runs.setdefault(key, run)
            plan.cells[name].append((cell, keys))
    unknown = wanted - {run.parameters.dataset for run in plan.runs.values()}
    if unknown:
        raise UserError(f"no cell of {', '.join(experiments)} is about {', '.join(sorted(unknown))}")
    plan.done = {key for key, run in plan.runs.items() if run.exists()}
    return plan


def estimate(run: Run, journal: Iterable[Mapping[str, Any]]) -> float | None:
    """Seconds that a run may take, from what earlier ones took: those most like it decide. Where none is, the cost
    model does, if it knows how large the graph is.

    Args:
        run: That is to be made.
        journal: Lines of earlier runs, see :func:`journal_line`.
    """
    ours = journal_line(run, 0.0, "")
    ended = [line for line in journal if not line.get("error") and line.get("seconds") is not None]
    for alike in (("pipeline", "dataset", "method", "dim"), ("pipeline", "dataset", "method"), ("pipeline", "dataset")):
        seconds = [line["seconds"] for line in ended if all(line.get(name) == ours[name] for name in alike)]
        if seconds:
            return float(statistics.median(seconds))
    return predicted_seconds(run.parameters, run.pipeline)


def journal_line(run: Run, seconds: float, error: str) -> dict[str, Any]:
    """What is kept of a run that ended: what it was, how long it took, and what went wrong."""
    parameters = run.parameters
    head, representation = parameters.evaluation.head, parameters.representation
    pipeline, dataset, key = run.key
    return {
        "pipeline": pipeline,
        "dataset": dataset,
        "key": key,
        "method": head if representation.method == "features" else representation.method,
        "dim": getattr(representation, "dim", None),
        "seconds": round(seconds, 2),
        "error": error,
    }
