"""The commands of the project: ``kedro run`` as Kedro has it, but with one ``--params``, and ``kedro search``."""

import copy
from typing import Any

import click
from kedro.framework.cli.project import run as kedro_run
from kedro.framework.cli.utils import _split_params

from figure_kedro.errors import UserError


class CommandError(click.ClickException, UserError):
    """A user's mistake, which the command line prints as one line before it exits with code 2."""

    exit_code = 2


@click.group(name="figure_kedro")
def cli() -> None:
    """The commands of this project."""


def _all_in_one(context: click.Context, option: click.Parameter, values: tuple[str, ...]) -> Any:
    if len(values) > 1:
        raise CommandError(f"--params is given {len(values)} times; give all in one: --params {','.join(values)}")
    return _split_params(context, option, values[0] if values else "")


def _params_once(option: click.Parameter) -> click.Parameter:
    if option.name != "params":
        return option
    return click.Option(["--params"], multiple=True, callback=_all_in_one, help=getattr(option, "help", None))


run = copy.copy(kedro_run)
run.params = [_params_once(option) for option in kedro_run.params]
cli.add_command(run)


@cli.command()
@click.option("--params", multiple=True, callback=_all_in_one, help="As for kedro run; holds in all comparisons.")
@click.option("--budget", default=16, show_default=True, type=click.IntRange(1), help="How many settings are compared.")
@click.option("--splits", default=3, show_default=True, type=click.IntRange(1), help="Splits of each comparison.")
@click.option("--trials", default=12, show_default=True, type=click.IntRange(1), help="Trials on each split.")
@click.option("--name", default=None, help="Of the data set that is written; default: the old name with _best.")
@click.pass_obj
def search(metadata: Any, params: dict[str, Any], budget: int, splits: int, trials: int, name: str | None) -> None:
    """Try what a graph may need: direction, self-loops, scale, trained or not.

    The best settings on validation are written to conf/local/datasets, with the table of what was compared.
    """
    from figure_kedro.search.command import search as compare

    try:
        compare(metadata.project_path, params, budget=budget, splits=splits, trials=trials, name=name)
    except UserError as error:
        raise CommandError(str(error)) from None
