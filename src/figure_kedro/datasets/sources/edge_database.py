"""Edges between ids of any type as edges between row numbers, found by DuckDB within a limit of memory.

DuckDB sorts, finds distinct values and joins with what it may take and puts the rest into files; Polars, which can do
the same, has no limit that it keeps to.
"""

import errno
import os
from collections.abc import Iterator, Sequence
from contextlib import closing, contextmanager
from pathlib import Path
from types import TracebackType
from typing import Any, Self

import numpy as np
import pandas as pd
import pyarrow as pa

from figure_kedro.datasets.files.unfinished import Unfinished, remove_abandoned
from figure_kedro.datasets.files.writing import WAYS, cannot_write
from figure_kedro.datasets.sources.id_columns import IdColumn
from figure_kedro.errors import UserError
from figure_kedro.graph.graph import LONGEST_ID
from figure_kedro.graph.row_blocks import even_blocks
from figure_kedro.memory import GIB, memory

SHARE = 1 / 3
"""Of the run's memory that DuckDB takes; blocks of rows and the graph need some beside it."""

LEAST = 256 * 2**20
"""Bytes that DuckDB can work with."""

BATCH = 1 << 17
"""Rows that it hands over at a time."""

ENDS = ("source", "target")


class EdgeDatabase:
    """A table of edges in a file that is there while it is needed, and the ids of their nodes.

    Args:
        folder: Where the file and what does not fit into memory lie.
        columns: Of both ends.
        weighted: Whether edges have weights.

    Raises:
        UserError: If DuckDB is not installed; by every method, if there is too little space or memory.
    """

    def __init__(self, folder: Path, columns: Sequence[IdColumn], *, weighted: bool) -> None:
        try:
            import duckdb
        except ImportError:
            raise UserError(
                "a table that is larger than memory is read with DuckDB, which is not installed; run pip install "
                "'figure_kedro[large]', or raise memory"
            ) from None
        self._duckdb = duckdb
        self._folder, self._columns = folder, columns
        remove_abandoned(folder)  # what a run that was killed has left
        self._unfinished = Unfinished(folder / "edges", folder=True)
        limit = max(int(SHARE * memory().limit), LEAST)
        settings: dict[str, str | bool | int | float | list[str]] = {
            "memory_limit": f"{limit}B",
            "temp_directory": str(self._unfinished.path / "more"),
            "threads": max(1, min(os.cpu_count() or 1, limit // GIB)),
            "autoinstall_known_extensions": False,  # nothing is fetched
            "autoload_known_extensions": False,
        }
        with self._in_one_line():
            self._connection = duckdb.connect(str(self._unfinished.path / "edges.duckdb"), config=settings)
        types = [f"{name} {column.stored}" for name, column in zip(ENDS, columns, strict=True)]
        self._run(f"CREATE TABLE given ({', '.join([*types, *(['weight REAL'] if weighted else [])])})")
        self._weighted = weighted

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._connection.close()
        self._unfinished.discard()

    def add(self, ends: Sequence[pd.Series], weights: np.ndarray | None) -> None:
        """Add a block of edges."""
        arrays = [column.arrow(values) for column, values in zip(self._columns, ends, strict=True)]
        arrays += [] if weights is None else [pa.array(weights)]
        self._insert("given", pa.table(arrays, names=[*ENDS, "weight"][: len(arrays)]))

    def end_edges(self, others: np.ndarray | None = None) -> int:
        """All edges are there; find out what their ids are.

        Args:
            others: The ids of all nodes, if they are known.

        Returns:
            How many edges there are.
        """
        whole = [
            self._one(f"SELECT bool_and({column.is_whole(name)}) FROM given")
            for name, column in zip(ENDS, self._columns, strict=True)
        ]
        numbers = all(whole) and (others is None or others.dtype.kind == "i")
        ids = [
            column.as_ids(name, is_whole=bool(found), number=numbers)
            for name, column, found in zip(ENDS, self._columns, whole, strict=True)
        ]
        self._numbers = numbers
        chosen = [f"{expression} AS {name}" for name, expression in zip(ENDS, ids, strict=True)]
        chosen += ["weight"] if self._weighted else []
        self._run(f"CREATE VIEW edges AS SELECT {', '.join(chosen)} FROM given")
        return int(self._one("SELECT count(*) FROM given"))

    def begin_nodes(self, column: IdColumn) -> None:
        """Begin with the nodes of another table, whose ids are in such a column."""
        self._node_column = column
        self._run(f"CREATE TABLE given_nodes (id {column.stored})")

    def add_nodes(self, ids: pd.Series) -> None:
        """Add a block of nodes."""
        self._insert("given_nodes", pa.table({"id": self._node_column.arrow(ids)}))

    def first_repeated(self) -> str | None:
        """All nodes are there; the first id that has been there before, if there is one."""
        column = self._node_column
        whole = bool(self._one(f"SELECT bool_and({column.is_whole('id')}) FROM given_nodes"))
        chosen = column.as_ids("id", is_whole=whole, number=whole)
        self._are_nodes_numbers = whole
        self._run(f"CREATE VIEW known_nodes AS SELECT {chosen} AS id, rowid AS row FROM given_nodes")
        if self._one("SELECT count(DISTINCT id) = count(*) FROM known_nodes"):
            return None
        numbered = "SELECT id, row, row_number() OVER (PARTITION BY id ORDER BY row) AS time FROM known_nodes"
        return str(self._one(f"SELECT id FROM ({numbered}) WHERE time = 2 ORDER BY row LIMIT 1"))

    def node_ids(self) -> np.ndarray:
        """The ids of the nodes that were added ``(n,)`` in their order, in a file if they are large."""
        ids = self._ids("known_nodes", numbers=self._are_nodes_numbers)
        self._run("DROP VIEW known_nodes")
        self._run("DROP TABLE given_nodes")
        return ids

    def take_nodes(self, ids: np.ndarray) -> None:
        """The nodes are those of another table, in its order."""
        kind = "BIGINT" if self._numbers else "VARCHAR"
        self._run(f"CREATE TABLE nodes (id {kind})")
        for part in even_blocks(len(ids)):
            block = ids[part] if self._numbers else [str(value) for value in ids[part]]
            self._insert("nodes", pa.table({"id": pa.array(block)}))

    def find_nodes(self) -> np.ndarray:
        """The nodes are the ends of the edges; their ids ``(n,)`` in ascending order, in a file if they are large."""
        self._run(
            "CREATE TABLE nodes AS SELECT id FROM (SELECT source AS id FROM edges UNION SELECT target FROM edges) "
            "ORDER BY id"
        )
        return self._ids("nodes", numbers=self._numbers)

    def _ids(self, table: str, *, numbers: bool) -> np.ndarray:
        count = int(self._one(f"SELECT count(*) FROM {table}"))
        kind = "i8"
        if not numbers:
            longest = int(self._one(f"SELECT max(length(id)) FROM {table}"))
            if longest > LONGEST_ID:
                raise UserError(f"a node id has {longest} characters; ids have at most {LONGEST_ID}")
            kind = f"U{max(1, longest)}"
        ids = memory().empty(count, kind)
        done = 0
        for batch in self._batches(f"SELECT id FROM {table}"):
            ids[done : done + len(batch)] = batch.column(0).to_numpy(zero_copy_only=False)
            done += len(batch)
        return ids

    def rows(self, edges: int, nodes: int) -> Iterator[tuple[np.ndarray, np.ndarray, np.ndarray | None]]:
        """Edges as row numbers of both ends, with their weights, in any order, batch by batch.

        An end that is no node has -1.
        """
        kind = "INTEGER" if max(nodes, 2 * edges) <= np.iinfo(np.int32).max else "BIGINT"
        ends = [f"CAST(coalesce({name}s.rowid, -1) AS {kind})" for name in ENDS]
        joins = [f"LEFT JOIN nodes {name}s ON edges.{name} = {name}s.id" for name in ENDS]
        self._run("SET preserve_insertion_order = false")
        weight = ", weight" if self._weighted else ""
        for batch in self._batches(f"SELECT {', '.join(ends)}{weight} FROM edges {' '.join(joins)}"):
            source, target, *weights = (column.to_numpy() for column in batch.columns)
            yield source, target, weights[0] if weights else None

    def first_unknown(self) -> tuple[int, int, str]:
        """The first edge with an end that is no node: which end, which row of the table, and the id."""
        self._run("SET preserve_insertion_order = true")
        for end, name in enumerate(ENDS):
            row = self._one(
                f"SELECT min(edge) FROM (SELECT {name}, row_number() OVER () - 1 AS edge FROM edges) "
                f"ANTI JOIN nodes ON {name} = nodes.id"
            )
            if row is not None:
                return end, int(row), str(self._one(f"SELECT {name} FROM edges LIMIT 1 OFFSET {int(row)}"))
        raise ValueError("all ends are nodes")

    def count_ids(self) -> int:
        """How many different ids the edges have."""
        return int(self._one("SELECT count(*) FROM (SELECT source FROM edges UNION SELECT target FROM edges)"))

    def occurs_once(self) -> list[bool]:
        """Whether every id of an end stands there once."""
        return [bool(self._one(f"SELECT count(DISTINCT {name}) = count(*) FROM edges")) for name in ENDS]

    def _insert(self, table: str, block: pa.Table) -> None:
        self._connection.register("block", block)
        self._run(f"INSERT INTO {table} SELECT * FROM block")
        self._connection.unregister("block")

    def _run(self, statement: str) -> None:
        with self._in_one_line():
            self._connection.execute(statement)

    def _one(self, query: str) -> Any:
        with self._in_one_line():
            ((value,),) = self._connection.execute(query).fetchall()
            return value

    def _batches(self, query: str) -> Iterator[pa.RecordBatch]:
        with self._in_one_line(), closing(self._connection.cursor()) as cursor:  # which may be left before its end
            yield from cursor.sql(query).to_arrow_reader(BATCH)

    @contextmanager
    def _in_one_line(self) -> Iterator[None]:
        try:
            yield
        except self._duckdb.Error as error:
            text = " ".join(str(error).split())
            reason = next((number for number in WAYS if os.strerror(number).lower() in text.lower()), None)
            reason = errno.ENOSPC if "temp_directory_size" in text else reason
            if reason is not None:
                raise UserError(cannot_write(self._folder, OSError(reason, ""))) from error
            if isinstance(error, self._duckdb.IOException | self._duckdb.OutOfMemoryException):
                raise UserError(f"DuckDB cannot work on the edges ({text}); raise memory or free some disk") from error
            raise
