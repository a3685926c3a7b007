"""Records of runs that are kept in one file, so that a page outlives the machine that measured it."""

import json
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from figure_kedro.datasets.files.json_lines import read_lines
from figure_kedro.datasets.files.whole_file import write_whole
from figure_kedro.experiments.cells import FOLDERS
from figure_kedro.parameters import check_parameters
from figure_kedro.reporting.record import RunRecord

FIRST_VERSION = 1
"""Of a part, for records from before parts had versions."""


class Recorded:
    """A record in place of the folder that its run has left: the same names, as far as a record has them.

    Args:
        record: Of the run.
    """

    def __init__(self, record: RunRecord) -> None:
        self.record = record

    def has(self, *names: str) -> bool:
        return set(names) <= {"summary.json", "timing.json"}

    def load(self, name: str) -> Any:
        return self.record if name == "summary.json" else self.record.model_dump()

    def date(self, name: str) -> str:
        return self.record.date

    @property
    def stale(self) -> bool:
        """Whether a part that decided the scores behaves otherwise now."""
        now = check_parameters(self.record.settings).versions("evaluation")
        return any(self.record.versions.get(group, FIRST_VERSION) != version for group, version in now.items())


def read_records(path: Path) -> dict[str, Recorded]:
    """The records of a file by the key that their settings have today; none if there is no file."""
    records = [RunRecord.read(line) for line in read_lines(path)]
    return {check_parameters(record.settings).key("evaluation"): Recorded(record) for record in records}


def write_records(path: Path, records: Iterable[RunRecord]) -> None:
    """Write records without the folders of this machine, sorted so that a new one changes one line."""
    lines = []
    for record in records:
        stored = record.model_dump(mode="json", exclude={"artefacts"})
        stored["settings"] = {name: value for name, value in stored["settings"].items() if name not in FOLDERS}
        lines.append(stored)
    lines.sort(key=lambda one: (one["dataset"], one["method"], one["dimension"], json.dumps(one["settings"])))
    write_whole(path, "".join(json.dumps(line) + "\n" for line in lines))
