"""All settings of a run, checked before anything is computed."""

import hashlib
import json
import os
import re
from difflib import get_close_matches
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator
from pydantic.fields import FieldInfo

from figure_kedro.datasets.sources import SourceSettings
from figure_kedro.errors import UserError, nearest
from figure_kedro.evaluation.settings import EvaluationSettings
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.filters.structural import FeatureSettings
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.projections import ProjectionSettings

ARTEFACT_FORMAT = 1
"""Raised by one when the files of an artefact change their meaning, so that no run reads older ones."""

STAGES = {
    "data_processing": ("dataset", "source", "features", "filters"),
    "representation": ("representation",),
    "projection": ("projection",),
    "evaluation": ("evaluation",),
}
"""The settings that decide the results of each pipeline, beside those of the pipelines before it."""


class Parameters(BaseModel):
    """The parameters of ``conf/base/parameters*``, the data set's file and ``--params``, merged."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    dataset: str = Field(pattern=r"^[A-Za-z0-9_-]+$", description="a name in conf/*/datasets")
    data_folder: str = Field("data", description="where artefacts are kept")
    raw_mirror: str | None = Field(None, description="a folder with raw files; default: FIGURE_RAW_MIRROR")
    source: SourceSettings
    features: FeatureSettings = FeatureSettings()
    filters: FilterSettings = FilterSettings()
    representation: RepresentationSettings = RepresentationSettings()
    projection: ProjectionSettings = ProjectionSettings()
    evaluation: EvaluationSettings = EvaluationSettings()

    @field_validator("raw_mirror")
    @classmethod
    def _an_existing_folder(cls, path: str | None) -> str | None:
        path = path or os.environ.get("FIGURE_RAW_MIRROR") or None
        if path and not Path(path).is_dir():
            raise ValueError(f"there is no folder {path}")
        return path

    def key(self, stage: str) -> str:
        """Name the results of a pipeline by the settings that decide them: equal settings, equal key."""
        names = list(STAGES)
        decisive = {field for name in names[: names.index(stage) + 1] for field in STAGES[name]}
        content = json.dumps([ARTEFACT_FORMAT, self.model_dump(mode="json", include=decisive)], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:10]


def check_parameters(raw: dict[str, Any]) -> Parameters:
    """Validate merged parameters; a mistake is one line with the nearest valid name.

    Raises:
        UserError: For an unknown parameter or a value out of range.
    """
    try:
        return Parameters.model_validate({"raw_mirror": None, **raw})
    except ValidationError as error:
        errors = error.errors(include_url=False)
        # a misspelt name is often a missing one as well: report what was typed
        first = next((e for e in errors if e["type"] == "extra_forbidden"), errors[0])
        raise UserError(_one_line(first)) from None


def _one_line(error: dict) -> str:
    path, model = _place(error["loc"])
    name, value = ".".join(path), error["input"]
    context = error.get("ctx", {})
    match error["type"]:
        case "extra_forbidden":
            return f"unknown parameter {name!r}; {_nearest_parameter(path, model)}"
        case "missing":
            return f"parameter {name!r} is needed: {model.model_fields[path[-1]].description}"
        case "union_tag_invalid" | "union_tag_not_found":
            field = model.model_fields[path[-1]]
            value = value.get(field.discriminator)
            name, valid = f"{name}.{field.discriminator}", _tagged_models(field)
            return f"parameter {name!r}: there is no {value!r}; {nearest(str(value), valid)}"
        case "literal_error":
            valid = re.findall(r"'([^']+)'", context["expected"])
            return f"parameter {name!r}: there is no {value!r}; {nearest(str(value), valid)}"
        case "model_type" | "model_attributes_type":
            parts = [part for kind in _models(model.model_fields[path[-1]]) for part in kind.model_fields]
            return f"parameter {name!r} is a group; set its parts, such as {name}.{parts[0]}"
    message = error["msg"].removeprefix("Value error, ")
    told = not isinstance(value, str | int | float) or (isinstance(value, str) and value in message)
    return f"parameter {name!r}: {message[0].lower()}{message[1:]}{'' if told else f' (got {value!r})'}"


def _place(location: tuple[int | str, ...]) -> tuple[list[str], type[BaseModel] | None]:
    """The path as a user writes it, and the model that its last part belongs to."""
    path: list[str] = []
    model, inner = None, Parameters
    parts = iter(location)
    for part in parts:
        path.append(str(part))
        model = inner
        field = model.model_fields.get(part) if model else None
        if field is not None and field.discriminator:
            inner = _tagged_models(field).get(next(parts, None))  # pydantic adds the tag, which users never typed
        else:
            inner = next(iter(_models(field)), None) if field else None
    return path, model


def _nearest_parameter(path: list[str], model: type[BaseModel]) -> str:
    *groups, name = path
    for group, field in Parameters.model_fields.items():
        if not groups and any(name in part.model_fields for part in _models(field)):
            return f"did you mean {f'{group}.{name}'!r}?"
    close = get_close_matches(name, model.model_fields, n=1)
    return f"did you mean {'.'.join([*groups, *close])!r}?" if close else nearest(name, model.model_fields)


def _models(field: FieldInfo) -> list[type[BaseModel]]:
    kinds = (field.annotation, *get_args(field.annotation))
    return [kind for kind in kinds if isinstance(kind, type) and issubclass(kind, BaseModel)]


def _tagged_models(field: FieldInfo) -> dict[str, type[BaseModel]]:
    return {model.model_fields[field.discriminator].default: model for model in _models(field)}
