"""The runs that a data folder holds."""

from collections.abc import Iterable
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path

from figure_kedro.datasets.run_folder import RunFolder
from figure_kedro.datasets.run_index import MANIFEST, RunIndex
from figure_kedro.errors import UserError
from figure_kedro.reporting.record import RunRecord

SUMMARY = "summary.json"


@dataclass(frozen=True)
class FoundRun:
    """A run that was evaluated, or one whose embeddings are there.

    Args:
        dataset: Its data set.
        name: The method, its dimension and what else tells it from others.
        key: Of all that decides it.
        time: When it was last written to, in seconds since 1970.
        report: The folder of its record, whether that is there or not.
        index: Where its files are; ``None`` if it was made before there was one.
    """

    dataset: str
    name: str
    key: str
    time: float
    report: Path
    index: RunIndex | None

    @cached_property
    def record(self) -> RunRecord | None:
        """What it did and reached; ``None`` if it was not evaluated."""
        folder = RunFolder(self.report)
        return folder.load(SUMMARY) if folder.has(SUMMARY) else None

    @property
    def paths(self) -> dict[str, Path]:
        """What there is of it."""
        if self.index is None:
            return {"report": self.report}
        return {"run folder": self.index.folder, **self.index.existing()}


def find_runs(data_folder: Path, datasets: Iterable[str] = ()) -> list[FoundRun]:
    """All runs of a data folder, newest first.

    Args:
        data_folder: Where artefacts are kept.
        datasets: Only runs on these; all by default.
    """
    wanted, runs = set(datasets), {}
    reports = data_folder / "08_reporting"
    for path in data_folder.glob(f"runs/*/*/{MANIFEST}"):
        dataset, name = path.parent.parent.name, path.parent.name
        words, _, key = name.rpartition("-")
        report = reports / dataset / key
        runs[dataset, key] = FoundRun(
            dataset, words.replace("-", " "), key, _written(path, report), report, RunIndex.read(path.parent)
        )
    for path in reports.glob(f"*/*/{SUMMARY}"):
        dataset, key = path.parent.parent.name, path.parent.name
        if (dataset, key) not in runs:
            runs[dataset, key] = FoundRun(dataset, "", key, _written(path, path.parent), path.parent, None)
    found = [run for run in runs.values() if not wanted or run.dataset in wanted]
    return sorted(found, key=lambda run: run.time, reverse=True)


def one_run(runs: Iterable[FoundRun], key: str) -> FoundRun:
    """The run whose key begins with the given text.

    Raises:
        UserError: If there is none, or more than one.
    """
    found = [run for run in runs if run.key.startswith(key)]
    if len(found) == 1:
        return found[0]
    if not found:
        raise UserError(f"there is no run with the key {key!r}; `kedro runs` lists those that there are")
    raise UserError(f"{len(found)} runs have a key that begins with {key!r}; give more of it")


def _written(path: Path, report: Path) -> float:
    summary = report / SUMMARY
    return (summary if summary.exists() else path).stat().st_mtime
