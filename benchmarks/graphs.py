"""The graphs that benchmarks run on, from files that are on this machine already."""

import os
from collections.abc import Iterator
from pathlib import Path

from benchmarks.report import console
from figure_kedro.datasets.sources import SOURCES, RawFiles, SourceSettings
from figure_kedro.datasets.sources.kinds.csbm import CsbmSettings
from figure_kedro.datasets.sources.kinds.heterophilous import HeterophilousSettings
from figure_kedro.datasets.sources.kinds.npz_archive import NpzArchiveSettings
from figure_kedro.datasets.sources.kinds.planetoid import PlanetoidSettings
from figure_kedro.datasets.sources.kinds.wikipedia import WikipediaSettings
from figure_kedro.errors import UserError
from figure_kedro.graph import Graph

ROOT = Path(__file__).parents[1]

PUBLISHED: dict[str, SourceSettings] = {
    "cora": PlanetoidSettings(name="cora"),
    "citeseer": PlanetoidSettings(name="citeseer"),
    "chameleon": WikipediaSettings(name="chameleon"),
    "squirrel": WikipediaSettings(name="squirrel"),
    "minesweeper": HeterophilousSettings(name="minesweeper"),
    "pubmed": PlanetoidSettings(name="pubmed"),
    "arXiv": NpzArchiveSettings(),
}

SMALL = CsbmSettings(nodes=2000, features=16, splits=1)
"""Stands in for every published graph when the benchmarks are only tried out."""


class LocalFiles(RawFiles):
    """Raw files of the data folder and the mirror; a benchmark waits for no network."""

    def __init__(self) -> None:
        mirror = Path(os.environ.get("FIGURE_RAW_MIRROR") or ROOT.parent / "shared" / "data" / "pyg_raw")
        super().__init__(ROOT / "data" / "01_raw", mirror if mirror.is_dir() else None)

    def get(self, relative_path: str, url: str | None, checksum: str | None) -> Path:
        return super().get(relative_path, None, checksum)


def load_local(source: SourceSettings, name: str) -> Graph:
    """The graph of a source, of files that are here.

    Raises:
        UserError: If a file is not here.
    """
    return SOURCES.build(source).load(LocalFiles(), name)


def published_graphs(names: tuple[str, ...], small: bool = False) -> Iterator[Graph]:
    """Load the named graphs one after another; one whose files are not here is left out, and the console says so.

    Args:
        names: Of :data:`PUBLISHED`.
        small: Give :data:`SMALL` instead, once.
    """
    if small:
        yield load_local(SMALL, "csbm, small")
        return
    for name in names:
        try:
            graph = load_local(PUBLISHED[name], name)
        except UserError:
            console.print(f"  left out: the files of {name} are not here (set FIGURE_RAW_MIRROR)", style="yellow")
        else:
            yield graph
