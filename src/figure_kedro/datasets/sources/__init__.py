"""Sources of graphs: one small file each, chosen by ``kind``.

A source has ``Settings``, whose first field is its kind, and ``load(settings, raw, name)``, which gives the graph. A
new source is one new file and its line in the two lists here.
"""

from typing import Annotated

from pydantic import Field

from figure_kedro.datasets.sources import (
    arxiv,
    csbm,
    heterophilous,
    minesweeper_generated,
    npz_archive,
    own,
    planetoid,
    wikipedia,
)
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.graph import Graph

SourceSettings = Annotated[
    arxiv.Settings
    | csbm.Settings
    | heterophilous.Settings
    | minesweeper_generated.Settings
    | npz_archive.Settings
    | own.Settings
    | planetoid.Settings
    | wikipedia.Settings,
    Field(discriminator="kind"),
]

_SOURCES = (arxiv, csbm, heterophilous, minesweeper_generated, npz_archive, own, planetoid, wikipedia)
_LOADERS = {source.Settings: source.load for source in _SOURCES}


def load_graph(settings: SourceSettings, raw: RawFiles, name: str) -> Graph:
    """Load the graph that the settings describe.

    Args:
        settings: Of one of the sources.
        raw: Provides published files; generated graphs and the user's own do not ask it.
        name: What the graph is called in paths, tables and messages.
    """
    return _LOADERS[type(settings)](settings, raw, name)


__all__ = ["RawFiles", "SourceSettings", "load_graph"]
