"""What the content of each published raw file must be.

``checksums.json`` maps the path of a raw file, relative to the folder or mirror it lies in, to one of

- a SHA-256 in hexadecimal digits;
- ``git-sha1:`` and the SHA-1 that git gives the file (as a blob), where that is all its publisher's repository tells.
  Good against damage and mix-ups; only for files in which nothing can be executed;
- ``null``, where no checksum is published: what is seen first is recorded beside the file and holds from then on.
  Also only for files in which nothing can be executed.
"""

import hashlib
import json
from functools import cache
from importlib import resources
from pathlib import Path

GIT = "git-sha1:"


@cache
def published_checksums() -> dict[str, str | None]:
    """The table of ``checksums.json``; a path that is not in it has no place among the raw files."""
    return json.loads(resources.files(__package__).joinpath("checksums.json").read_text(encoding="utf-8"))


def checksum_like(path: Path, expected: str) -> str:
    """Compute the checksum of a file in the form of ``expected``, without interpreting its content."""
    with path.open("rb") as stream:
        if not expected.startswith(GIT):
            return hashlib.file_digest(stream, "sha256").hexdigest()
        blob = hashlib.sha1(f"blob {path.stat().st_size}\0".encode(), usedforsecurity=False)
        while chunk := stream.read(1 << 20):
            blob.update(chunk)
        return GIT + blob.hexdigest()
