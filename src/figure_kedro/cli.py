"""The commands of the project: ``run`` with one ``--params``, ``search``, ``experiment``, ``runs``, ``mlflow ui``."""

import copy
import functools
import os
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

import click
from kedro.framework.cli.project import run as kedro_run
from kedro.framework.cli.utils import _split_params
from omegaconf.errors import OmegaConfBaseException
from yaml import YAMLError

from figure_kedro.errors import UserError
from figure_kedro.machine_errors import find_user_error


class CommandError(click.ClickException, UserError):
    """A user's mistake, which the command line prints as one line before it exits with code 2."""

    exit_code = 2


def _one_line(command: Callable[..., Any]) -> Callable[..., Any]:
    """Let a command end in one line where the user or the machine can mend something, wherever it was found."""

    @functools.wraps(command)
    def guarded(*args: Any, **kwargs: Any) -> Any:
        try:
            return command(*args, **kwargs)
        except (click.exceptions.Exit, click.Abort):
            raise
        except Exception as error:  # a mistake may lie behind errors of Kedro's or a library's; others are raised again
            mistake = find_user_error(error)
            if mistake is None:
                raise
            raise CommandError(str(mistake)) from None

    return guarded


@click.group(name="figure_kedro")
def cli() -> None:
    """The commands of this project."""


def _all_in_one(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Any:
    if len(values) > 1:
        raise CommandError(f"--params is given {len(values)} times; give all in one: --params {','.join(values)}")
    try:
        return _split_params(context, option, values[0] if values else "")
    except (YAMLError, OmegaConfBaseException) as error:
        problem = " ".join(str(getattr(error, "problem", None) or error).split())
        raise CommandError(
            f"--params cannot be read: {problem}; a value that begins with a sign of YAML, such as *, needs quotes"
        ) from None


def _params_once(option: click.Parameter) -> click.Parameter:
    if option.name != "params":
        return option
    return click.Option(["--params"], multiple=True, callback=_all_in_one, help=getattr(option, "help", None))


run = copy.copy(kedro_run)
run.params = [_params_once(option) for option in kedro_run.params]
run.callback = _one_line(kedro_run.callback) if kedro_run.callback else None
cli.add_command(run)


@cli.command()
@click.option("--params", multiple=True, callback=_all_in_one, help="As for kedro run; holds in all comparisons.")
@click.option("--budget", default=20, show_default=True, type=click.IntRange(1), help="How many settings are compared.")
@click.option("--splits", default=3, show_default=True, type=click.IntRange(1), help="Splits of each comparison.")
@click.option("--trials", default=12, show_default=True, type=click.IntRange(1), help="Trials on each split.")
@click.option("--name", default=None, help="Of the data set that is written; default: the old name with _best.")
@click.pass_obj
@_one_line
def search(metadata: Any, params: dict[str, Any], budget: int, splits: int, trials: int, name: str | None) -> None:
    """Try what a graph may need: direction, self-loops, scale, trained or not.

    The best settings on validation are written to conf/local/datasets, with the table of what was compared.
    """
    from figure_kedro.search.command import search as compare

    compare(metadata.project_path, params, budget=budget, splits=splits, trials=trials, name=name)


@cli.group()
def experiment() -> None:
    """Tables and figures of many runs: those of the paper, and comparisons of one's own."""


_WHAT = (
    click.option("--params", multiple=True, callback=_all_in_one, help="As for kedro run; wins over the file."),
    click.option("--datasets", default="", help="Only cells of these data sets: cora,squirrel."),
    click.option("--trials", type=click.IntRange(1), help="Trials on each split, in place of the file's."),
    click.option(
        "--records",
        type=click.Path(file_okay=False, exists=True, path_type=Path),
        help="A folder of an earlier report, docs for instance: what its records have is there.",
    ),
    click.option("--env", "-e", default=None, help="The environment within conf."),
)


def _what(command: Callable[..., Any]) -> Callable[..., Any]:
    """The options that say which cells an experiment has, for all commands alike."""

    @functools.wraps(command)
    def told(
        metadata: Any, params: dict[str, Any], datasets: str, trials: int | None, env: str | None, **given: Any
    ) -> Any:
        if env is not None:
            os.environ["KEDRO_ENV"] = env  # where Kedro's own commands look for it, and processes of workers
        if trials is not None:
            params = {**params, "evaluation": {**params.get("evaluation", {}), "trials": trials}}
        return command(metadata, params=params, datasets=_listed(datasets), **given)

    for option in reversed(_WHAT):
        told = option(told)
    return told


@experiment.command(name="run")
@click.argument("names", nargs=-1, required=True)
@click.option("--workers", default=1, show_default=True, type=click.IntRange(1), help="Processes of this machine.")
@click.option("--ray", is_flag=False, flag_value="local", default=None, help="On Ray: here, or at an ADDRESS.")
@click.option("--dry-run", is_flag=True, help="Only tell what is there, what would run and how long it may take.")
@click.pass_obj
@_one_line
@_what
def run_experiments(
    metadata: Any,
    names: tuple[str, ...],
    params: dict[str, Any],
    datasets: list[str],
    records: Path | None,
    workers: int,
    ray: str | None,
    dry_run: bool,
) -> None:
    """Make what is missing of the experiments NAMES, and their reports.

    What earlier runs have left is not made again, and one that was killed is resumed.
    """
    from figure_kedro.experiments.workers import executor_of

    if ray is not None and ray not in ("local", "auto") and ":" not in ray:
        raise UserError(
            f"--ray {ray!r} is no address; write --ray=HOST:PORT, or --ray behind the names for a local one"
        )
    with closing(executor_of(1 if dry_run else workers, None if dry_run else ray)) as executor:
        from figure_kedro.experiments import command  # after its processes have begun to import, too

        project = metadata.project_path
        whole = command.run(
            project, names, params, datasets=datasets, executor=executor, records=records, dry_run=dry_run
        )
    if not whole:
        raise CommandError("some runs failed; their lines are above and in the report, and the others are done")


@experiment.command(name="list")
@click.option("--env", "-e", default=None, help="The environment within conf.")
@click.pass_obj
@_one_line
def list_experiments(metadata: Any, env: str | None) -> None:
    """Print the experiments of conf/*/experiments."""
    from figure_kedro.experiments import command

    if env is not None:
        os.environ["KEDRO_ENV"] = env
    command.show_list(metadata.project_path)


@experiment.command()
@click.argument("names", nargs=-1)
@click.pass_obj
@_one_line
@_what
def status(
    metadata: Any, names: tuple[str, ...], params: dict[str, Any], datasets: list[str], records: Path | None
) -> None:
    """Print how much of the experiments NAMES, or of all, is there."""
    from figure_kedro.experiments import command

    command.show_status(metadata.project_path, names, params, datasets=datasets, records=records)


@experiment.command()
@click.argument("names", nargs=-1, required=True)
@click.option("--output", type=click.Path(file_okay=False, path_type=Path), help="A folder with a page to add to.")
@click.pass_obj
@_one_line
@_what
def report(
    metadata: Any,
    names: tuple[str, ...],
    params: dict[str, Any],
    datasets: list[str],
    records: Path | None,
    output: Path | None,
) -> None:
    """Write the report of the experiments NAMES from what is there."""
    from figure_kedro.experiments import command

    command.report(metadata.project_path, names, params, datasets=datasets, records=records, output=output)


@cli.command()
@click.option("--params", multiple=True, callback=_all_in_one, help="data_folder=..., if it is another one.")
@click.option("--datasets", default="", help="Only runs on these data sets: cora,squirrel.")
@click.option("--key", default=None, help="Tell where this run has left its files; the first letters are enough.")
@click.option("--limit", default=20, show_default=True, type=click.IntRange(0), help="How many; 0: all.")
@click.pass_obj
def runs(metadata: Any, params: dict[str, Any], datasets: str, key: str | None, limit: int) -> None:
    """List the runs that there are, newest first, or the files of one."""
    from figure_kedro.runs.command import show_runs

    try:
        show_runs(metadata.project_path, params, datasets=_listed(datasets), key=key, limit=limit)
    except UserError as error:
        raise CommandError(str(error)) from None


class MlflowCommands(click.Group):
    """kedro-mlflow's commands; ``ui`` is ours, so that it opens the records of any data folder."""

    def list_commands(self, context: click.Context) -> list[str]:
        return sorted({*self.commands, *self._plugin().list_commands(context)})

    def get_command(self, context: click.Context, name: str) -> click.Command | None:
        return self.commands.get(name) or self._plugin().get_command(context, name)

    @staticmethod
    def _plugin() -> click.Group:
        from kedro_mlflow.framework.cli.cli import mlflow_commands

        return mlflow_commands


@cli.group(cls=MlflowCommands)
def mlflow() -> None:
    """Use mlflow-specific commands inside kedro project."""


@mlflow.command()
@click.option("--params", multiple=True, callback=_all_in_one, help="data_folder=..., if it is another one.")
@click.option("--env", "-e", default=None, help="The environment within conf.")
@click.option("--port", "-p", default=None, help="The port to listen on; default: 5000.")
@click.option("--host", "-h", default=None, help="The address to listen on; default: 127.0.0.1, this machine alone.")
@click.pass_obj
@_one_line
def ui(metadata: Any, params: dict[str, Any], env: str | None, port: str | None, host: str | None) -> None:
    """Open MLflow's pages on the runs of this project."""
    from figure_kedro.tracking.ui import open_ui

    open_ui(metadata.project_path, params, env=env, port=port, host=host)


def _listed(names: str) -> list[str]:
    return [name.strip() for name in names.split(",") if name.strip()]
