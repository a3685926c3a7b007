"""``kedro runs``: what tells runs apart and what they reached, or where one has left its files."""

from collections.abc import Iterable
from datetime import datetime
from pathlib import Path
from typing import Any

import rich

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.datasets.files.data_folder import fetch_records, local_folder, shown
from figure_kedro.errors import UserError
from figure_kedro.experiments.cells import FOLDERS, project_loader
from figure_kedro.parameters import check_parameters
from figure_kedro.parts import flatten
from figure_kedro.reporting.panel import against_paper
from figure_kedro.reporting.record import RunRecord
from figure_kedro.reporting.results import with_spread
from figure_kedro.runs.found import FoundRun, find_runs, one_run
from figure_kedro.tracking.words import command_line


def show_runs(project: Path, given: dict[str, Any], *, datasets: Iterable[str], key: str | None, limit: int) -> None:
    """Print the runs of a data folder, newest first, or all about one of them.

    Args:
        project: Root of the project.
        given: What ``--params`` says about folders.
        datasets: Only runs on these.
        key: Of the one to tell all about, or the beginning of it.
        limit: At most so many are listed; 0: all.
    """
    loader = project_loader(project)
    if set(given) - set(FOLDERS):
        raise UserError(f"only {' and '.join(FOLDERS)} have a say here; choose runs by --datasets and --key")
    folder = local_folder(project, loader.with_params(given).parameters.data_folder)
    fetch_records(folder)
    runs = find_runs(folder, datasets)
    if key is not None:
        lines = [[f"{title}:", text] for title, text in _details(one_run(runs, key), loader)]
    elif not runs:
        lines = [[f"there are no runs in {shown(folder)}"]]
    else:
        titles = ["key", "written", "data set", "run", "test", "to paper", "settings of its own"]
        lines = [titles, *(_row(run, loader) for run in runs[: limit or None])]
    for line in _aligned(lines):  # as wide as it is: a terminal wraps it, a file has it whole
        rich.get_console().print(line, markup=False, highlight=False, soft_wrap=True)
    if key is None and 0 < limit < len(runs):
        rich.get_console().print(f"and {len(runs) - limit} older ones; --limit 0 shows all", highlight=False)


def _row(run: FoundRun, loader: ProjectConfigLoader) -> list[str]:
    written, record = datetime.fromtimestamp(run.time).strftime("%Y-%m-%d %H:%M"), run.record
    if record is None:
        return [run.key, written, run.dataset, run.name, "not evaluated", "", ""]
    difference = ""
    if record.paper_mean is not None and record.test_mean is not None:
        difference = f"{round(record.test_mean - record.paper_mean, 2) + 0.0:+.2f}"
    own = ", ".join(f"{path}={value}" for path, value in own_settings(record, loader).items())
    return [run.key, written, run.dataset, _name(run), with_spread(record.test_mean, record.test_std), difference, own]


def _details(run: FoundRun, loader: ProjectConfigLoader) -> list[tuple[str, str]]:
    lines, record = [("data set", run.dataset), ("key", run.key)], run.record
    if record is not None:
        command = command_line([], {"dataset": run.dataset, **own_settings(record, loader)})
        lines += [
            ("run", _name(run)),
            (f"test {record.metric}", f"{with_spread(record.test_mean, record.test_std)} over {record.splits} splits"),
            ("paper", str(against_paper(record))),
            ("made on", record.date),
            ("commit", record.commit),
            ("command", command),
        ]
    lines += [(name.replace("_", " "), shown(path)) for name, path in run.paths.items()]
    return [(title, text) for title, text in lines if text]


def own_settings(record: RunRecord, loader: ProjectConfigLoader) -> dict[str, Any]:
    """The settings of a run that decide its scores and are not as the project's files have them for its data set.

    What can no longer be told, because a data set, a part or a user's file is gone, is left out.
    """
    given: dict[str, Any] = {"dataset": record.dataset}
    for source in ({}, {"source": record.settings.get("source", {})}):  # a graph of one's own is nothing without files
        try:
            ours = flatten(check_parameters(record.settings).decisive("evaluation"))
            usual = flatten(loader.with_params({**given, **source}).parameters.decisive("evaluation"))
        except UserError:
            continue
        stored = flatten(record.settings)  # has the path of a file where the others have its content
        differ = {path for path, value in ours.items() if usual.get(path) != value and path in stored}
        files = {path for path in stored if source and path in ("source.edges", "source.nodes", "source.path")}
        return {path: value for path, value in stored.items() if path in differ | files and value is not None}
    return {}


def _name(run: FoundRun) -> str:
    return run.name or (f"{run.record.method} {run.record.dimension}" if run.record else "")


def _aligned(lines: list[list[str]]) -> list[str]:
    widths = [max(len(line[i]) for line in lines if i < len(line)) for i in range(max(map(len, lines)))]
    return ["  ".join(text.ljust(width) for text, width in zip(line, widths, strict=False)).rstrip() for line in lines]
