"""A mistake in the parameters, told in one line that says what to do."""

import re
from collections.abc import Iterable, Mapping
from difflib import get_close_matches
from typing import Any, get_args

from pydantic import BaseModel, ValidationError
from pydantic_core import ErrorDetails

from figure_kedro.errors import nearest
from figure_kedro.parts import Kind

LONGEST = 120
"""Characters of a wrong value that are shown."""

Kinds = Mapping[str, Kind[Any]]


def one_line(error: ValidationError, root: type[BaseModel], kinds: Kinds) -> str:
    """The first mistake, with the parameter's full name and the nearest valid one.

    Args:
        error: Of pydantic.
        root: The settings that were checked.
        kinds: Which kind of part each group of them chooses.
    """
    errors = error.errors(include_url=False)
    # a misspelt name is often a missing one as well: report what was typed
    return _line(next((e for e in errors if e["type"] == "extra_forbidden"), errors[0]), root, kinds)


def _line(error: ErrorDetails, root: type[BaseModel], kinds: Kinds) -> str:
    path, model = _place(error["loc"], root, kinds)
    if not path:  # settings that do not fit together
        return error["msg"].removeprefix("Value error, ")
    name, value, group = ".".join(path), error["input"], path[0]
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return f"unknown parameter {name!r}; {_nearest_parameter(path, model, root, kinds)}"
        case "missing":
            return f"parameter {name!r} is needed: {model.model_fields[path[-1]].description}"
        case "union_tag_invalid" | "union_tag_not_found" if isinstance(value, Mapping):
            kind = kinds[group]
            chosen = value.get(kind.tag)
            return f"parameter '{group}.{kind.tag}': there is no {chosen!r}; {nearest(str(chosen), kind.names())}"
        case "literal_error":
            valid = re.findall(r"'([^']+)'", context["expected"])
            return f"parameter {name!r}: there is no {value!r}; {nearest(str(value), valid)}"
        case "model_type" | "model_attributes_type" | "union_tag_not_found" | "union_tag_invalid":
            parts = [kinds[name].tag] if name in kinds else list(_group(model, path[-1]).model_fields)
            return f"parameter {name!r} is a group; set its parts, such as {name}.{parts[0]}"
    message = error["msg"].removeprefix("Value error, ")
    told = not isinstance(value, str | int | float) or (isinstance(value, str) and value in message)
    return f"parameter {name!r}: {message[0].lower()}{message[1:]}{'' if told else f' (got {_shown(value)})'}"


def _shown(value: object) -> str:
    """A value as it was typed, the middle of a long one left out."""
    text = repr(value)
    return text if len(text) <= LONGEST else f"{text[: LONGEST // 2]}...{text[-LONGEST // 4 :]}"


def _place(location: tuple[int | str, ...], root: type[BaseModel], kinds: Kinds) -> tuple[list[str], type[BaseModel]]:
    """The path as a user writes it, and the model that its last part belongs to."""
    path: list[str] = []
    model, inner = root, root
    parts = iter(location)
    for part in parts:
        path.append(str(part))
        model = inner
        if model is root and part in kinds:
            tag = next(parts, None)  # pydantic adds the name of the part, which users never typed
            inner = kinds[str(part)][str(tag)].Settings if tag is not None else model
        elif part in model.model_fields:
            inner = _group(model, str(part))
    return path, model


def _group(model: type[BaseModel], name: str) -> type[BaseModel]:
    """The settings in a field, or the model itself if it holds a plain value."""
    annotation = model.model_fields[name].annotation
    kinds = (annotation, *get_args(annotation))
    return next((kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)), model)


def _nearest_parameter(path: list[str], model: type[BaseModel], root: type[BaseModel], kinds: Kinds) -> str:
    *groups, name = path
    if not groups:  # the name of a setting without its group
        for group, kind in kinds.items():
            if any(name in fields for fields in _fields(kind).values()):
                return f"did you mean {f'{group}.{name}'!r}?"
        for group in root.model_fields:
            if group not in kinds and (plain := _group(root, group)) is not root and name in plain.model_fields:
                return f"did you mean {f'{group}.{name}'!r}?"
    close = get_close_matches(name, model.model_fields, n=1)
    if close:
        return f"did you mean {'.'.join([*groups, *close])!r}?"
    if len(groups) == 1 and groups[0] in kinds:  # a setting of another part
        kind = kinds[groups[0]]
        having = [part for part, fields in _fields(kind).items() if name in fields]
        if having:
            return f"it is a setting of {groups[0]}.{kind.tag}={_listed(having)}"
    return nearest(name, model.model_fields)


def _fields(kind: Kind[Any]) -> dict[str, Iterable[str]]:
    return {name: kind[name].Settings.model_fields for name in kind.names()}


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} or {names[-1]}"
