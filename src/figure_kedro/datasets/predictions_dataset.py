"""The table of predictions of all nodes on disk, written block by block."""

import json
from collections.abc import Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from figure_kedro.datasets.files.sealed_file import seal
from figure_kedro.datasets.files.writing import beside
from figure_kedro.datasets.sealed import ParquetDataset
from figure_kedro.evaluation.predictions import Predictions

GROUP_ROWS = 1 << 20
"""Rows that lie together in a file, as pandas writes them; so many are held at a time."""

GROUP_VALUES = 1 << 26
"""Values that lie together at most: of very many columns there are fewer rows."""


class PredictionsDataset(ParquetDataset):
    """Writes :class:`~figure_kedro.evaluation.predictions.Predictions` as they are made, as one Parquet file that
    appears whole and is checked when it is read; a table comes back.

    Up to sixty columns the file has the bytes that pandas would write of the whole table.

    Example::

        predictions:
          type: figure_kedro.datasets.predictions_dataset.PredictionsDataset
          filepath: data/07_model_output/cora/predictions.parquet
    """

    def save(self, data: Predictions) -> None:
        path = Path(str(self._filepath))
        with beside(path) as new:
            write_blocks(new, data)
            seal(new, path)


def write_blocks(path: Path, data: Predictions) -> None:
    """Write a table as Parquet, as many rows at a time as lie together in the file."""
    writer = None
    try:
        for group in _groups(data):
            if writer is None:
                writer = pq.ParquetWriter(path, _of_all_rows(group.schema, data.rows))
            writer.write_table(group.replace_schema_metadata(writer.schema.metadata), row_group_size=GROUP_ROWS)
            del group  # before the next one is gathered
    finally:
        if writer is not None:
            writer.close()


def _groups(data: Predictions) -> Iterator[pa.Table]:
    held: list[pa.Table] = []
    rows = 0
    for block in data.blocks():
        table = pa.Table.from_pandas(block)
        most = min(GROUP_ROWS, max(1, GROUP_VALUES // table.num_columns))
        while rows + len(table) > most:
            held.append(table.slice(0, most - rows))
            yield _together(held)
            table, rows = table.slice(most - rows), 0
        held.append(table)
        rows += len(table)
    yield _together(held)


def _together(held: list[pa.Table]) -> pa.Table:
    """One table of contiguous columns; how values are packed in the file would else depend on the blocks."""
    schema = held[0].schema
    columns = [[table.column(number) for table in held] for number in range(len(schema))]
    held.clear()
    arrays = []
    while columns:  # each column is freed when it has been copied
        arrays.append(pa.concat_arrays([chunk for column in columns.pop(0) for chunk in column.chunks]))
    return pa.table(arrays, schema=schema)


def _of_all_rows(schema: pa.Schema, rows: int) -> pa.Schema:
    """What pandas writes down of a table: its index counts all rows, and not those of a block."""
    described = json.loads(schema.metadata[b"pandas"])
    described["index_columns"][0]["stop"] = rows
    return schema.with_metadata({**schema.metadata, b"pandas": json.dumps(described).encode()})
