"""``kedro search``: compare what a graph may need, and keep the best as a data set's file."""

import re
from pathlib import Path
from typing import Any, cast

import pandas as pd
import rich
import yaml
from kedro.framework.project import settings as project_settings
from kedro.framework.session import KedroSession
from omegaconf import OmegaConf

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.datasets.files.data_folder import fetch, local_folder
from figure_kedro.datasets.files.whole_file import write_whole
from figure_kedro.datasets.typed_json import RunRecordDataset
from figure_kedro.errors import UserError
from figure_kedro.machine_errors import find_user_error
from figure_kedro.parameters import DATASET_NAME, KINDS, Parameters
from figure_kedro.parts import flatten
from figure_kedro.reporting.markdown import to_markdown
from figure_kedro.search.plan import Changes, Search, nested


def search(project: Path, given: dict[str, Any], *, budget: int, splits: int, trials: int, name: str | None) -> Path:
    """Compare settings of a data set on validation and write the best ones to ``conf/local/datasets``.

    Every comparison is an ordinary run of the evaluation pipeline: what it leaves is found again, so that a search that
    was killed is resumed when it is started again.

    Args:
        project: Root of the project.
        given: What ``--params`` says; it holds in all comparisons.
        budget: How many settings are compared at the most.
        splits, trials: Of every comparison.
        name: Of the new data set; the old one with ``_best`` by default.

    Returns:
        The file that was written.
    """
    if name is not None and not re.fullmatch(DATASET_NAME, name):
        raise UserError(f"--name {name!r} is no name of a data set; use letters, digits, _ and -")
    fixed = {"evaluation.splits": splits, "evaluation.trials": trials}
    start = _parameters(project, _with(given, {}))
    name = name or f"{start.dataset}_best"
    _check_name(name, project, start)
    console = rich.get_console()

    def score(changes: Changes) -> float:
        return _validation_score(project, _with(given, {**fixed, **changes}))

    plan = Search(start, score, budget, flatten(given))
    for number, tried in enumerate(plan.run(), start=1):
        shown = f"{tried.score:.2f}" if tried.score is not None else f"failed: {tried.remark}"
        console.print(f"{number}. {_shown(tried.changes)}: {shown}", markup=False, highlight=False)
        if number > 1 and tried.score is None and {one.remark for one in plan.tried} == {tried.remark}:
            raise UserError(tried.remark)  # it is not about any one of the settings
    if plan.best is None:
        raise UserError(
            f"none of {len(plan.tried)} settings could be evaluated; the last said: {plan.tried[-1].remark}"
        )
    file = project / "conf" / "local" / "datasets" / f"{name}.yml"
    best = _parameters(project, _with(given, plan.best.changes))
    write_whole(file, _data_set_file(name, best, plan, splits, trials))
    console.print(f"best on validation: {_shown(plan.best.changes)}; kept as {file}", markup=False, highlight=False)
    console.print(f"kedro run --params dataset={name}", markup=False, highlight=False)
    return file


def _with(given: dict[str, Any], changes: Changes) -> dict[str, Any]:
    """What is given with some changes; settings that a chosen part does not have are left aside."""
    merged: Any = OmegaConf.to_container(OmegaConf.merge(given, nested(changes)))
    for group, kind in KINDS.items():
        if kind.tag in merged.get(group, {}):
            merged[group] = kind.only_chosen(merged[group])
    return merged


def _parameters(project: Path, given: dict[str, Any]) -> Parameters:
    args = project_settings.CONFIG_LOADER_ARGS
    return ProjectConfigLoader(str(project / "conf"), runtime_params=given, **args).parameters


def _validation_score(project: Path, given: dict[str, Any]) -> float:
    """The mean validation score of an ordinary run, in percent; a run that was made before is not made again."""
    run = _parameters(project, given)
    file = (
        local_folder(project, run.data_folder) / "08_reporting" / run.dataset / run.key("evaluation") / "summary.json"
    )
    fetch(file)
    stored = RunRecordDataset(filepath=str(file))
    if not stored.exists():
        console = rich.get_console()
        console.quiet = True
        try:
            with KedroSession.create(project, runtime_params=given) as session:
                cast(KedroSession, session).run(pipeline_names=["evaluation"])
        except Exception as error:
            raise find_user_error(error) or error from None
        finally:
            console.quiet = False
    record = stored.load()
    if record.val_mean is None:
        raise UserError(f"{record.dataset} has no labels, so there is nothing to choose by")
    return record.val_mean


def _check_name(name: str, project: Path, start: Parameters) -> None:
    """Whether a new data set may have this name: if there is one, it is an earlier search's on the same graph."""
    args = project_settings.CONFIG_LOADER_ARGS
    known = ProjectConfigLoader(str(project / "conf"), **args)["datasets"]
    same = {"directed": None}  # which a search may have chosen
    source = known.get(name, {}).get("source", {})
    if name in known and source | same != start.source.model_dump(mode="json") | same:
        raise UserError(f"there is a data set {name!r} already; choose another name with --name")


def _data_set_file(name: str, best: Parameters, plan: Search, splits: int, trials: int) -> str:
    """The new data set: its source, and all settings that are not those of every data set. What was compared stands
    above it."""
    rows = [
        {"round": tried.round, "settings": _shown(tried.changes), "validation": tried.score, "remark": tried.remark}
        for tried in plan.tried
    ]
    table = to_markdown(pd.DataFrame(rows))
    head = [
        f"What suits {best.dataset}, chosen on validation alone ({splits} splits, {trials} trials for each of "
        f"{len(plan.tried)} settings):",
        *table.splitlines(),
    ]
    return "".join(f"# {line}\n" for line in head) + yaml.safe_dump({name: _differences(best, plan)}, sort_keys=False)


def _differences(best: Parameters, plan: Search) -> dict[str, Any]:
    """The source, what was compared, and whatever else is not the default of the parts that are chosen."""
    told = {*plan.given, *(plan.best.changes if plan.best else {})}
    kept: dict[str, Any] = {"source": best.source.model_dump(mode="json")}
    for group, kind in KINDS.items():
        if group != "source":
            settings = flatten(getattr(best, group).model_dump(mode="json"))
            usual = flatten(kind.parse({kind.tag: settings[kind.tag]}).model_dump(mode="json"))
            different = {
                path: value
                for path, value in settings.items()
                if path == kind.tag or f"{group}.{path}" in told or usual.get(path) != value
            }
            kept[group] = nested(different)
    return kept


def _shown(changes: Changes) -> str:
    return ",".join(f"{path}={value}" for path, value in changes.items())
