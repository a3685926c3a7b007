"""Columns of ids in a database, which become whole numbers where all of them are, as in memory."""

from dataclasses import dataclass

import pandas as pd
import pyarrow as pa

from figure_kedro.graph.ids import as_text
from figure_kedro.graph.labels import WHOLE_NUMBER


@dataclass(frozen=True)
class IdColumn:
    """How one column of ids is kept until all of them have been seen.

    The rules are those of :func:`~figure_kedro.graph.ids.as_ids`, and those by which a text file is read.

    Args:
        stored: Its type in the database.
        whole: SQL that says of a ``VALUE`` whether it is a whole number.
        number: SQL that makes one of it.
    """

    stored: str
    whole: str
    number: str

    @classmethod
    def of(cls, values: pd.Series, *, is_text_file: bool) -> "IdColumn":
        """The way for a column that begins with these values."""
        kind = values.dtype
        if is_text_file:
            return cls("VARCHAR", f"regexp_full_match(VALUE, '{WHOLE_NUMBER.pattern}')", "CAST(VALUE AS BIGINT)")
        if pd.api.types.is_integer_dtype(kind) and str(kind).lower() != "uint64":
            return cls("BIGINT", "true", "VALUE")
        if pd.api.types.is_integer_dtype(kind):
            return cls("VARCHAR", "CAST(VALUE AS UBIGINT) <= 9223372036854775807", "CAST(VALUE AS BIGINT)")
        if pd.api.types.is_float_dtype(kind):
            value = "CAST(VALUE AS DOUBLE)"
            return cls("VARCHAR", f"{value} = floor({value}) AND abs({value}) < 2^53", f"CAST({value} AS BIGINT)")
        return cls("VARCHAR", "false", "VALUE")

    def arrow(self, values: pd.Series) -> pa.Array:
        """Values, none of them missing, as the database takes them."""
        if self.stored == "BIGINT":
            return pa.array(values.to_numpy("int64"))
        if isinstance(values.dtype, pd.StringDtype):
            return pa.array(values, type=pa.large_string())
        return pa.array(as_text(values.to_numpy(object)), type=pa.large_string())

    def is_whole(self, name: str) -> str:
        """SQL that says whether a value of the column is a whole number."""
        return f"({self.whole.replace('VALUE', name)})"

    def as_ids(self, name: str, *, is_whole: bool, number: bool) -> str:
        """SQL for the ids: numbers, or text if those of another column are.

        Args:
            name: Of the column.
            is_whole: Whether all of its values are whole numbers.
            number: Whether all ids are to be numbers.
        """
        value = self.number.replace("VALUE", name) if is_whole else name
        return value if number else f"CAST({value} AS VARCHAR)"
