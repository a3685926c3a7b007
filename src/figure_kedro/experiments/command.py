"""``kedro experiment``: tables and figures of many runs from one command."""

from collections.abc import Iterable
from pathlib import Path
from typing import Any

import mlflow
import rich
from kedro.config import MissingConfigException
from omegaconf.errors import OmegaConfBaseException
from rich.console import Console
from rich.table import Table as RichTable
from yaml import YAMLError

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.datasets.files.data_folder import local_folder
from figure_kedro.datasets.files.whole_file import write_whole
from figure_kedro.errors import UserError, nearest
from figure_kedro.execution import Executor, ThisProcess
from figure_kedro.experiments.cells import FOLDERS, project_loader
from figure_kedro.experiments.definition import Experiment
from figure_kedro.experiments.driver import Journal, machine, make_missing, start_tracking
from figure_kedro.experiments.pages import csv_text, html_page, latex_document, markdown_page
from figure_kedro.experiments.plan import Plan, estimate, plan_experiments
from figure_kedro.experiments.records import (
    Key,
    Recorded,
    read_records,
    record_of,
    take_up_reasons,
    write_records,
)
from figure_kedro.experiments.table import Table
from figure_kedro.experiments.tables import tables_of
from figure_kedro.parts import flatten
from figure_kedro.progress import in_words
from figure_kedro.run_owner import owned_runs


def run(
    project: Path,
    names: Iterable[str],
    given: dict[str, Any],
    *,
    datasets: Iterable[str] = (),
    executor: Executor | None = None,
    records: Path | None = None,
    dry_run: bool = False,
) -> bool:
    """Make what is missing of some experiments, and their reports.

    Args:
        project: Root of the project.
        names: Of the experiments.
        given: What ``--params`` says; it wins over the files.
        datasets: Only cells of these.
        executor: Where runs are made; this process unless another one is given.
        records: A folder whose records, as :func:`report` leaves them, are not made again unless they are stale.
        dry_run: Whether only to tell what would be done.

    Returns:
        Whether all cells are there.
    """
    console, loader = rich.get_console(), project_loader(project)
    plan = _plan(loader, names, given, datasets)
    if records is not None:
        plan.recorded = still_valid(plan, records)
    journal = Journal(_reports(loader, given))
    _tell(console, plan, journal)
    if dry_run:
        return True
    title, tracking = " ".join(plan.experiments), loader.with_params(_folders(given))
    start_tracking(tracking, "experiments")
    with owned_runs(tracking.locks(), title), mlflow.start_run(run_name=title):
        try:
            failed = make_missing(plan, executor or ThisProcess(), journal, console)
        except KeyboardInterrupt:
            mlflow.end_run("KILLED")  # MLflow itself would call it failed
            raise
        tables = tables_of(plan, journal.failures(), machine(), journal.run_ids())
        folder = _report(loader, tables, given, None)
        mlflow.log_artifacts(str(folder))
        mlflow.log_metrics({"cells": len(plan.runs), "failed": len(failed)})
    lines = [f"failed: {plan.runs[key].command}" for key in failed]
    lines += [] if failed else _not_shown(tables)
    for line in lines:
        console.print(line, markup=False, highlight=False, soft_wrap=True)
    return not lines


def report(
    project: Path,
    names: Iterable[str],
    given: dict[str, Any],
    *,
    datasets: Iterable[str] = (),
    output: Path | None = None,
) -> Path:
    """Write the tables of experiments from what is there: one page of HTML, Markdown, LaTeX and CSV.

    With a folder of one's own the page is called ``results``, and beside it ``results.jsonl`` and
    ``results_files.jsonl`` keep the records behind it, ``results_without_data.json`` why data sets could not be had:
    they are read too, so that a page can be added to on another machine.

    Returns:
        The folder.
    """
    loader = project_loader(project)
    plan, journal = _plan(loader, names, given, datasets), Journal(_reports(loader, given))
    if output is None:
        tables = tables_of(plan, journal.failures(), machine(), journal.run_ids())
    else:  # for others, to whom this machine's failures and numbers of runs say nothing
        take_up_records(plan, output)
        there = {dataset for _, dataset, _ in plan.done}
        without_data = take_up_reasons(output, journal.without_data(), there)
        tables = tables_of(plan, {}, machine(), {}, without_data)
    return _report(loader, tables, given, output)


def _not_shown(tables: Iterable[Table]) -> list[str]:
    """A line for every cell whose run is there, but not what it should show."""
    cells = [(table.name, place, cell) for table in tables for place, cell in table.cells.items()]
    return [
        f"failed: {name}, {' / '.join(place)}: {cell.text}" for name, place, cell in cells if cell.state == "failed"
    ]


def _report(loader: ProjectConfigLoader, tables: list[Table], given: dict[str, Any], output: Path | None) -> Path:
    single = "results" if output else tables[0].name if len(tables) == 1 else "all"
    folder = output or _reports(loader, given) / "experiments" / single
    title = tables[0].title if len(tables) == 1 else "Results"

    def picture_path(table: Table, row: str, column: str) -> str:
        name = "_".join(part for part in (table.name, row, column) if part)
        return "".join(c if c.isalnum() or c in "_-" else "_" for c in name) + ".png"

    for table in tables:
        for (row, column), cell in table.cells.items():
            if cell.picture is not None:
                write_whole(folder / picture_path(table, row, column), cell.picture)
    write_whole(folder / f"{single}.html", html_page(tables, title))
    write_whole(folder / f"{single}.md", markdown_page(tables, title, picture_path))
    write_whole(folder / f"{single}.tex", latex_document(tables, picture_path))
    write_whole(folder / f"{single}.csv", csv_text(tables))
    rich.get_console().print(f"the report is {folder / single}.html", markup=False, highlight=False, soft_wrap=True)
    return folder


def take_up_records(plan: Plan, folder: Path) -> None:
    """Add the records of this plan's runs to those of a folder, and use what it has of others."""
    records = read_records(folder)
    for key in plan.done:
        run = plan.runs[key]
        recorded = record_of(run, machine())
        needs = plan.needs(key)
        recorded.keep(run.folder, needs)
        recorded.day = recorded.day or run.folder.date(min(needs))
        if recorded.record is not None or recorded.files:
            records[key] = recorded
    plan.recorded = {key: recorded for key, recorded in records.items() if key in plan.runs}
    write_records(folder, records.values())


def still_valid(plan: Plan, folder: Path) -> dict[Key, Recorded]:
    """The records of a folder that stand for runs of this plan: whole, and made by parts as they are today."""
    known = {key: recorded for key, recorded in read_records(folder).items() if key in plan.runs}
    return {key: one for key, one in known.items() if not one.stale and one.has(*plan.needs(key))}


def show_list(project: Path) -> None:
    """Print the experiments that there are."""
    table = RichTable("name", "title", "cells", box=None)
    for name, raw in sorted(_definitions(project_loader(project)).items(), key=lambda item: _in_order(item[0])):
        experiment = Experiment.read(name, raw)
        table.add_row(name, experiment.title, str(sum(1 for _ in experiment.cells({}))))
    rich.get_console().print(table)


def show_status(project: Path, names: Iterable[str], given: dict[str, Any]) -> None:
    """Print how many runs of each experiment are there, failed, or missing."""
    loader = project_loader(project)
    failures = Journal(_reports(loader, given)).failures()
    table = RichTable("experiment", "runs", "done", "failed", "missing", box=None)
    for name in list(names) or sorted(_definitions(loader), key=_in_order):
        plan = _plan(loader, [name], given, ())
        failed = [key for key in plan.runs if key in failures and key not in plan.done]
        missing = len(plan.runs) - len(plan.done) - len(failed)
        table.add_row(name, *(str(n) for n in (len(plan.runs), len(plan.done), len(failed), missing)))
    rich.get_console().print(table)


def _definitions(loader: ProjectConfigLoader) -> dict[str, Any]:
    """The content of all files of experiments, by name."""
    try:
        return loader["experiments"]
    except MissingConfigException:
        raise UserError("there is no file in conf/base/experiments or conf/local/experiments") from None
    except (OmegaConfBaseException, YAMLError, ValueError) as error:
        raise UserError(f"the files of experiments cannot be read: {' '.join(str(error).split())}") from None


def _plan(loader: ProjectConfigLoader, names: Iterable[str], given: dict[str, Any], datasets: Iterable[str]) -> Plan:
    known = _definitions(loader)
    for name in names:
        if name not in known:
            raise UserError(f"there is no experiment {name!r}; {nearest(name, known)}")
    chosen = {name: Experiment.read(name, known[name]) for name in names}
    return plan_experiments(loader, chosen, flatten(given), datasets)


def _tell(console: Console, plan: Plan, journal: Journal) -> None:
    """What there is to do."""
    lines, missing = journal.lines(), plan.missing
    for name, cells in plan.cells.items():
        keys = {key for _, keys in cells for key in keys}
        there = len(keys & (plan.done | plan.recorded.keys()))
        console.print(f"{name}: {len(cells)} cells, {len(keys)} runs, {there} are there", highlight=False)
    known = [seconds for run in missing if (seconds := estimate(run, lines)) is not None]
    if missing:
        time = f"about {in_words(sum(known))} one after the other" if known else "of unknown length"
        rest = f" and {len(missing) - len(known)} of unknown length" if known and len(known) < len(missing) else ""
        console.print(f"{len(missing)} run{'s'[: len(missing) > 1]} to make, {time}{rest}", highlight=False)
    for run in missing:
        seconds = estimate(run, lines)
        guess = "" if seconds is None else f"  # about {in_words(seconds)}"
        console.print(f"  {run.command}{guess}", markup=False, highlight=False, soft_wrap=True)


def _reports(loader: ProjectConfigLoader, given: dict[str, Any]) -> Path:
    parameters = loader.with_params(_folders(given)).parameters
    return local_folder(Path(loader.conf_source).parent, parameters.data_folder) / "08_reporting"


def _folders(given: dict[str, Any]) -> dict[str, Any]:
    """What is given about folders, which hold for the experiment itself too."""
    return {name: given[name] for name in FOLDERS if name in given}


def _in_order(name: str) -> tuple[str, int]:
    """Table 2 before table 10."""
    word, _, number = name.rpartition("_")
    return (word, int(number)) if number.isdigit() else (name, 0)
