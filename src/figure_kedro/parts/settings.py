"""Settings: checked, frozen, and each with an answer to what it decides."""

from collections.abc import Callable, Collection, Mapping
from enum import Enum
from typing import Any

from annotated_types import Le, Lt
from pydantic import BaseModel, ConfigDict, ValidationInfo, field_validator
from pydantic_core import to_jsonable_python


class Decides(Enum):
    """What a setting has a say in, as a mark in its annotation; a setting without a mark decides the result.

    ::

        threads: Annotated[int, Decides.NOTHING] = Field(0, description="of the CPU")
    """

    NOTHING = "how quickly, on what machine or what is kept, but not the result"
    TARGETS = "labels and splits, and so the scores, but not the graph and its embeddings"
    CONTENT = "the result, by the content of the file that it names and not by the path"


LARGEST = 2**31 - 1
"""The largest whole number of a setting that names no other bound: what every library behind us can hold."""


class Settings(BaseModel):
    """The base of all settings: frozen, an unknown name is an error, and numbers are finite and bounded."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    @field_validator("*")
    @classmethod
    def _bounded(cls, value: Any, info: ValidationInfo) -> Any:
        field = cls.model_fields[info.field_name or ""]
        bounds = any(isinstance(mark, Le | Lt) for mark in field.metadata)
        numbers = value if isinstance(value, tuple) else (value,)
        if not bounds and any(isinstance(number, int) and abs(number) > LARGEST for number in numbers):
            raise ValueError(f"input should be at most {LARGEST}")
        return value

    def idle(self) -> Collection[str]:
        """The names of fields that decide nothing beside the present values of the others."""
        return ()


def decisive(
    settings: Settings, *, targets: bool = True, digest: Callable[[str], str] = lambda path: path
) -> dict[str, Any]:
    """The settings that decide a result, as plain values of JSON.

    This is the one answer to what decides a result: run keys, fingerprints, MLflow and the results page all ask here.

    Args:
        settings: Of any kind; groups of settings inside it are asked in the same way.
        targets: Whether the result depends on labels and splits.
        digest: Gives the content of a file, in short, by its path.
    """
    chosen: dict[str, Any] = {}
    idle = settings.idle()
    for name, field in type(settings).model_fields.items():
        mark = next((mark for mark in field.metadata if isinstance(mark, Decides)), None)
        value = getattr(settings, name)
        if name in idle or mark is Decides.NOTHING or (mark is Decides.TARGETS and not targets):
            continue
        if mark is Decides.CONTENT and value is not None:
            value = digest(value)
        nested = isinstance(value, Settings)
        chosen[name] = decisive(value, targets=targets, digest=digest) if nested else to_jsonable_python(value)
    return chosen


def flatten(groups: Mapping[str, Any], prefix: str = "") -> dict[str, Any]:
    """Nested groups as one dictionary of paths.

    >>> flatten({"filters": {"bank": "monomial"}, "dataset": "cora"})
    {'filters.bank': 'monomial', 'dataset': 'cora'}
    """
    flat: dict[str, Any] = {}
    for name, value in groups.items():
        flat |= flatten(value, f"{prefix}{name}.") if isinstance(value, Mapping) else {f"{prefix}{name}": value}
    return flat


def known(raw: Mapping[str, Any], settings: type[BaseModel]) -> dict[str, Any]:
    """What plain settings say about the fields of a class, also inside its groups; the rest is left out."""
    return {
        name: known(value, group) if (group := _group(settings, name)) and isinstance(value, Mapping) else value
        for name, value in raw.items()
        if name in settings.model_fields
    }


def without_foreign(
    raw: Mapping[str, Any], chosen: type[BaseModel], others: Collection[type[BaseModel]]
) -> dict[str, Any]:
    """Plain settings without those that the chosen class lacks and another one has; what nobody has is kept.

    So a file may speak of several parts, whichever is chosen, and a misspelt name is still found.
    """
    kept: dict[str, Any] = {}
    for name, value in raw.items():
        having = [other for other in others if name in other.model_fields]
        if name in chosen.model_fields:
            group = _group(chosen, name)
            foreign = [other for other in (_group(part, name) for part in having) if other is not None]
            nested = group is not None and isinstance(value, Mapping)
            kept[name] = without_foreign(value, group, foreign) if nested and group else value
        elif not having:
            kept[name] = value
    return kept


def _group(settings: type[BaseModel], name: str) -> type[BaseModel] | None:
    """The class of the group of settings in a field, if there is one."""
    annotation = settings.model_fields[name].annotation if name in settings.model_fields else None
    return annotation if isinstance(annotation, type) and issubclass(annotation, Settings) else None
