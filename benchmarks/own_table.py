"""A graph of your own from a Parquet table of edges with string ids, larger than the memory it may take."""

import sys
import tempfile
from pathlib import Path

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from benchmarks.report import Rows
from benchmarks.settings import Settings
from benchmarks.whole_run import watched
from figure_kedro.datasets.sources.large_own import ROW_BYTES

NOTE = """
A Parquet file with a pair of ids in each row, `user-` and a number, drawn at random: ten rows for each node, so that
some pairs come twice and a few are loops. `kedro run --nodes=prepare_graph` reads it, builds and checks the undirected
graph and saves it; `features.structural=none`, so that nothing is made of it yet. `memory` is what the run may take.

- peak GiB: the most anonymous memory of the process, with all imports.
- seconds: of the processor, on as many threads as DuckDB takes, at most one for each core.
- GiB as a table: what the rows would take in memory while they become a graph, by the estimate that decides the way.
"""

SIZES = ((1_000_000, 1.0), (10_000_000, 4.0))
"""Nodes, and GiB that the run may take."""

ROWS_PER_NODE = 10
BLOCK = 1 << 20


def run(settings: Settings) -> pd.DataFrame:
    """Measure every size."""
    rows = Rows()
    with tempfile.TemporaryDirectory() as folder:
        for nodes, limit in ((2_000, 0.0001),) if settings.small else SIZES:
            path = write_edges(Path(folder) / f"edges_{nodes}.parquet", nodes)
            rows.add(measured(path, nodes, limit, Path(folder)))
    return rows.frame()


def measured(path: Path, nodes: int, limit: float, folder: Path) -> dict[str, object]:
    """Read a table, and tell what that took."""
    with tempfile.TemporaryDirectory(dir=folder) as data:
        params = {
            "dataset": "own",
            "source.edges": path,
            "data_folder": data,
            "memory": limit,
            "features.structural": "none",
        }
        option = ",".join(f"{name}={value}" for name, value in params.items())
        command = [sys.executable, "-m", "kedro", "run", "--nodes=data_processing.prepare_graph", "--params", option]
        *_, whole = watched(command)
    return {
        "nodes": nodes,
        "rows": pq.read_metadata(path).num_rows,
        "file GiB": path.stat().st_size / 2**30,
        "GiB as a table": ROW_BYTES * nodes * ROWS_PER_NODE / 2**30,
        "memory GiB": limit,
        "peak GiB": whole.peak,
        "seconds": whole.seconds,
    }


def write_edges(path: Path, nodes: int) -> Path:
    """A table of random edges; once more asked for, the file that is there."""
    if path.exists():
        return path
    rng, left = np.random.default_rng(nodes), nodes * ROWS_PER_NODE
    schema = pa.schema([("source", pa.string()), ("target", pa.string())])
    with pq.ParquetWriter(path, schema, compression="zstd") as writer:
        while left:
            rows = min(left, BLOCK)
            ends = [_names(rng.integers(nodes, size=rows)) for _ in range(2)]
            writer.write_table(pa.table(ends, schema=schema))
            left -= rows
    return path


def _names(numbers: np.ndarray) -> pa.Array:
    return pc.binary_join_element_wise("user", pa.array(numbers).cast(pa.string()), "-")
