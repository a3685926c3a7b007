"""Records of runs that are kept in files, so that a page outlives the machine that measured it.

``results.jsonl`` has the record of every evaluation. ``results_files.jsonl`` has what cells show beside it: times,
coefficients of filters, statistics of data sets. ``results_page.json`` says which experiments are on the page,
and of data sets why they could not be had.
"""

import json
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any

import pandas as pd

from figure_kedro.datasets.files.json_lines import read_lines
from figure_kedro.datasets.files.whole_file import write_whole
from figure_kedro.datasets.run_folder import RunFolder
from figure_kedro.experiments.cells import FOLDERS, Run
from figure_kedro.experiments.shows import stage_of
from figure_kedro.migration import raised_versions
from figure_kedro.parameters import check_parameters
from figure_kedro.reporting.record import RunRecord

PAGE = "results_page.json"

FIRST_VERSION = 1
"""Of a part, for records from before parts had versions."""

Key = tuple[str, str, str]
"""Pipeline, data set and key of a run."""


@dataclass
class Recorded:
    """What is kept of a run, in place of the folder that it has left: the same names, as far as they are kept.

    Args:
        pipeline: That ran.
        settings: Of the run, all of them.
        versions: Of the parts that decided it, by group.
        day: When it was measured.
        machine: On which; times mean nothing without it.
        record: Of an evaluation.
        files: The content of small files by their names; rows of a table are dictionaries.
    """

    pipeline: str
    settings: Mapping[str, Any]
    versions: Mapping[str, int]
    day: str
    machine: str = ""
    record: RunRecord | None = None
    files: dict[str, Any] = field(default_factory=dict)

    @classmethod
    def of_record(cls, record: RunRecord) -> "Recorded":
        """What the record of an evaluation says."""
        return cls("evaluation", record.settings, record.versions, record.date, record=record)

    @property
    def key(self) -> Key:
        """What a run with these settings has today."""
        parameters = check_parameters(self.settings)
        return self.pipeline, parameters.dataset, parameters.key(stage_of(self.pipeline))

    @property
    def stale(self) -> bool:
        """Whether a part that decided it behaves otherwise now."""
        now = check_parameters(self.settings).versions(stage_of(self.pipeline))
        return any(self.versions.get(group, FIRST_VERSION) != version for group, version in now.items())

    def has(self, *names: str) -> bool:
        kept = {*self.files} | ({"summary.json", "timing.json"} if self.record else set())
        return set(names) <= kept

    def load(self, name: str) -> Any:
        if name in self.files:
            content = self.files[name]
            return pd.DataFrame(content) if name.endswith(".csv") else content
        return self.record if name == "summary.json" or self.record is None else self.record.model_dump()

    def date(self, name: str) -> str:
        return self.day

    def keep(self, folder: RunFolder, names: Iterable[str]) -> None:
        """Keep the content of files of a run, pictures left out."""
        for name in names:
            if name.endswith(".csv"):
                table = folder.load(name)
                self.files[name] = table.astype(object).where(table.notna(), None).to_dict("records")
            elif name == "timing.json":
                self.files[name] = folder.load(name)


def record_of(run: Run, machine: str) -> Recorded:
    """What is to be kept of a run that is there; its files are added by :meth:`Recorded.keep`."""
    if run.pipeline == "evaluation":
        recorded = Recorded.of_record(run.folder.load("summary.json"))
    else:
        settings, stage = run.parameters.model_dump(mode="json"), stage_of(run.pipeline)
        recorded = Recorded(run.pipeline, settings, run.parameters.versions(stage), "")
    recorded.machine = machine
    return recorded


def read_records(folder: Path) -> dict[Key, Recorded]:
    """The records of a folder by the key that their settings have today; none if there are no files."""
    lines = read_lines(folder / "results.jsonl")
    records = {one.key: one for one in (Recorded.of_record(RunRecord.read(line)) for line in lines)}
    for line in read_lines(folder / "results_files.jsonl"):
        kept = Recorded(**{**line, "versions": raised_versions(line["settings"], line["versions"])})
        if kept.pipeline == "evaluation" and (known := records.get(kept.key)):
            known.files, known.machine, known.day = kept.files, kept.machine, kept.day
        elif kept.pipeline != "evaluation":
            records[kept.key] = kept
    return records


@dataclass
class Page:
    """What a kept page is made of beside its records.

    Args:
        experiments: Their names, in the order of the page.
        given: What was the same for all cells in place of what the experiments say.
        without_data: Why data sets could not be had, by their names.
    """

    experiments: list[str] = field(default_factory=list)
    given: dict[str, Any] = field(default_factory=dict)
    without_data: dict[str, str] = field(default_factory=dict)

    @classmethod
    def read(cls, folder: Path) -> "Page":
        """Of a folder; an empty one if it has no page."""
        path = folder / PAGE
        return cls(**json.loads(path.read_text(encoding="utf-8"))) if path.exists() else cls()

    def write(self, folder: Path) -> None:
        write_whole(folder / PAGE, json.dumps(asdict(self), indent=1) + "\n")


def write_records(folder: Path, records: Iterable[Recorded]) -> None:
    """Write records without the folders of this machine, sorted so that a new one changes one line."""
    scores, files = [], []
    for one in records:
        settings = {name: value for name, value in one.settings.items() if name not in FOLDERS}
        if one.record is not None:
            scores.append(one.record.model_dump(mode="json", exclude={"artefacts"}) | {"settings": settings})
        if one.files:
            kept = {name: getattr(one, name) for name in ("pipeline", "versions", "day", "machine", "files")}
            files.append({**kept, "settings": settings})
    scores.sort(key=lambda one: (one["dataset"], one["method"], one["dimension"], json.dumps(one["settings"])))
    files.sort(key=lambda one: (one["pipeline"], json.dumps(one["settings"])))
    for name, lines in (("results.jsonl", scores), ("results_files.jsonl", files)):
        if lines:
            write_whole(folder / name, "".join(json.dumps(line) + "\n" for line in lines))
