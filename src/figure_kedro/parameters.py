"""All settings of a run, checked before anything is computed."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from figure_kedro.datasets.files.content import content_digest
from figure_kedro.datasets.sources import SOURCES, SourceSettings
from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS, HeadSettings
from figure_kedro.features import STRUCTURAL, FeatureSettings
from figure_kedro.filters import BANKS, BankSettings
from figure_kedro.methods.method import METHODS, MethodSettings
from figure_kedro.parameter_errors import one_line
from figure_kedro.parts import Decides, Kind, OneOf, Settings, decisive
from figure_kedro.projections import MAPS, ProjectionSettings

ARTEFACT_FORMAT = 2
"""Raised by one when the files of an artefact change their meaning, so that no run reads older ones."""

KINDS: dict[str, Kind[Any]] = {
    "source": SOURCES,
    "features": STRUCTURAL,
    "filters": BANKS,
    "representation": METHODS,
    "projection": MAPS,
    "evaluation": HEADS,
}
"""Which kind of part each group of parameters chooses."""

STAGES = ("graph", "targets", "statistics", "filters", "representation", "projection", "evaluation")
"""What is computed and stored, in this order, each under the key of what decides it."""


class Parameters(Settings):
    """The parameters of ``conf/base/parameters*``, the data set's file and ``--params``, merged."""

    dataset: str = Field(pattern=r"^[A-Za-z0-9_-]+$", description="a name in conf/*/datasets")
    data_folder: Annotated[str, Decides.NOTHING] = Field("data", description="where artefacts are kept")
    raw_mirror: Annotated[str | None, Decides.NOTHING] = Field(
        None, description="a folder with raw files; default: FIGURE_RAW_MIRROR", validate_default=True
    )
    source: Annotated[SourceSettings, OneOf(SOURCES)] = Field(description="where the graph comes from")
    features: Annotated[FeatureSettings, OneOf(STRUCTURAL)] = STRUCTURAL.parse({})
    filters: Annotated[BankSettings, OneOf(BANKS)] = BANKS.parse({})
    representation: Annotated[MethodSettings, OneOf(METHODS)] = METHODS.parse({})
    projection: Annotated[ProjectionSettings, OneOf(MAPS)] = MAPS.parse({})
    evaluation: Annotated[HeadSettings, OneOf(HEADS)] = HEADS.parse({})

    @field_validator("raw_mirror")
    @classmethod
    def _an_existing_folder(cls, path: str | None) -> str | None:
        path = path or os.environ.get("FIGURE_RAW_MIRROR") or None
        if path and not Path(path).is_dir():
            raise ValueError(f"there is no folder {path}")
        return path

    @model_validator(mode="after")
    def _words_are_read(self) -> Self:
        reads, method = METHODS.part(self.representation).reads, self.representation.method
        if self.filters.direction == "both" and "operator" in reads and "bank" not in reads:
            raise ValueError(
                f"filters.direction=both is a bank of words, which {method} does not use; choose out or in"
            )
        return self

    def decisive(self, stage: str) -> dict[str, dict[str, Any]]:
        """What decides the results of a stage: only the parts in use count, and of these what each of them reads.

        Args:
            stage: One of :data:`STAGES`.
        """
        if stage not in STAGES:
            raise ValueError(f"there is no stage {stage!r}")
        reads, head = METHODS.part(self.representation).reads, HEADS.part(self.evaluation)
        graph = {"source", "features"}
        learnt = {"source", "representation"} | ({"features"} & reads) | ({"filters"} if "operator" in reads else set())
        groups = {
            "graph": graph,
            "targets": {"source"},
            "statistics": graph,
            "filters": graph | {"filters"},
            "representation": learnt,
            "projection": learnt | {"projection"},
            "evaluation": {"evaluation"} | (learnt | {"projection"} if head.reads == "embeddings" else graph),
        }[stage]
        targets = stage in ("targets", "statistics", "evaluation")
        decided = {name: self._part(name, targets=targets) for name in KINDS if name in groups}
        if "filters" in decided and stage != "filters" and "bank" not in reads:
            decided["filters"] = {name: decided["filters"][name] for name in ("self_loops", "direction")}
        return decided

    def key(self, stage: str) -> str:
        """Name the results of a stage by what decides them: equal results, equal key."""
        content = json.dumps([ARTEFACT_FORMAT, self.decisive(stage)], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:10]

    def _part(self, group: str, *, targets: bool) -> dict[str, Any]:
        settings = getattr(self, group)
        version = KINDS[group].part(settings).version
        return {**decisive(settings, targets=targets, digest=content_digest), "version": version}


def check_parameters(raw: Mapping[str, Any]) -> Parameters:
    """Validate merged parameters; a mistake is one line with the nearest valid name.

    Raises:
        UserError: For an unknown parameter or a value out of range.
    """
    try:
        return Parameters.model_validate(dict(raw))
    except ValidationError as error:
        raise UserError(one_line(error, Parameters, KINDS)) from None
