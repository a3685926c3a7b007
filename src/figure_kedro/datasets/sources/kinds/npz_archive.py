"""A graph in one npz file of plain arrays."""

from collections.abc import Collection
from pathlib import Path
from typing import Annotated, Literal

from pydantic import Field

from figure_kedro.datasets.sources.checksums import published_checksums
from figure_kedro.datasets.sources.npz import Archive
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.errors import UserError
from figure_kedro.graph import Graph, graph_from_edges
from figure_kedro.parts import Decides


class NpzArchiveSettings(SourceSettings):
    """Which archive, and which of its labels."""

    kind: Literal["npz_archive"] = "npz_archive"
    file: Literal[
        "ogbn_arxiv_no_features.npz",
        "cora.npz",
        "citeseer.npz",
        "pubmed.npz",
        "chameleon.npz",
        "squirrel.npz",
        "minesweeper.npz",
    ] = Field("ogbn_arxiv_no_features.npz", description="a known archive, in the raw mirror or the folder around it")
    path: Annotated[str | None, Decides.CONTENT] = Field(
        None, description="any other archive of the same layout, instead of `file`"
    )
    labels: Annotated[Literal["subject", "year"], Decides.TARGETS] = Field(
        "subject", description="for arXiv, what its classes are"
    )
    directed: bool = Field(False, description="whether to keep the direction of the edges, if the archive has it")

    def idle(self) -> Collection[str]:
        return {"file"} if self.path is not None else ()


@SOURCES.register
class NpzArchive(Source):
    """A graph in one archive."""

    Settings = NpzArchiveSettings
    settings: NpzArchiveSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Read an archive with these arrays (``n`` nodes, ``m`` edges, ``d`` features, ``s`` splits):

        - ``edges`` int ``(m, 2)``, and ``edges_directed`` bool: if false, each edge is there once, in any direction;
        - ``node_features`` ``(n, d)``, or the parts ``node_features_data``, ``_indices``, ``_indptr`` and ``_shape`` of
          a CSR matrix, or neither;
        - ``node_labels`` int ``(n,)``; ``train_masks``, ``val_masks``, ``test_masks`` bool ``(s, n)``;
        - ``year_labels`` and ``year_train_masks`` and so on, for the labels by year.
        """
        settings = self.settings
        archive = Archive(_find(settings, raw))
        directed = archive.flag("edges_directed")
        if settings.directed and not directed:
            raise UserError(f"{archive.path} holds undirected edges; leave source.directed out")
        by_year = settings.labels == "year"
        labels = archive.array("year_labels" if by_year else "node_labels", "iu", (None,))
        source, target = archive.array("edges", "iu", (None, 2)).T
        return graph_from_edges(
            source,
            target,
            name=name,
            num_nodes=len(labels),
            directed=settings.directed,
            features=archive.features(len(labels)),
            labels=labels,
            splits=archive.splits(name, len(labels), "year_" if by_year else ""),
        )


def _find(settings: NpzArchiveSettings, raw: RawFiles) -> Path:
    if settings.path is not None:
        path = Path(settings.path)
        if not path.is_file():
            raise UserError(f"there is no file {path}; set source.path to an npz archive")
        return path
    checksum = published_checksums()[settings.file]
    if raw.mirror is not None:  # the archives lie beside the folder of raw files
        around = RawFiles(raw.folder, raw.mirror.resolve().parent).find(settings.file, checksum)
        if around is not None:
            return around
    return raw.get(settings.file, None, checksum)
