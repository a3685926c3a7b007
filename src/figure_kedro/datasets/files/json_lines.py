"""A file to which records are only ever added, a line of JSON each."""

import json
import os
from pathlib import Path
from typing import Any


def add_line(path: Path, record: dict[str, Any]) -> None:
    """Add a record in one write, so that a kill leaves it whole or cuts the last line, which is then left behind."""
    path.parent.mkdir(parents=True, exist_ok=True)
    line = (json.dumps(record) + "\n").encode()
    descriptor = os.open(path, os.O_RDWR | os.O_APPEND | os.O_CREAT, 0o644)
    try:
        size = os.fstat(descriptor).st_size
        cut = size > 0 and os.pread(descriptor, 1, size - 1) != b"\n"
        os.write(descriptor, b"\n" + line if cut else line)
    finally:
        os.close(descriptor)


def read_lines(path: Path) -> list[dict[str, Any]]:
    """All records, without lines that are not whole; none if there is no file."""
    records = []
    for line in path.read_text(encoding="utf-8", errors="replace").splitlines() if path.exists() else ():
        try:
            records.append(json.loads(line))
        except ValueError:  # cut off by a kill
            continue
    return [record for record in records if isinstance(record, dict)]
