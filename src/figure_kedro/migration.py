"""What older versions of this project wrote, in the form of today; what is newer is refused in one line."""

from collections.abc import Mapping
from typing import Any

import torch

from figure_kedro.evaluation import HEADS
from figure_kedro.features import STRUCTURAL
from figure_kedro.filters import BANKS
from figure_kedro.methods.method import METHODS
from figure_kedro.parts import Kind
from figure_kedro.parts.settings import known
from figure_kedro.projections import MAPS
from figure_kedro.versions import check_format

MODEL_FORMAT = 3
"""Of the file that holds a trained model. 1 had the settings of all methods side by side, 2 one kind of features for
graphs without any."""

RECORD_FORMAT = 2
"""Of the record of a run. 1 had the settings of all parts side by side."""

WITH_FEATURES = ("arxiv", "filtered_wikipedia", "heterophilous", "minesweeper_generated", "planetoid", "wikipedia")
"""Sources whose graphs all come with features."""

Weights = Mapping[str, torch.Tensor]

_GROUPS = {"mvgrl": "mvgrl", "grace": "grace", "sugrl": "sugrl", "deepwalk": "walks", "node2vec": "walks"}
"""The group below ``representation`` in which format 1 had the settings of a method."""


def migrate_model(weights: Weights, description: Mapping[str, Any]) -> tuple[Weights, dict[str, Any]]:
    """Weights and description of a model in today's format."""
    description = dict(description)
    found = check_format(description.get("format"), MODEL_FORMAT, "the model")
    if found == 1:
        method = description["representation"].get("method", "figure")
        description["representation"] = representation_from_1(description["representation"])
        description["filters"] = known(description["filters"], BANKS.chosen(description["filters"]).Settings)
        if method == "dgi":  # had a model of its own before it became FiGURe with one filter
            weights = {
                name.replace("encoder.", "encoders.0.").replace("discriminator", "discriminators.0"): tensor
                for name, tensor in weights.items()
            }
        description["graph_checksum"] = None  # it had labels and splits in it, and says nothing without them
    if found < 3:
        description["structural"] = "svd" if description.pop("structural_features") else ""
    return weights, description | {"format": MODEL_FORMAT}


def representation_from_1(old: Mapping[str, Any]) -> dict[str, Any]:
    """Settings of a method in format 1: those of the other methods beside them, its own in a group."""
    method = old.get("method", "figure")
    group = _GROUPS.get(method, "")
    new = {**old, **old.get(group, {})}
    if method == "dgi":  # it left these aside, and does so no longer
        new = {name: value for name, value in new.items() if name not in ("encoder", "strategy")}
    if "tuning" in new:
        space = {path.removeprefix(f"{group}."): values for path, values in new["tuning"].get("space", {}).items()}
        tried = {path: values for path, values in space.items() if _has(METHODS[method].Settings, path)}
        new["tuning"] = {**new["tuning"], "space": tried}
    return known(new, METHODS[method].Settings)


def _has(settings: Any, path: str) -> bool:
    """Whether a class of settings has a setting at a path such as ``training.learning_rate``."""
    for part in path.split("."):
        if part not in getattr(settings, "model_fields", {}):
            return False
        settings = settings.model_fields[part].annotation
    return True


def migrate_record(record: Mapping[str, Any]) -> dict[str, Any]:
    """The record of a run in today's format."""
    record = dict(record)
    if check_format(record.get("format"), RECORD_FORMAT, "the record of a run") == 1:
        if "damping" in record["settings"].get("evaluation", {}):  # a solver that is gone
            record["versions"] = {"evaluation": 0}
        record["settings"] = parameters_from_1(record["settings"])
        record["head"] = record["settings"]["evaluation"]["head"]
        record["format"] = RECORD_FORMAT
    record["versions"] = raised_versions(record["settings"], record.get("versions", {}))
    return record


def raised_versions(settings: Mapping[str, Any], versions: Mapping[str, int]) -> dict[str, int]:
    """Versions of parts, by group, raised where a later one does the same with these settings."""
    raised = dict(versions)
    if raised.get("evaluation") == 2 and _searched_alike(settings):
        raised["evaluation"] = 3
    if raised.get("features", 1) == 1 and _had_features(settings):
        raised["features"] = 2
    return raised


def _had_features(settings: Mapping[str, Any]) -> bool:
    """Whether version 2 of the features called ``auto``, which are others for graphs without any, was not asked."""
    auto = settings.get("features", {}).get("structural", "auto") == "auto"
    return auto and settings.get("source", {}).get("kind") in WITH_FEATURES


def _searched_alike(settings: Mapping[str, Any]) -> bool:
    """Whether version 3 of the linear head tries what version 2 did: it parts budgets otherwise that are small for the
    filters, and takes the widths of a map in another order."""
    evaluation, filters = settings["evaluation"], settings["filters"]
    if evaluation.get("solver") != "lbfgs":
        return True
    few = filters.get("size", 4) <= 4 and filters.get("direction") != "both"
    return evaluation["trials"] >= 30 and few and len(settings["projection"].get("gammas", ())) < 2


def parameters_from_1(old: Mapping[str, Any]) -> dict[str, Any]:
    """All settings of a run in format 1: in every group those of the chosen part are kept."""
    evaluation, projection = old.get("evaluation", {}), old.get("projection", {})
    network = evaluation.get("supervised", "none")
    if network == "none":
        evaluation = {**evaluation, "head": "linear"}
    else:
        trained = evaluation.get("end_to_end", {})
        published = getattr(HEADS[network].Settings, "ranges", {})
        searched = trained.get("spaces", {}).get(network, {})
        space = {name: values for name, values in searched.items() if tuple(values) != published.get(name)}
        own = {name: value for name, value in trained.items() if name != "spaces"}
        evaluation = {**evaluation, **own, "head": network, "space": space}
    if "gammas" in evaluation:
        projection = {**projection, "gammas": evaluation["gammas"]}
    groups: dict[str, tuple[Kind[Any], Mapping[str, Any]]] = {
        "features": (STRUCTURAL, old.get("features", {})),
        "filters": (BANKS, old.get("filters", {})),
        "projection": (MAPS, projection),
        "evaluation": (HEADS, evaluation),
    }
    new = {name: known(values, kind.chosen(values).Settings) for name, (kind, values) in groups.items()}
    return {**old, **new, "representation": representation_from_1(old.get("representation", {}))}
