"""The name, tags, parameters and numbers of a run: the same for ``kedro run``, for trials and for experiments."""

import shlex
from collections.abc import Collection, Iterable, Mapping
from pathlib import Path
from typing import Any

from figure_kedro.datasets.files.data_folder import address
from figure_kedro.evaluation import HEADS
from figure_kedro.parameters import Parameters
from figure_kedro.parts import flatten
from figure_kedro.reporting.record import RunRecord, Timing
from figure_kedro.versions import commit_of_code

LONGEST = 500
"""Characters of a parameter's value that are kept; MLflow refuses very long ones."""

STAGE_OF_PIPELINE = {
    "data_processing": "filters",
    "representation": "representation",
    "projection": "projection",
    "evaluation": "evaluation",
    "reporting": "evaluation",
    "inference": "inference",
    "neighbours": "neighbours",
}
"""The stage whose settings and key belong to a pipeline."""

LEARNT = ("representation", "projection", "evaluation", "inference", "neighbours")
"""The stages from the first one that learns on."""


def last_stage(pipelines: Iterable[str]) -> str:
    """The stage that the last of some pipelines comes to: parts beyond it are not in use.

    >>> last_stage(["data_processing", "representation"])
    'representation'
    """
    run = set(pipelines)
    known = [stage for pipeline, stage in STAGE_OF_PIPELINE.items() if pipeline in run]
    return known[-1] if known and run <= set(STAGE_OF_PIPELINE) else "evaluation"


def run_words(parameters: Parameters, stage: str = "evaluation") -> list[str]:
    """What tells a run from others of its data set, in the fewest words: ``["figure", "512"]``."""
    if stage in ("inference", "neighbours"):
        return [*run_words(parameters), stage]
    if stage not in LEARNT:
        return [stage]
    head = parameters.evaluation.head
    if HEADS.part(parameters.evaluation).reads == "graph" and stage == "evaluation":
        return [head]
    words = [parameters.representation.method, str(getattr(parameters.representation, "dim", ""))]
    words += (
        [parameters.projection.map] if stage != "representation" and parameters.projection.map != "identity" else []
    )
    words += [head] if stage == "evaluation" and head != "linear" else []
    return [word for word in words if word]


def run_name(parameters: Parameters, stage: str = "evaluation") -> str:
    """The name of a run: ``cora figure 512``, and the map or the head where they are not the plain ones."""
    return " ".join([parameters.dataset, *run_words(parameters, stage)])


def run_tags(parameters: Parameters, stage: str, command: str) -> dict[str, str]:
    """What runs are searched by.

    Args:
        parameters: Of the run.
        stage: The last one that it comes to.
        command: That makes it again.
    """
    network = HEADS.part(parameters.evaluation).reads == "graph"
    tags: dict[str, Any] = {"dataset": parameters.dataset, "key": parameters.key(stage), "command": command}
    if stage in LEARNT:
        tags["method"] = parameters.evaluation.head if network else parameters.representation.method
        tags["dim"] = getattr(parameters.representation, "dim", "")
    if stage in LEARNT[1:]:
        tags["projection"] = parameters.projection.map
    if stage in LEARNT[2:]:
        tags["head"] = parameters.evaluation.head
    tags["commit"] = commit_of_code()
    return {name: str(value) for name, value in tags.items() if value not in ("", None)}


def run_params(parameters: Parameters, stage: str) -> dict[str, str]:
    """The settings that decide what is computed up to a stage, of the parts in use alone, each once and by its path."""
    decided = parameters.decisive(stage)
    more = {"filters": "statistics", "evaluation": "classifier"}.get(stage)  # what else their pipelines compute
    decided |= parameters.decisive(more) if more else {}
    return as_params({"dataset": parameters.dataset, **decided})


def as_params(settings: Mapping[str, Any], prefix: str = "") -> dict[str, str]:
    """Settings as MLflow keeps them: by path, not longer than it takes, and without those that are not set.

    >>> as_params({"training": {"learning_rate": 0.01}}, "representation.")
    {'representation.training.learning_rate': '0.01'}
    """
    values = {name: str(value) for name, value in flatten(settings, prefix).items() if value is not None}
    return {name: value if len(value) <= LONGEST else f"{value[:LONGEST]}..." for name, value in values.items()}


def record_metrics(record: RunRecord) -> dict[str, float]:
    """The numbers of a record: scores in percent with their deviation, the paper's, the difference, and the times."""
    names = [
        "test_mean",
        "test_std",
        "val_mean",
        "val_std",
        "twin_free_mean",
        "twin_free_std",
        "paper_mean",
        "paper_std",
    ]
    numbers: dict[str, Any] = {name: getattr(record, name) for name in [*names, *Timing.model_fields, "storage_mb"]}
    for metric, scores in record.scores.items():
        for name, value in scores.model_dump().items():
            part, _, kind = name.partition("_")
            numbers[f"{part}_{metric}_{kind}"] = value
    if record.paper_mean is not None and record.test_mean is not None:
        numbers["paper_difference"] = record.test_mean - record.paper_mean
    return {name: float(value) for name, value in numbers.items() if value is not None}


def path_tags(paths: Mapping[str, Any]) -> dict[str, str]:
    """The paths of what a run has left as tags: ``path.embeddings``, ``path.weights``, ..."""
    return {f"path.{name}": address(path) if isinstance(path, Path) else str(path) for name, path in paths.items()}


def command_line(pipelines: Collection[str], params: Mapping[str, Any], options: Iterable[str] = ()) -> str:
    """The command that makes a run.

    >>> command_line(["evaluation"], {"dataset": "cora", "source": {"directed": True}})
    'kedro run --pipelines=evaluation --params dataset=cora,source.directed=true'
    """
    words = ["kedro", "run", *([f"--pipelines={','.join(pipelines)}"] if pipelines else []), *options]
    given = ",".join(f"{path}={_shown(value)}" for path, value in flatten(params).items())
    return shlex.join([*words, "--params", given] if given else words)


def _shown(value: Any) -> str:
    return str(value).lower() if isinstance(value, bool) else str(value)
