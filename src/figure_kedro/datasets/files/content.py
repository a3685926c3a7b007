"""What a user's file holds, in short."""

import hashlib
from functools import lru_cache
from pathlib import Path

from figure_kedro.errors import UserError


def content_digest(path: str) -> str:
    """SHA-256 of a file's content, which names results that depend on it; the path does not matter.

    A file that has not changed since the last call of this process is not read again.

    Raises:
        UserError: If there is no such file.
    """
    try:
        state = Path(path).stat()
        return _digest(path, state.st_mtime_ns, state.st_size, state.st_ino)
    except OSError:
        raise UserError(
            f"there is no file {path} that can be read; relative paths start at the current directory ({Path.cwd()})"
        ) from None


@lru_cache(maxsize=64)
def _digest(path: str, *state: int) -> str:
    with Path(path).open("rb") as stream:
        return hashlib.file_digest(stream, "sha256").hexdigest()
