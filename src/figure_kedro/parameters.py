"""All settings of a run, checked before anything is computed."""

import hashlib
import json
import os
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Self

from pydantic import Field, ValidationError, field_validator, model_validator

from figure_kedro.datasets.files.content import content_digest
from figure_kedro.datasets.files.data_folder import check_address, is_address
from figure_kedro.datasets.sources import SOURCES, SourceSettings
from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS, ClassifierSettings, HeadSettings
from figure_kedro.execution.settings import ExecutionSettings
from figure_kedro.features import STRUCTURAL, FeatureSettings
from figure_kedro.filters import BANKS, BankSettings
from figure_kedro.inference.settings import InferenceSettings, NeighbourSettings
from figure_kedro.methods.method import METHODS, MethodSettings
from figure_kedro.parameter_errors import one_line
from figure_kedro.parts import Decides, Kind, OneOf, Settings, decisive
from figure_kedro.projections import MAPS, ProjectionSettings
from figure_kedro.reporting.settings import ReportingSettings
from figure_kedro.serving.settings import ModelSettings
from figure_kedro.tracking.settings import TrackingSettings

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

DATASET_NAME = r"^[A-Za-z0-9_-]{1,100}$"
"""Names of data sets are names of folders as well."""

LONGEST_NAME, LONGEST_PATH = 255, 3500
"""Bytes of a folder's name, and of a path to which the names of artefacts are still added."""

STAGES = (
    *("graph", "targets", "statistics", "filters", "representation", "projection", "evaluation"),
    *("classifier", "inference", "neighbours"),
)
"""What is computed and stored, in this order, each under the key of what decides it."""


class Parameters(Settings):
    """The parameters of ``conf/base/parameters*``, the data set's file and ``--params``, merged."""

    dataset: str = Field(pattern=DATASET_NAME, description="a name in conf/*/datasets")
    protocol: Annotated[str, Decides.NOTHING] = Field(
        "best", description="best (settings chosen on validation) or paper (as published), where a data set's file says"
    )
    data_folder: Annotated[str, Decides.NOTHING] = Field(
        "data", description="where artefacts are kept: a folder, or an address such as s3://bucket/name"
    )
    raw_mirror: Annotated[str | None, Decides.NOTHING] = Field(
        None, description="a folder with raw files; default: FIGURE_RAW_MIRROR", validate_default=True
    )
    memory: Annotated[float | None, Decides.NOTHING] = Field(
        None, gt=0, description="GiB that a run may take; larger arrays lie in files; default: 0.7 of what is free"
    )
    source: Annotated[SourceSettings, OneOf(SOURCES)] = Field(description="where the graph comes from")
    features: Annotated[FeatureSettings, OneOf(STRUCTURAL)] = STRUCTURAL.parse({})
    filters: Annotated[BankSettings, OneOf(BANKS)] = BANKS.parse({})
    representation: Annotated[MethodSettings, OneOf(METHODS)] = METHODS.parse({})
    projection: Annotated[ProjectionSettings, OneOf(MAPS)] = MAPS.parse({})
    evaluation: Annotated[HeadSettings, OneOf(HEADS)] = HEADS.parse({})
    classifier: ClassifierSettings = ClassifierSettings()
    inference: InferenceSettings = InferenceSettings()
    neighbours: NeighbourSettings = NeighbourSettings()
    execution: ExecutionSettings = ExecutionSettings()
    model: ModelSettings = ModelSettings()
    tracking: TrackingSettings = TrackingSettings()
    reporting: ReportingSettings = ReportingSettings()

    @field_validator("data_folder")
    @classmethod
    def _a_folder_or_an_address(cls, path: str) -> str:
        if is_address(path):
            check_address(path)
        if not path.strip() or "?" in path or not path.isprintable():
            raise ValueError(f"{path!r} cannot be the name of a data folder; leave out ?, line breaks and the like")
        longest = max(len(os.fsencode(part)) for part in Path(path).parts or ("",))
        if longest > LONGEST_NAME or len(os.fsencode(path)) > LONGEST_PATH:
            raise ValueError(f"a name in it has {longest} bytes, and a file system takes {LONGEST_NAME}; shorten it")
        return path

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

    @model_validator(mode="after")
    def _can_be_packaged(self) -> Self:
        if self.model.wanted and HEADS.part(self.evaluation).reads == "graph":
            raise ValueError(f"model.* packages an encoder and a classifier, and {self.evaluation.head} has no encoder")
        if self.model.wanted and not METHODS.part(self.representation).inductive:
            raise ValueError(
                f"model.* packages what embeds new nodes; {self.representation.method} knows only those that it was "
                "trained on; use a method with an encoder, such as figure"
            )
        return self

    def decisive(self, stage: str) -> dict[str, dict[str, Any]]:
        """What decides the results of a stage: only the parts in use count, and of these what each of them reads.

        Args:
            stage: One of :data:`STAGES`.
        """
        if stage not in STAGES:
            raise ValueError(f"there is no stage {stage!r}")
        if stage == "classifier":
            return self.decisive("evaluation") | {"classifier": decisive(self.classifier)}
        if stage in ("inference", "neighbours"):
            asked = decisive(getattr(self, stage), digest=content_digest)
            return self.decisive("representation") | self.decisive("classifier") | {stage: asked}
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
            operator = ("self_loops", "loop_weight", "direction")
            decided["filters"] = {name: value for name, value in decided["filters"].items() if name in operator}
        return decided

    def key(self, stage: str) -> str:
        """Name the results of a stage by what decides them: equal results, equal key."""
        content = json.dumps([ARTEFACT_FORMAT, self.decisive(stage)], sort_keys=True)
        return hashlib.sha256(content.encode()).hexdigest()[:10]

    def versions(self, stage: str) -> dict[str, int]:
        """The versions of the parts that decide a stage, by group: numbers measured by other ones are stale."""
        return {group: values["version"] for group, values in self.decisive(stage).items() if "version" in values}

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
