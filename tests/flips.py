"""Another valid value for every field of every part, and what each field has a say in, written down a second time.

A field that is not in any table here is taken to decide the result always. One without a mark in the source and with
an entry here, or the other way round, is a failing test; so is a field that no other value is known for.
"""

from collections.abc import Iterator
from typing import Any, Literal, get_args, get_origin

import pytest
from pydantic import ValidationError
from pydantic.fields import FieldInfo

from figure_kedro.parameters import KINDS
from figure_kedro.parts import Settings

BASES: dict[str, dict[str, Any]] = {
    "planetoid": {"name": "cora"},
    "heterophilous": {"name": "minesweeper"},
    "wikipedia": {"name": "squirrel"},
    "filtered_wikipedia": {"name": "squirrel_filtered"},
    "own": {"edges": "edges.csv", "nodes": "nodes.csv", "label_column": "label"},
}
"""What a source does not do without, or hardly; files are made in the current directory."""

FILES = {name: f"content of {name}" for name in ("edges.csv", "nodes.csv", "other.csv", "archive.npz")}
"""The files that settings name, with their content."""

OTHERS: dict[str, Any] = {
    "source.edges": "other.csv",
    "source.nodes": "other.csv",
    "source.path": "archive.npz",
    "source.separator": ";",
    "source.encoding": "latin-1",
    "source.header": True,
    "representation.training.device": "cpu",
    "representation.tuning.space": {"training.learning_rate": [0.5]},
    "evaluation.device": "cpu",
    "evaluation.metric": "macro_f1",
    "evaluation.space": {"hidden": [7]},
}
"""Another value of a field whose type does not tell."""

NOTHING = {
    "representation.embeddings",
    "representation.training.device",
    "representation.training.threads",
    "representation.training.checkpoint_seconds",
    "representation.decoupled.columns",
    "representation.block_rows",
    "evaluation.device",
    "evaluation.threads",
}
"""Where, how quickly or what is kept; no result depends on them."""

TARGETS = {
    ("csbm", "splits"),
    ("csbm", "labelled"),
    ("minesweeper_generated", "splits"),
    ("npz_archive", "labels"),
    *(("arxiv", field) for field in ("labels", "splits", "seed")),
    *(("own", field) for field in ("random_splits", "train", "val", "seed")),
}
"""Fields of a source that labels or splits depend on, but neither the graph nor its embeddings."""

Changes = dict[str, Any]

IDLE: dict[tuple[str, str], tuple[Changes, Changes]] = {
    ("arxiv", "splits"): ({"labels": "subject"}, {"labels": "year"}),
    ("arxiv", "seed"): ({"labels": "subject"}, {"labels": "year"}),
    ("npz_archive", "file"): ({"path": "archive.npz"}, {}),
    ("own", "random_splits"): ({"split_columns": ["split"]}, {}),
    **{("own", field): ({"random_splits": 0}, {}) for field in ("train", "val", "seed")},
    **{(name, "norm"): ({"scale": "none"}, {"scale": "rms"}) for name in KINDS["projection"].names()},
    **{(name, "loop_weight"): ({"self_loops": False}, {"self_loops": True}) for name in KINDS["filters"].names()},
    ("maclaurin", "sigma"): ({"kernel": "polynomial"}, {"kernel": "exponential"}),
    ("maclaurin", "degree"): ({"kernel": "exponential"}, {"kernel": "polynomial"}),
    **{
        (name, f"tuning.{field}"): ({"tuning": {"enabled": False}}, {"tuning": {"enabled": True}})
        for name in KINDS["representation"].names()
        for field in ("trials", "space", "seed")
    },
    **{
        (name, f"sampled.{field}"): ({"strategy": strategy}, {"strategy": "sampled"})
        for name in ("figure", "figure_components", "dgi")
        for field, strategy in (("size", "auto"), ("batch", "full"), ("nodes", "decoupled"))
    },
    **{
        (name, f"decoupled.{field}"): ({"strategy": strategy}, {"strategy": "decoupled"})
        for name in ("figure", "figure_components", "dgi")
        for field, strategy in (("batch_rows", "full"), ("corruptions", "sampled"))
    },
}
"""Fields that count only beside some values of others: changes with which they do not, and with which they do."""


def leaves() -> Iterator[tuple[str, str, str]]:
    """The group, the part and the path of every field of every part, the one aside that names the part."""
    for group, kind in KINDS.items():
        for part in kind.names():
            for path in _paths(kind[part].Settings):
                if path != kind.tag:
                    yield group, part, path


def _paths(settings: type[Settings], prefix: str = "") -> Iterator[str]:
    for name, field in settings.model_fields.items():
        inner = field.annotation
        if isinstance(inner, type) and issubclass(inner, Settings):
            yield from _paths(inner, f"{prefix}{name}.")
        else:
            yield f"{prefix}{name}"


def base(group: str, part: str, changes: Changes | None = None) -> dict[str, Any]:
    """Plain settings of a part, those that it needs and these changes."""
    return {KINDS[group].tag: part, **BASES.get(part, {}), **(changes or {})}


def flipped(group: str, raw: dict[str, Any], path: str) -> dict[str, Any]:
    """The same plain settings with another valid value at a path.

    Fails if none is known, so that a new field gets one in :data:`OTHERS`.
    """
    kind = KINDS[group]
    value, field = _at(kind.parse(raw), path)
    known = [OTHERS[f"{group}.{path}"]] if f"{group}.{path}" in OTHERS else []
    for candidate in [*known, *_candidates(field.annotation, value)]:
        changed = _with(raw, path, candidate)
        try:
            if _at(kind.parse(changed), path)[0] != value:
                return changed
        except ValidationError:
            continue
    pytest.fail(f"no other valid value than {value!r} is known for {group}.{path}; add one to OTHERS in tests/flips.py")


def _candidates(annotation: Any, value: Any) -> list[Any]:
    if get_origin(annotation) is Literal:
        return [other for other in get_args(annotation) if other != value]
    if isinstance(value, bool):
        return [not value]
    if isinstance(value, int):
        return [value + 1, value - 1]
    if isinstance(value, float):
        return [value + 1, value / 2, (value + 1) / 4]
    if isinstance(value, str) and annotation in (str, str | None):
        return [f"{value} too"]
    if isinstance(value, tuple):
        return [value[:-1], ("other",)]
    if value is None:
        return ["other", 3, ("other",)]
    return []


def _at(settings: Settings, path: str) -> tuple[Any, FieldInfo]:
    *groups, name = path.split(".")
    for group in groups:
        settings = getattr(settings, group)
    return getattr(settings, name), type(settings).model_fields[name]


def _with(raw: dict[str, Any], path: str, value: Any) -> dict[str, Any]:
    name, _, rest = path.partition(".")
    return {**raw, name: _with(raw.get(name, {}), rest, value) if rest else value}
