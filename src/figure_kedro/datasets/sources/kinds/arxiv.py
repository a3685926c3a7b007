"""The arXiv citation graph of OGB, with its subjects or with classes of its years."""

import zipfile
import zlib
from collections.abc import Collection
from itertools import pairwise
from pathlib import Path
from typing import Annotated, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from figure_kedro.datasets.sources.checksums import published_checksums
from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings
from figure_kedro.errors import UserError
from figure_kedro.graph import Graph, graph_from_edges, random_splits, splits_from_masks
from figure_kedro.parts import Decides

OGB = "https://snap.stanford.edu/ogb/data/nodeproppred/arxiv.zip"
FOLDER = "ogbn_arxiv"
TABLES = ("raw/edge", "raw/node-feat", "raw/node-label", "raw/node_year")
PARTS = ("split/time/train", "split/time/valid", "split/time/test")
YEAR_CLASSES = 5


class ArxivSettings(SourceSettings):
    """Which labels, and whether citations keep their direction."""

    kind: Literal["arxiv"] = "arxiv"
    labels: Annotated[Literal["subject", "year"], Decides.TARGETS] = Field(
        "subject", description="40 subject areas, or five classes of years"
    )
    directed: bool = Field(False, description="whether an edge goes from the citing paper to the cited one only")
    splits: Annotated[int, Decides.TARGETS] = Field(
        5, ge=1, le=1000, description="number of random 50/25/25 splits for labels by year"
    )
    seed: Annotated[int, Decides.TARGETS] = Field(0, ge=0, description="of those splits")

    def idle(self) -> Collection[str]:
        return {"splits", "seed"} if self.labels == "subject" else ()


@SOURCES.register
class Arxiv(Source):
    """The arXiv citation graph from OGB's tables."""

    Settings = ArxivSettings
    settings: ArxivSettings

    def load(self, raw: RawFiles, name: str) -> Graph:
        """Read the csv.gz files of ogbn-arxiv, "Open Graph Benchmark" (Hu et al., 2020).

        Subjects come with OGB's split by time. Years become classes by the rule of arxiv-year, "Large Scale Learning on
        Non-Homophilous Graphs" (Lim et al., 2021), with random splits drawn here from a seed: the five published ones
        exist as a pickled array only, which is not opened.

        A mirror may hold the unpacked files (``ogbn_arxiv/raw/edge.csv.gz`` and so on, as the ``ogb`` package leaves
        them) or OGB's archive as ``ogbn_arxiv/arxiv.zip``.
        """
        settings = self.settings
        files = _files(raw)
        features = _read(files["raw/node-feat"], np.float32)
        years = _column(files["raw/node_year"], len(features))
        labels = _column(files["raw/node-label"], len(features))
        edges = _read(files["raw/edge"], np.int64, columns=2)
        classes = None
        if settings.labels == "year":
            labels, classes = year_quantiles(years, YEAR_CLASSES)
            splits = random_splits(labels, settings.splits, 0.5, 0.25, settings.seed, stratified=False)
        else:
            train, val, test = (_mask(files[part], len(labels)) for part in PARTS)
            splits = splits_from_masks(train, val, test, name)
        return graph_from_edges(
            edges[:, 0],
            edges[:, 1],
            name=name,
            num_nodes=len(features),
            directed=settings.directed,
            features=features,
            labels=labels,
            classes=classes,
            splits=splits,
        )


def year_quantiles(years: np.ndarray, classes: int) -> tuple[np.ndarray, tuple[str, ...]]:
    r"""Cut years into classes that are as even as whole years allow.

    .. math:: y_v = |\{k : q_k \le t_v\}|, \quad k = 1, \dots, C - 1

    where :math:`t_v` is the year of node :math:`v`, :math:`C` the number of classes and :math:`q_k` the quantile
    :math:`k / C` of all years.

    Args:
        years: ``(n,)``.
        classes: :math:`C`.

    Returns:
        The class of each node ``(n,)`` and the names of the classes.

    >>> year_quantiles(np.array([2001, 2002, 2003, 2004, 2005]), 2)
    (array([0, 0, 1, 1, 1]), ('before 2003', 'from 2003'))
    """
    cuts = np.quantile(years, np.arange(1, classes) / classes)
    names = [f"before {cuts[0]:g}"]
    names += [f"from {low:g} to before {high:g}" for low, high in pairwise(cuts)]
    return np.digitize(years, cuts), (*names, f"from {cuts[-1]:g}")


def _files(raw: RawFiles) -> dict[str, Path]:
    paths = {table: f"{FOLDER}/{table}.csv.gz" for table in TABLES + PARTS}
    found = {table: raw.find(path, published_checksums()[path]) for table, path in paths.items()}
    files = {table: path for table, path in found.items() if path is not None}
    if len(files) == len(paths):
        return files
    archive = raw.get(f"{FOLDER}/arxiv.zip", OGB, published_checksums()[f"{FOLDER}/arxiv.zip"])
    try:
        with zipfile.ZipFile(archive) as members:
            for table, path in paths.items():
                if table not in files:
                    with members.open(f"arxiv/{table}.csv.gz") as stream:
                        files[table] = raw.add(path, stream, published_checksums()[path], str(archive))
    except (zipfile.BadZipFile, KeyError) as error:
        raise UserError(f"{archive} is not OGB's archive ({error}); delete it and its .sha256 file") from error
    return files


def _read(path: Path, dtype: type, columns: int | None = None) -> np.ndarray:
    try:
        table = pd.read_csv(path, header=None, dtype=dtype, compression="gzip").to_numpy()
    except (OSError, EOFError, zlib.error, ValueError) as error:  # pandas' own errors are ValueErrors
        raise UserError(f"{path} is not a gzipped table of numbers: {' '.join(str(error).split())}") from error
    if columns is not None and table.shape[1] != columns:
        raise UserError(f"{path} has {table.shape[1]} columns instead of {columns}; provide OGB's file")
    return table


def _column(path: Path, nodes: int) -> np.ndarray:
    column = _read(path, np.int64, columns=1)[:, 0]
    if len(column) != nodes:
        raise UserError(f"{path} has {len(column)} rows, but the features have {nodes}; provide OGB's files")
    return column


def _mask(path: Path, nodes: int) -> np.ndarray:
    members = _read(path, np.int64, columns=1)[:, 0]
    if members.min() < 0 or members.max() >= nodes:
        row = int(np.argmax((members < 0) | (members >= nodes)))
        raise UserError(f"{path}, row {row}: there is no node {members[row]}; the nodes are 0 to {nodes - 1}")
    mask = np.zeros(nodes, dtype=bool)
    mask[members] = True
    return mask
