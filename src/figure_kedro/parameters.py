"""All settings of a run, checked before anything is computed."""

import hashlib
import json
import os
from pathlib import Path
from typing import Any, get_args

from pydantic import BaseModel, ConfigDict, Field, ValidationError, field_validator

from figure_kedro.datasets.sources import SourceSettings
from figure_kedro.errors import UserError, nearest
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.filters.structural import FeatureSettings

ARTEFACT_FORMAT = 1
"""Raised by one when the files of an artefact change their meaning, so that no run reads older ones."""

STAGES = {"data_processing": ("dataset", "source", "features", "filters")}
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
        first = error.errors(include_url=False)[0]
        raise UserError(_one_line(first, raw)) from None


def _one_line(error: dict, raw: dict[str, Any]) -> str:
    # pydantic puts the tag of a discriminated union into the location; users never typed it
    kind = raw.get("source", {}).get("kind") if isinstance(raw.get("source"), dict) else None
    location = [str(part) for part in error["loc"]]
    if len(location) > 1 and location[0] == "source" and location[1] == kind:
        del location[1]
    name = ".".join(location)
    if error["type"] == "extra_forbidden":
        fields = _fields(location[:-1], kind)
        return f"unknown parameter {name!r}; {nearest(location[-1], fields)}"
    if error["type"] in ("union_tag_invalid", "union_tag_not_found"):
        return f"parameter 'source.kind': there is no source {kind!r}; {nearest(str(kind), _source_models())}"
    message = error["msg"].removeprefix("Value error, ")
    return f"parameter {name!r}: {message[0].lower()}{message[1:]} (got {error['input']!r})"


def _source_models() -> dict[str, type[BaseModel]]:
    union = get_args(get_args(SourceSettings)[0] if not isinstance(SourceSettings, type) else SourceSettings)
    return {model.model_fields["kind"].default: model for model in union}


def _fields(location: list[str], kind: str | None) -> list[str]:
    model: type[BaseModel] = Parameters
    for part in location:
        model = _source_models()[kind] if part == "source" else model.model_fields[part].annotation
    return list(model.model_fields)
