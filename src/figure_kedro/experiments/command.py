"""``kedro experiment``: tables and figures of many runs from one command."""

from collections.abc import Iterable
from hashlib import sha256
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
from figure_kedro.experiments.driver import Journal, make_missing, start_tracking
from figure_kedro.experiments.pages import csv_text, html_page, latex_document, markdown_page
from figure_kedro.experiments.plan import Plan, estimate, plan_experiments
from figure_kedro.experiments.records import (
    Key,
    Page,
    Recorded,
    read_records,
    record_of,
    write_records,
)
from figure_kedro.experiments.table import Table
from figure_kedro.experiments.tables import only, tables_of, with_reasons
from figure_kedro.machine import machine
from figure_kedro.parts import flatten
from figure_kedro.progress import in_words
from figure_kedro.run_owner import owned_runs

KEPT = "results"
"""Name of a page in a folder of one's own."""

LONGEST_NAME = 100
"""Of a report's folder, so that it fits into a path."""


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
    console, loader = Console(), project_loader(project)  # its own: that of a run says nothing while it is made
    plan = _plan(loader, names, given, datasets, records)
    journal = Journal(_reports(loader, given))
    _tell(console, plan, journal)
    if dry_run:
        return True
    title, tracking = " ".join(plan.experiments), loader.with_params(_folders(given))
    start_tracking(tracking, "experiments")
    with owned_runs(tracking.locks(), title), mlflow.start_run(run_name=title):
        mlflow.log_params({**plan.given, **({"datasets": ",".join(sorted(plan.datasets))} if plan.datasets else {})})
        try:
            failed = make_missing(plan, executor or ThisProcess(), journal, console)
        except KeyboardInterrupt:
            mlflow.end_run("KILLED")  # MLflow itself would call it failed
            console.print("stopped; the same command goes on where this one was")
            raise
        tables = tables_of(plan, journal.failures(), machine(), journal.run_ids())
        folder = _report(_reports(loader, given) / "experiments" / (name := _file_name(plan)), name, tables)
        mlflow.log_artifacts(str(folder))
        mlflow.log_metrics({"cells": len(plan.runs), "failed": len(failed)})
        if failed:
            mlflow.end_run("FAILED")
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
    records: Path | None = None,
    output: Path | None = None,
) -> Path:
    """Write the tables of experiments from what is there: one page of HTML, Markdown, LaTeX and CSV.

    With a folder of one's own the page is called ``results``, and beside it ``results.jsonl`` and
    ``results_files.jsonl`` keep the records behind it, ``results_page.json`` which experiments are on it and why data
    sets could not be had. They are read too: experiments are added to those of an earlier page, or renewed, on
    another machine as well.

    Returns:
        The folder.
    """
    loader = project_loader(project)
    journal = Journal(_reports(loader, given))
    if output is None:
        plan = _plan(loader, names, given, datasets, records)
        tables = tables_of(plan, journal.failures(), machine(), journal.run_ids())
        name = _file_name(plan, datasets=True)
        return _report(_reports(loader, given) / "experiments" / name, name, [only(table, plan) for table in tables])
    page = Page.read(output)
    plan = _plan(loader, dict.fromkeys([*page.experiments, *names]), given, datasets, records)
    if page.experiments and page.given != plan.given:
        raise UserError(f"{output} has a page with other --params ({page.given or 'none'}); take another --output")
    take_up_records(plan, output)
    there = {dataset for _, dataset, _ in plan.done}
    reasons = sorted({**page.without_data, **journal.without_data()}.items())
    page = Page([*plan.experiments], plan.given, {dataset: why for dataset, why in reasons if dataset not in there})
    page.write(output)
    # for others, to whom this machine's failures and numbers of runs say nothing
    tables = [with_reasons(table, plan, page.without_data) for table in tables_of(plan, {}, machine(), {})]
    return _report(output, KEPT, [only(table, plan) for table in tables])


def _not_shown(tables: Iterable[Table]) -> list[str]:
    """A line for every cell whose run is there, but not what it should show."""
    cells = [(table.name, place, cell) for table in tables for place, cell in table.cells.items()]
    return [
        f"failed: {name}, {' / '.join(place)}: {cell.text}" for name, place, cell in cells if cell.state == "failed"
    ]


def _file_name(plan: Plan, datasets: bool = False) -> str:
    """What is shown: names of experiments, and what was given for all cells."""
    shown = [*plan.experiments, *(f"{path}-{value}" for path, value in plan.given.items())]
    shown += ["datasets", *sorted(plan.datasets)] if datasets and plan.datasets else []
    name = "-".join("".join(c if c.isalnum() or c in "_-." else "_" for c in word) for word in shown)
    return name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}-{sha256(name.encode()).hexdigest()[:8]}"


def _report(folder: Path, name: str, tables: list[Table]) -> Path:
    title = tables[0].title if len(tables) == 1 and name != KEPT else "Results"

    def picture_path(table: Table, row: str, column: str) -> str:
        where = "_".join(part for part in (table.name, row, column) if part)
        return "".join(c if c.isalnum() or c in "_-" else "_" for c in where) + ".png"

    for table in tables:
        for (row, column), cell in table.cells.items():
            if cell.picture is not None:
                write_whole(folder / picture_path(table, row, column), cell.picture)
    write_whole(folder / f"{name}.html", html_page(tables, title))
    write_whole(folder / f"{name}.md", markdown_page(tables, title, picture_path))
    write_whole(folder / f"{name}.tex", latex_document(tables, picture_path))
    write_whole(folder / f"{name}.csv", csv_text(tables))
    rich.get_console().print(f"the report is {folder / name}.html", markup=False, highlight=False, soft_wrap=True)
    return folder


def take_up_records(plan: Plan, folder: Path) -> None:
    """Add the records of this plan's runs to those of a folder, and use what it has of others. Stale ones that nothing
    shows are left out from then on."""
    records = read_records(folder)
    records = {key: recorded for key, recorded in records.items() if key in plan.runs or not recorded.stale}
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


def show_status(
    project: Path,
    names: Iterable[str],
    given: dict[str, Any],
    *,
    datasets: Iterable[str] = (),
    records: Path | None = None,
) -> None:
    """Print how many runs of each experiment are there, failed, or missing; the arguments are those of :func:`run`."""
    loader = project_loader(project)
    failures = Journal(_reports(loader, given)).failures()
    table = RichTable("experiment", "runs", "done", "failed", "missing", box=None)
    for name in list(names) or sorted(_definitions(loader), key=_in_order):
        plan = _plan(loader, [name], given, datasets, records)
        missing, runs = [run.key for run in plan.missing], sum(map(plan.asked_for, plan.runs))
        failed = [key for key in missing if key in failures]
        numbers = (runs, runs - len(missing), len(failed), len(missing) - len(failed))
        table.add_row(name, *map(str, numbers))
    rich.get_console().print(table)


def _definitions(loader: ProjectConfigLoader) -> dict[str, Any]:
    """The content of all files of experiments, by name."""
    try:
        return loader["experiments"]
    except MissingConfigException:
        raise UserError("there is no file in conf/base/experiments or conf/local/experiments") from None
    except (OmegaConfBaseException, YAMLError, ValueError) as error:
        raise UserError(f"the files of experiments cannot be read: {' '.join(str(error).split())}") from None


def _plan(
    loader: ProjectConfigLoader,
    names: Iterable[str],
    given: dict[str, Any],
    datasets: Iterable[str],
    records: Path | None,
) -> Plan:
    known = _definitions(loader)
    for name in names:
        if name not in known:
            raise UserError(f"there is no experiment {name!r}; {nearest(name, known)}")
    chosen = {name: Experiment.read(name, known[name]) for name in names}
    plan = plan_experiments(loader, chosen, flatten(given), datasets)
    if records is not None:
        plan.recorded = still_valid(plan, records)
    return plan


def _tell(console: Console, plan: Plan, journal: Journal) -> None:
    """What there is to do."""
    lines, missing = journal.lines(), plan.missing
    for name, cells in plan.cells.items():
        shown = [keys for _, keys in cells if not keys or any(map(plan.asked_for, keys))]
        keys = {key for keys in shown for key in keys if plan.asked_for(key)}
        there = len(keys & (plan.done | plan.recorded.keys()))
        counts = f"{_counted(len(shown), 'cell')}, {_counted(len(keys), 'run')}"
        console.print(f"{name}: {counts}, {there} {'is' if there == 1 else 'are'} there", highlight=False)
    known = [seconds for run in missing if (seconds := estimate(run, lines)) is not None]
    if missing:
        time = f"about {in_words(sum(known))} one after the other" if known else "of unknown length"
        rest = f" and {len(missing) - len(known)} of unknown length" if known and len(known) < len(missing) else ""
        console.print(f"{_counted(len(missing), 'run')} to make, {time}{rest}", highlight=False)
    for run in missing:
        seconds = estimate(run, lines)
        guess = "" if seconds is None else f"  # about {in_words(seconds)}"
        console.print(f"  {run.command}{guess}", markup=False, highlight=False, soft_wrap=True)


def _counted(number: int, what: str) -> str:
    return f"{number} {what}{'s' * (number != 1)}"


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
