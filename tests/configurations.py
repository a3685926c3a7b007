"""The project's configuration, copied for a test."""

import shutil
from pathlib import Path

from figure_kedro import settings
from figure_kedro.config import ProjectConfigLoader

PROJECT = Path(__file__).parents[1]

MINE = """
mine:
  source: {kind: csbm, nodes: 50}
  filters: {bank: bernstein, size: 7}
"""


def copy_of_conf(folder):
    """The project's files with a data set of the user's."""
    shutil.copytree(PROJECT / "conf" / "base", folder / "conf" / "base")
    (folder / "conf" / "local" / "datasets").mkdir(parents=True)
    (folder / "conf" / "local" / "datasets" / "mine.yml").write_text(MINE)
    return folder / "conf"


def loader(conf, **params):
    return ProjectConfigLoader(str(conf), runtime_params=params, **settings.CONFIG_LOADER_ARGS)
