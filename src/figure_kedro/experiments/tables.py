"""From runs that are there to tables that can be printed."""

import shlex
import statistics
from collections.abc import Mapping, Sequence
from dataclasses import replace
from functools import cache
from importlib import resources
from typing import Any

import numpy as np
import pandas as pd

from figure_kedro.datasets.run_folder import RunFolder
from figure_kedro.errors import UserError
from figure_kedro.experiments.definition import Cell
from figure_kedro.experiments.plan import Key, Plan
from figure_kedro.experiments.records import Recorded
from figure_kedro.experiments.scheme import scheme
from figure_kedro.experiments.shows import SHOWS, Measured, whole_or_two
from figure_kedro.experiments.table import Shown, Table
from figure_kedro.reporting.record import RunRecord
from figure_kedro.reporting.results import mean_and_std

TIMED = ("epoch_time", "total_time", "memory")


def tables_of(plan: Plan, failures: Mapping[Key, str], machine: str, run_ids: Mapping[Key, str]) -> list[Table]:
    """The tables of all experiments of a plan, from what is there.

    Args:
        plan: What the cells need.
        failures: The one line of runs that failed, by key.
        machine: What times were measured on.
        run_ids: MLflow's, by key.
    """
    return [_table(name, plan, failures, machine, run_ids) for name in plan.experiments]


def with_reasons(table: Table, plan: Plan, without_data: Mapping[str, str]) -> Table:
    """A table for others, which says why its cells are empty, and how what was not measured can be.

    Args:
        table: Of the plan.
        plan: What its cells need.
        without_data: Why data sets could not be had, by their names.
    """
    there = plan.done | plan.recorded.keys()
    empty = [(cell, [key for key in keys if key not in there]) for cell, keys in plan.cells[table.name]]
    names = {dataset for _, keys in empty for _, dataset, _ in keys}
    reasons = [f"{dataset}: {why}." for dataset, why in without_data.items() if dataset in names]
    to_make = [
        f"Not measured: {cell.row or '-'}, {cell.column or '-'}: {plan.runs[key].command}"
        for cell, keys in empty
        for key in keys
        if key[1] not in without_data
    ]
    return replace(table, notes=(*table.notes, *reasons, *to_make))


def only(table: Table, plan: Plan) -> Table:
    """A table without the rows and columns all of whose cells are of other data sets than those in question."""
    other = {
        (cell.row, cell.column) for cell, keys in plan.cells[table.name] if keys and not any(map(plan.asked_for, keys))
    }
    return replace(
        table,
        rows=tuple(row for row in table.rows if any((row, column) not in other for column in table.columns)),
        columns=tuple(column for column in table.columns if any((row, column) not in other for row in table.rows)),
    )


def _table(name: str, plan: Plan, failures: Mapping[Key, str], machine: str, run_ids: Mapping[Key, str]) -> Table:
    experiment = plan.experiments[name]
    given = [f"{path}={value}" for path, value in plan.given.items()]
    cells = {
        (cell.row, cell.column): _shown(name, cell, keys, plan, failures, run_ids) for cell, keys in plan.cells[name]
    }
    timed = any(cell.show.partition(".")[0] in TIMED for cell, _ in plan.cells[name])
    machines = _machines(plan, name, machine) if timed else []
    notes = [f"Times are from {' and '.join(machines)}; the paper's are from a Tesla P100."] if machines else []
    notes += [f"{title.replace(' / ', ', ')}: {remark}" for title, remark in experiment.remarks.items()]
    columns = tuple(experiment.column_titles)
    if experiment.gain:
        ahead = f"average gain of {experiment.gain}"
        cells |= {(row, ahead): _gain(cells, row, experiment.gain, columns) for row in experiment.row_titles}
        columns += (ahead,)
    return Table(
        name=name,
        title=", ".join([experiment.title, *given]),
        rows=tuple(experiment.row_titles),
        columns=columns,
        cells=cells,
        caption=experiment.caption,
        notes=tuple(notes),
        paper=experiment.paper,
        best_of=experiment.best_of,
    )


def _machines(plan: Plan, name: str, machine: str) -> list[str]:
    """Where the runs that a table shows were made: this machine, and those of records."""
    keys = {key for _, keys in plan.cells[name] for key in keys}
    recorded = {plan.recorded[key].machine or machine for key in keys - plan.done if key in plan.recorded}
    return sorted(recorded | ({machine} if keys & plan.done else set()))


def _shown(
    name: str, cell: Cell, keys: list[Key], plan: Plan, failures: Mapping[Key, str], run_ids: Mapping[Key, str]
) -> Shown:
    show, _, detail = cell.show.partition(".")
    paper = paper_numbers().get((name, cell.row, cell.column), (None, None))
    known: dict[str, Any] = {"paper": paper[0], "paper_deviation": paper[1]}
    if "evaluation.splits" in plan.given:  # the paper's deviation is over all of them
        known["paper_deviation"] = None
    if show == "scheme":
        return Shown("done", picture=scheme(detail))
    runs = [plan.runs[key] for key in keys]
    known |= {"command": runs[0].command if len(runs) == 1 else _command(name, plan)}
    folders = [folder for key in keys if (folder := plan.folder(key)) is not None and folder.has(*SHOWS[show].needs)]
    if len(folders) < len(keys):
        failed = next((failures[key] for key in keys if key in failures), "")
        number = paper[0] if show == "statistics" else None
        digits = SHOWS[show].digits if number is None else whole_or_two(number)
        known |= {"unit": SHOWS[show].unit, "digits": digits}
        return Shown("failed", text=failed, **known) if failed else Shown("missing", **known)
    try:
        if plan.experiments[name].together == "best_on_validation":
            measured = [chosen_in_each_split([folder.load("summary.json") for folder in folders])]
        else:
            measured = [SHOWS[show].read(folder.load, detail) for folder in folders]
        origin = _together_from(
            [
                _origin(folder, SHOWS[show].needs[0], run_ids.get(key) or key[-1])
                for folder, key in zip(folders, keys, strict=True)
            ]
        )
    except UserError as error:
        return Shown("failed", text=str(error), **known)
    except (OSError, ValueError, KeyError, TypeError) as error:  # a damaged file costs its cell, not the report
        line = " ".join(str(error).split())[:200]
        places = " or ".join(dict.fromkeys(str(run.folder.path) for run in runs))
        return Shown("failed", text=f"what it left cannot be read ({line}); remove {places}", **known)
    stale = any(isinstance(folder, Recorded) and folder.stale for folder in folders)
    return Shown("stale" if stale else "done", **known, **_together(measured), **origin)


def _command(name: str, plan: Plan) -> str:
    """What makes cells over several runs."""
    given = ",".join(f"{path}={value}" for path, value in plan.given.items())
    return f"kedro experiment run {name}" + (f" --params {shlex.quote(given)}" if given else "")


def chosen_in_each_split(records: Sequence[RunRecord]) -> Measured:
    """The test score of the run that does best on validation, in each split by itself; the first one of equals.

    A split's choice looks at its own validation nodes alone. One for all splits also sees test nodes of each, as
    validation nodes of the others.
    """
    metric = records[0].metric
    tables = [record.table.set_index("split") for record in records]
    if any(record.metric != metric for record in records) or any(
        list(t.index) != list(tables[0].index) for t in tables
    ):
        raise UserError("runs with other metrics or splits cannot be chosen from together")
    val = pd.DataFrame({number: table[f"val_{metric}"] for number, table in enumerate(tables)})
    chosen = val.idxmax(axis=1)
    scores = np.array([tables[number].loc[split, f"test_{metric}"] for split, number in chosen.items()])
    mean, deviation = mean_and_std(scores)
    counts = [int((chosen == number).sum()) for number in range(len(records))]
    beside = "chosen " + ", ".join(map(str, counts))
    if all("directed" in record.settings.get("source", {}) and record.twin_free_mean is not None for record in records):
        free = [tables[number].loc[split, "twin_free_test"] for split, number in chosen.items()]
        beside += f", {np.nanmean(free):.2f} without twins"
    return Measured(mean, deviation, len(scores), "%", 2, True, beside)


def _gain(cells: Mapping[tuple[str, str], Shown], row: str, leader: str, columns: tuple[str, ...]) -> Shown:
    """By how much a row is ahead of another one, on average over the columns that were measured for both; the paper's
    is over the same columns, as far as it has them."""
    pairs = [(cells[leader, column], cells[row, column]) for column in columns]
    pairs = [pair for pair in pairs if all(cell.state == "done" and cell.value is not None for cell in pair)]
    if not pairs:
        return Shown("missing")
    ours = [float(first.value or 0) - float(other.value or 0) for first, other in pairs]
    papers = [
        first.paper - other.paper for first, other in pairs if first.paper is not None and other.paper is not None
    ]
    return Shown(
        "done",
        value=statistics.fmean(ours),
        unit=pairs[0][0].unit,
        paper=statistics.fmean(papers) if papers else None,
        beside=f"{len(pairs)} of {len(columns)} columns",
    )


def _together(measured: list[Measured]) -> dict[str, Any]:
    """One measurement, or the mean of several with their deviation."""
    first = measured[0]
    fields = {name: getattr(first, name) for name in Measured.__dataclass_fields__}
    values = [one.value for one in measured if one.value is not None]
    if len(measured) > 1 and values:
        deviation = statistics.stdev(values) if len(values) > 1 else None
        fields |= {"value": statistics.fmean(values), "deviation": deviation, "beside": ""}
        fields |= {"count": len(values), "counted": "runs"}
    return fields


def _together_from(origins: Sequence[Mapping[str, str]]) -> dict[str, Any]:
    """Where a cell over several runs comes from: what they have in common, and how far they differ."""
    known = {name: sorted({origin[name] for origin in origins if origin.get(name)}) for name in origins[0]}
    words = {
        name: " to ".join([values[0], values[-1]]) if name == "date" else f"{values[0]} and {len(values) - 1} more"
        for name, values in known.items()
        if len(values) > 1
    }
    return words | {name: values[0] for name, values in known.items() if len(values) == 1}


def _origin(folder: RunFolder | Recorded, first: str, run_id: str) -> dict[str, str]:
    """Where a number comes from."""
    if not folder.has("summary.json"):
        return {"run_id": run_id, "date": folder.date(first)}
    record = folder.load("summary.json")
    version = f"{record.version} ({record.commit})" if record.commit else record.version
    return {"run_id": run_id, "date": record.date, "data_checksum": record.data_checksum[:8], "version": version}


@cache
def paper_numbers() -> dict[tuple[str, str, str], tuple[float | None, float | None]]:
    """Mean and deviation that the paper prints, by table, row and column; the mean is missing for want of memory."""
    source = resources.files(__package__).joinpath("paper_tables.csv")
    with source.open(encoding="utf-8") as lines:
        table = pd.read_csv(lines, dtype={"table": str, "row": str, "column": str}, keep_default_na=True)
    table = table.fillna({"row": "", "column": ""})
    numbers = table[["mean", "std"]].astype(object).where(table[["mean", "std"]].notna(), None)
    keys = table[["table", "row", "column"]].itertuples(index=False, name=None)
    return dict(zip(keys, numbers.itertuples(index=False, name=None), strict=True))
