"""Sources of graphs, chosen by ``kind``, and the raw files behind them."""

from figure_kedro.datasets.sources.raw_files import RawFiles
from figure_kedro.datasets.sources.source import SOURCES, Source, SourceSettings

__all__ = ["SOURCES", "RawFiles", "Source", "SourceSettings"]
