"""Makes the runs that experiments need, and keeps what became of them."""

from contextlib import closing
from dataclasses import replace
from pathlib import Path
from typing import Any

import mlflow
from rich.console import Console

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.datasets.files.json_lines import add_line, read_lines
from figure_kedro.datasets.files.tracking_database import ensure_database
from figure_kedro.datasets.files.whole_file import write_whole
from figure_kedro.execution import Executor, Lost, Task
from figure_kedro.experiments.cells import Outcome, Run, make
from figure_kedro.experiments.plan import Key, Plan, estimate, journal_line
from figure_kedro.experiments.progress import CellProgress
from figure_kedro.tracking.words import last_stage, path_tags, record_metrics, run_name, run_params, run_tags

NEEDED_MEMORY = 2 * 2**30
"""Bytes that Ray sets aside for a run: what the paper's graphs take, the arXiv ones included."""


class Journal:
    """What became of runs, in one file for all experiments of a project.

    Args:
        folder: Where reports are kept.
    """

    def __init__(self, folder: Path) -> None:
        self.path = folder / "experiments" / "runs.jsonl"

    def lines(self) -> list[dict[str, Any]]:
        return read_lines(self.path)

    def failures(self) -> dict[Key, str]:
        """The error of every run whose last attempt failed."""
        last = {(line["pipeline"], line["dataset"], line["key"]): line.get("error", "") for line in self.lines()}
        return {key: error for key, error in last.items() if error}

    def without_data(self) -> dict[str, str]:
        """Why the raw files of a data set could not be had, for every one whose last run failed for it."""
        last = {line["dataset"]: line.get("no_data", "") for line in self.lines()}
        return {dataset: why for dataset, why in last.items() if why}

    def run_ids(self) -> dict[Key, str]:
        """MLflow's number of every run that has one."""
        return {(line["pipeline"], line["dataset"], line["key"]): line.get("run_id", "") for line in self.lines()}

    def add(self, run: Run, outcome: Outcome, run_id: str) -> None:
        line = {**journal_line(run, outcome.seconds, outcome.error), "run_id": run_id}
        add_line(self.path, line | ({"no_data": outcome.no_data} if outcome.no_data else {}))
        if outcome.details:
            write_whole(self.path.parent / "errors" / f"{run.key[-1]}.txt", outcome.details)


def make_missing(plan: Plan, executor: Executor, journal: Journal, console: Console) -> list[Key]:
    """Make every run that is not there, and return the keys of those that failed. MLflow's active run gets one below it
    for each, those that were there among them.

    An interrupt or a kill loses the runs under way, which are resumed from their checkpoints next time.

    Args:
        plan: What is needed.
        executor: Where runs are made.
        journal: Where their ends are written.
        console: Where progress is shown.
    """
    runs, earlier, failed, reasons = plan.missing, journal.lines(), [], set()
    for key in plan.runs:
        if plan.asked_for(key) and plan.folder(key) is not None:
            log_run(plan, key, None)
    tasks = [
        Task(make, (str(run.project), run.changes, run.pipeline), gpus=_gpus(run), memory=NEEDED_MEMORY) for run in runs
    ]
    at_a_time = executor.workers
    results = closing(executor.run(tasks))
    with CellProgress(console, [estimate(run, earlier) for run in runs], at_a_time) as progress, results as ended:
        for number, result in ended:
            run = runs[number]
            outcome = Outcome(0.0, result.reason) if isinstance(result, Lost) else result
            if outcome.error:
                failed.append(run.key)
            else:
                plan.done.add(run.key)
            journal.add(run, outcome, log_run(plan, run.key, outcome))
            if outcome.no_data in reasons:  # told once is enough
                outcome = replace(outcome, error=f"no raw files of {run.parameters.dataset}, see above")
            elif outcome.no_data:
                reasons.add(outcome.no_data)
            progress.ended(number, run_name(run.parameters, last_stage([run.pipeline])), outcome)
    return failed


def start_tracking(loader: ProjectConfigLoader, experiment: str) -> None:
    """Point MLflow to where the project keeps its records."""
    if (database := loader.own_database()) is not None:
        ensure_database(database)
    records, artefacts = loader.tracking()
    mlflow.set_tracking_uri(records)
    if mlflow.get_experiment_by_name(experiment) is None:
        mlflow.create_experiment(experiment, artifact_location=artefacts)
    mlflow.set_experiment(experiment)


def log_run(plan: Plan, key: Key, outcome: Outcome | None) -> str:
    """A run below the active one for MLflow, written here and by nobody else.

    Args:
        plan: Of which the run is one.
        key: Of the run.
        outcome: How it ended; ``None`` if it was there before.
    """
    if mlflow.active_run() is None:
        return ""
    run, stage = plan.runs[key], last_stage([plan.runs[key].pipeline])
    with mlflow.start_run(nested=True, run_name=run_name(run.parameters, stage)) as child:
        mlflow.log_params(run_params(run.parameters, stage))
        tags = {**run_tags(run.parameters, stage, run.command), "pipeline": run.pipeline, "cells": plan.places(key)}
        mlflow.set_tags(tags)
        if outcome is not None:
            mlflow.log_metric("seconds", outcome.seconds)
        if outcome is not None and outcome.error:
            mlflow.set_tag("error", outcome.error)
            mlflow.end_run("FAILED")
        elif stage == "evaluation" and (folder := plan.folder(key)) is not None:
            record = folder.load("summary.json")
            mlflow.set_tags({"data_checksum": record.data_checksum, **path_tags(record.artefacts)})
            mlflow.log_metrics(record_metrics(record))
        return str(child.info.run_id)


def _gpus(run: Run) -> float:
    training = getattr(run.parameters.representation, "training", None)
    return 1.0 if str(getattr(training, "device", "")).startswith("cuda") else 0.0
