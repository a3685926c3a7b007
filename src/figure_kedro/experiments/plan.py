"""Which runs the cells of experiments need, which of them are there, and how long the others may take."""

import statistics
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.datasets.run_folder import RunFolder
from figure_kedro.errors import UserError, nearest
from figure_kedro.experiments.cells import FOLDERS, Run
from figure_kedro.experiments.definition import Cell, Experiment
from figure_kedro.experiments.records import Key, Recorded
from figure_kedro.experiments.shows import SHOWS
from figure_kedro.planning import predicted_seconds

SIZES = ("pipeline", "dataset", "source", "method", "dim", "filters", "epochs", "splits", "trials")
"""What has to be equal for two runs to take about the same time; each is in a line of the journal."""


@dataclass
class Plan:
    """The cells of some experiments, and the runs behind them, each of which is there once.

    Args:
        experiments: By name.
        cells: Of every experiment, each with the keys of its runs.
        runs: By key, in the order in which they are to be made.
        done: Keys of those that an earlier run has left.
        recorded: Records of others, by key: for reports, and not to be made again.
        datasets: Only runs on these are made; on all if there is none.
        given: What is the same for all cells in place of what the experiments say, by path; folders are left out.
    """

    experiments: dict[str, Experiment]
    cells: dict[str, list[tuple[Cell, list[Key]]]] = field(default_factory=dict)
    runs: dict[Key, Run] = field(default_factory=dict)
    done: set[Key] = field(default_factory=set)
    recorded: dict[Key, Recorded] = field(default_factory=dict)
    datasets: frozenset[str] = frozenset()
    given: dict[str, Any] = field(default_factory=dict)

    def asked_for(self, key: Key) -> bool:
        """Whether a run is on one of the data sets in question."""
        return not self.datasets or key[1] in self.datasets

    def folder(self, key: Key) -> RunFolder | Recorded | None:
        """Where the numbers of a run are read from, if they are anywhere."""
        return self.runs[key].folder if key in self.done else self.recorded.get(key)

    def places(self, key: Key) -> str:
        """Where a run is shown: ``table_4: DGI / cora``."""
        places = [(name, cell) for name, cells in self.cells.items() for cell, keys in cells if key in keys]
        return "; ".join(f"{name}: {cell.row or '-'} / {cell.column or '-'}" for name, cell in places)

    @property
    def missing(self) -> list[Run]:
        there = self.done | self.recorded.keys()
        return [run for key, run in self.runs.items() if key not in there and self.asked_for(key)]

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
        datasets: Only runs on these are to be made; on all by default.

    Raises:
        UserError: For a setting that does not exist, with the experiment and the cell.
    """
    told = {path: value for path, value in given.items() if path.partition(".")[0] not in FOLDERS}
    plan = Plan(dict(experiments), datasets=frozenset(datasets), given=told)
    resolved: dict[str, Run] = {}
    for name, experiment in experiments.items():
        experiment.check_given(name, given)
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
                keys.append(key)
                plan.runs.setdefault(key, run)
            plan.cells[name].append((cell, keys))
    known = {dataset for _, dataset, _ in plan.runs}
    for dataset in sorted(plan.datasets - known):
        raise UserError(f"no cell of {', '.join(experiments)} is about {dataset!r}; {nearest(dataset, known)}")
    plan.done = {key for key, run in plan.runs.items() if run.exists()}
    return plan


def estimate(run: Run, journal: Iterable[Mapping[str, Any]]) -> float | None:
    """Seconds that a run may take, from what earlier ones of the same size took. Where there is none, the cost model
    decides, if it knows the method and how large the graph is.

    Args:
        run: That is to be made.
        journal: Lines of earlier runs, see :func:`journal_line`.
    """
    ours = journal_line(run, 0.0, "")
    ended = [line for line in journal if not line.get("error") and line.get("seconds") is not None]
    seconds = [line["seconds"] for line in ended if all(line.get(name) == ours[name] for name in SIZES)]
    return float(statistics.median(seconds)) if seconds else predicted_seconds(run.parameters, run.pipeline)


def journal_line(run: Run, seconds: float, error: str) -> dict[str, Any]:
    """What is kept of a run that ended: what it was, how long it took, and what went wrong."""
    parameters = run.parameters
    head, representation = parameters.evaluation.head, parameters.representation
    training = getattr(representation, "training", None)
    pipeline, dataset, key = run.key
    return {
        "pipeline": pipeline,
        "dataset": dataset,
        "key": key,
        "method": head if representation.method == "features" else representation.method,
        "dim": getattr(representation, "dim", None),
        "source": parameters.source.model_dump(mode="json"),
        "filters": parameters.filters.size,
        "epochs": getattr(training, "max_epochs", None),
        "splits": parameters.evaluation.splits,
        "trials": getattr(parameters.evaluation, "trials", None),
        "seconds": round(seconds, 2),
        "error": error,
    }
