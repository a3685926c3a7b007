"""From a data set class of PyTorch Geometric to a graph."""

import contextlib
import io
import shutil
import tempfile
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from figure_kedro.graph import Graph
from figure_kedro.graph.from_pyg import from_pyg

if TYPE_CHECKING:
    from torch_geometric.data import InMemoryDataset


def graph_from_pyg(
    dataset: "Callable[[str], InMemoryDataset]", files: Mapping[str, Path], name: str, *, directed: bool = False
) -> Graph:
    """Let PyTorch Geometric read checked raw files, and take the graph with its features and splits.

    It works in a temporary folder on copies: what it keeps beside its raw files would be a pickle in our data folder.

    Args:
        dataset: Makes the data set from its root folder.
        files: The raw files by their path relative to that root.
        name: Of the graph.
        directed: Whether to keep the direction of the edges.
    """
    with tempfile.TemporaryDirectory() as root:
        for relative_path, file in files.items():
            copy = Path(root, relative_path)
            copy.parent.mkdir(parents=True, exist_ok=True)
            shutil.copyfile(file, copy)
        with contextlib.redirect_stderr(io.StringIO()):  # it announces its progress there
            data = dataset(root)[0]
    return from_pyg(data, directed=directed, name=name)
