"""One run of an experiment: what decides it, whether it is there, and how it is made."""

import logging
import os
import time
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any, cast

from kedro.framework.context import KedroContext
from kedro.framework.hooks.manager import _create_hook_manager, _NullPluginManager
from kedro.framework.project import settings as project_settings
from kedro.framework.startup import bootstrap_project
from kedro.io import DataCatalog
from kedro.runner import SequentialRunner

from figure_kedro.config import FEATURES_ALONE, ProjectConfigLoader
from figure_kedro.datasets.files.data_folder import check_storage, local_folder
from figure_kedro.datasets.files.scratch import memory_of_run
from figure_kedro.datasets.run_folder import RunFolder
from figure_kedro.datasets.sources.raw_files import NoRawFileError
from figure_kedro.earlier import earlier_nodes
from figure_kedro.evaluation import HEADS
from figure_kedro.execution import make_executor, use_executor
from figure_kedro.experiments.shows import SHOWS, Show, stage_of
from figure_kedro.machine_errors import find_user_error
from figure_kedro.memory import use_memory
from figure_kedro.parameters import KINDS, Parameters
from figure_kedro.parts import flatten
from figure_kedro.search.plan import nested
from figure_kedro.tracking.words import command_line
from figure_kedro.turns import Turns

FOLDERS = ("data_folder", "raw_mirror", "memory")
"""Settings that say where files are and what there is on one machine, and nothing to others."""


@dataclass(frozen=True)
class Run:
    """A run that one cell or several need.

    Args:
        project: Root of the project.
        changes: Its settings by path, as ``--params`` takes them.
        pipeline: What has to run.
        parameters: All settings.
    """

    project: Path
    changes: dict[str, Any]
    pipeline: str
    parameters: Parameters

    @classmethod
    def of(cls, loader: ProjectConfigLoader, changes: dict[str, Any], show: Show) -> "Run":
        """Resolve the settings.

        Args:
            loader: Of the project, without any settings given.
            changes: The settings.
            show: What the run is for.

        Raises:
            UserError: If one of them is unknown or out of range.
        """
        project = Path(loader.conf_source).parent
        return cls(project, changes, show.pipeline, loader.with_params(_given(changes)).parameters)

    @property
    def key(self) -> tuple[str, str, str]:
        """Equal for runs that leave the same."""
        return self.pipeline, self.parameters.dataset, self.parameters.key(stage_of(self.pipeline))

    @property
    def command(self) -> str:
        """What makes this run by itself."""
        settings = {path: value for path, value in flatten(_given(self.changes)).items() if path not in FOLDERS}
        env = os.environ.get("KEDRO_ENV")
        return command_line([self.pipeline], settings, [f"--env={env}"] if env else [])

    @property
    def folder(self) -> RunFolder:
        """Where it leaves its numbers."""
        _, dataset, key = self.key
        return RunFolder(local_folder(self.project, self.parameters.data_folder) / "08_reporting" / dataset / key)

    def exists(self) -> bool:
        """Whether an earlier run has left what it makes."""
        needs = {name for show in SHOWS.values() if show.pipeline == self.pipeline for name in show.needs}
        return self.folder.has(*needs)


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Args:
        seconds: That it took.
        error: One line if it failed.
        details: The traceback of an error that is no mistake of the user.
        no_data: Why the raw files of its data set cannot be had, if that is the error.
    """

    seconds: float
    error: str = ""
    details: str = ""
    no_data: str = ""


def make(project: str, changes: dict[str, Any], pipeline: str, quiet: bool = True) -> Outcome:
    """Run a pipeline and whatever it needs that no earlier run has left. It raises nothing: an error is an outcome.

    Nothing is told to MLflow: the process that gives out the work does that, alone.

    Args:
        project: Root of the project.
        changes: Settings by path.
        pipeline: Its name.
        quiet: Whether to leave out progress bars and all of the log but errors.
    """
    started = time.monotonic()
    try:
        with _quietly() if quiet else nullcontext():
            _run(Path(project), changes, pipeline)
    except Exception as error:  # whatever it is, the other runs go on, and it is told with the cell
        mistake = find_user_error(error)
        line = str(mistake) if mistake else f"{type(error).__name__}: {' '.join(str(error).split())[:300]}"
        no_data = mistake.why if isinstance(mistake, NoRawFileError) else ""
        return Outcome(time.monotonic() - started, line, "" if mistake else traceback.format_exc(), no_data)
    return Outcome(time.monotonic() - started)


def _run(project: Path, changes: dict[str, Any], pipeline: str) -> None:
    from figure_kedro.pipeline_registry import register_pipelines

    bootstrap_project(project)
    loader = project_loader(project).with_params(_given(changes))
    run, folder = loader.parameters, local_folder(project, loader.parameters.data_folder)
    check_storage(folder)
    catalog = _catalog(project, loader)
    pipelines = register_pipelines()
    earlier = earlier_nodes(pipelines["__default__"], pipelines[pipeline], catalog)
    turns, hooks = Turns(catalog), _create_hook_manager()
    hooks.register(turns)
    try:
        with use_memory(memory_of_run(run.memory, folder)), use_executor(make_executor(run.execution, folder)):
            SequentialRunner().run(earlier + pipelines[pipeline], catalog, hooks)
        catalog.load("run_index").write()
    finally:
        turns.end()


@contextmanager
def _quietly() -> Iterator[None]:
    """Neither bars nor a log, but for errors."""
    import rich

    console, level = rich.get_console(), logging.root.manager.disable
    before, console.quiet = console.quiet, True
    logging.disable(logging.WARNING)
    try:
        yield
    finally:
        console.quiet = before
        logging.disable(level)


def _catalog(project: Path, loader: ProjectConfigLoader) -> DataCatalog:
    """The catalog of a context without hooks: neither MLflow nor a panel at the end."""
    context = KedroContext(
        project_path=project,
        config_loader=loader,
        env=loader.env,
        package_name="figure_kedro",
        hook_manager=cast(Any, _NullPluginManager()),  # Kedro's own for "no hooks"; it has no public name
        runtime_params=cast(Any, loader.runtime_params),
    )
    return cast(DataCatalog, context.catalog)


def project_loader(project: Path) -> ProjectConfigLoader:
    """The configuration of a project, with nothing given."""
    env = os.environ.get("KEDRO_ENV")
    return ProjectConfigLoader(str(project / "conf"), env=env, **project_settings.CONFIG_LOADER_ARGS)


def _given(changes: Mapping[str, Any]) -> dict[str, Any]:
    """Settings in groups, as ``--params`` gives them; those that the chosen part does not have are left aside."""
    given = nested(changes)
    head, representation = given.get("evaluation", {}).get("head"), given.get("representation")
    if head in HEADS.names() and HEADS[head].reads == "graph" and representation and "method" not in representation:
        kept = KINDS["representation"].only_chosen({**representation, **FEATURES_ALONE})
        given["representation"] = {name: value for name, value in kept.items() if name not in FEATURES_ALONE}
    for group, kind in KINDS.items():
        if isinstance(given.get(group), dict) and given[group].get(kind.tag) in kind.names():
            given[group] = kind.only_chosen(given[group])
    return given
