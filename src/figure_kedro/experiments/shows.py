"""What a cell can show, and which pipeline makes it."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from figure_kedro.errors import UserError, nearest
from figure_kedro.evaluation.metric import METRICS

Load = Callable[[str], Any]
"""Loads a file of a run's folder by its name."""


@dataclass(frozen=True)
class Measured:
    """What a run says in a cell; the fields are those of :class:`~figure_kedro.experiments.table.Shown`."""

    value: float | None = None
    deviation: float | None = None
    count: int = 0
    unit: str = ""
    digits: int = 2
    higher_is_better: bool | None = None
    beside: str = ""
    picture: bytes | None = None
    counted: Literal["splits", "runs"] = "splits"


@dataclass(frozen=True)
class Show:
    """One thing that a cell can show.

    Args:
        pipeline: What has to run for it.
        needs: Files in the run's folder that are there when it has run.
        read: Reads the number from them, given what stands behind the dot in ``alpha.A^2``.
        details: Gives what may stand there, the empty text if nothing needs to; ``None`` if only a run can tell.
        unit, digits: In which it is written.
    """

    pipeline: str
    needs: tuple[str, ...]
    read: Callable[[Load, str], Measured]
    details: Callable[[], tuple[str, ...]] | None = lambda: ("",)
    unit: str = ""
    digits: int = 2


def _score(load: Load, detail: str) -> Measured:
    record = load("summary.json")
    if detail and detail not in record.scores:
        raise UserError(f"there is no score {detail!r} of this run; {nearest(detail, record.scores)}")
    scores = record.scores[detail] if detail else record
    deciding = detail in ("", record.metric)  # of the others nothing is known without twins
    source = record.settings.get("source", {})
    beside = ["direction kept"] if source.get("directed") else []
    if deciding and "directed" in source and record.twin_free_mean is not None:  # twins are those of published links
        beside.append(f"{record.twin_free_mean:.2f} without twins")
    deviation = scores.test_std if record.splits > 1 else None  # one split has none
    return Measured(
        scores.test_mean, deviation, record.splits, unit="%", higher_is_better=True, beside=", ".join(beside)
    )


def _timing(name: str, factor: float, unit: str, digits: int) -> Show:
    def read(load: Load, detail: str) -> Measured:
        value = load("timing.json").get(name)
        return Measured(None if value is None else factor * value, unit=unit, digits=digits, higher_is_better=False)

    return Show("representation", ("timing.json",), read, unit=unit, digits=digits)


def _alpha(load: Load, detail: str) -> Measured:
    """The coefficient of a filter in the split with the best score on validation."""
    record, alphas = load("summary.json"), load("split_alphas.csv")
    if record.table.empty:
        raise UserError("there are no labels, so that no filter has a coefficient")
    best = record.table.set_index("split")[f"val_{record.metric}"].idxmax()
    if "filter" not in alphas:
        raise UserError(f"{record.head} has no coefficients of filters")
    found = alphas[(alphas["split"] == best) & (alphas["filter"] == detail)]["alpha"]
    if found.empty:
        raise UserError(f"the bank has no filter {detail!r}; {nearest(detail, alphas['filter'].unique())}")
    return Measured(float(found.iloc[0]), digits=3)


def whole_or_two(value: float) -> int:
    """Digits of a statistic: a count has none."""
    return 0 if value == int(value) else 2


def _statistic(load: Load, detail: str) -> Measured:
    table = load("dataset_statistics.csv")
    if detail not in table:
        raise UserError(f"there is no statistic {detail!r}; {nearest(detail, table.columns)}")
    value = float(table[detail].iloc[0])
    return Measured(value, digits=whole_or_two(value))


def _picture(load: Load, detail: str) -> Measured:
    return Measured(picture=load(f"{detail}.png"))


PICTURES = ("tsne", "correlations", "filter_responses")
PIPELINES = ("data_processing", "representation", "projection", "evaluation", "reporting", "__default__")

SHOWS: dict[str, Show] = {
    "score": Show("evaluation", ("summary.json",), _score, lambda: ("", *METRICS.names()), unit="%"),
    "epoch_time": _timing("mean_epoch_seconds", 1000, "ms", 2),
    "total_time": _timing("total_seconds", 1, "s", 1),
    "epochs": _timing("epochs", 1, "", 0),
    "memory": _timing("peak_memory_mb", 1, "MB", 1),
    "storage": _timing("storage_mb", 1, "MB", 1),
    "alpha": Show("evaluation", ("summary.json", "split_alphas.csv"), _alpha, None, digits=3),
    "statistics": Show("data_processing", ("dataset_statistics.csv",), _statistic, None),
    "picture": Show("reporting", tuple(f"{name}.png" for name in PICTURES), _picture, lambda: PICTURES),
    "scheme": Show("", (), lambda load, detail: Measured(), lambda: PIPELINES),
}
"""By name. A scheme shows the pipelines themselves and needs no run."""


def stage_of(pipeline: str) -> str:
    """Whose key tells runs of a pipeline apart."""
    return {"data_processing": "statistics", "reporting": "evaluation"}.get(pipeline, pipeline)
