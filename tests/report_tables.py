"""Small tables to make pages of."""

import base64

from figure_kedro.experiments.table import Shown, Table

HOSTILE = '</td><script>alert("1")</script> | `x` & 50% $x$ #1 a_b {c} ~d ^e \\f [g] *h* <b>'
PIXEL = base64.b64decode(
    "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg=="
)


def accuracy(value, state="done", **more):
    return Shown(state, value, 1.24, 10, "%", higher_is_better=True, **more)


def table(cells, **more):
    rows = tuple(dict.fromkeys(row for row, _ in cells))
    columns = tuple(dict.fromkeys(column for _, column in cells))
    return Table(**{"name": "table_1", "title": "Accuracy", "rows": rows, "columns": columns, "cells": cells} | more)
