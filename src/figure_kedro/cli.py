"""``kedro run`` as Kedro has it, but a second ``--params`` is a mistake and not the only one that counts."""

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
