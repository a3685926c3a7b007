"""What a file holds, in short."""

import hashlib
import json
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from figure_kedro.errors import UserError

_known: dict[tuple[int, ...], str] = {}
"""Digests of files by their state; a file whose content changes gets another state."""


def content_digest(path: str) -> str:
    """SHA-256 of a user's file, which names results that depend on it; the path does not matter.

    Of a folder it is that of all its files and their names; hidden ones, and those that begin with an underscore, are
    left out, as readers of Parquet do.

    Raises:
        UserError: If there is no such file.
    """
    try:
        if not Path(path).is_dir():
            return digest_of(Path(path))
        files = {str(file.relative_to(path)): digest_of(file) for file in _files(Path(path))}
    except OSError:
        raise UserError(
            f"there is no file {path} that can be read; relative paths start at the current directory ({Path.cwd()})"
        ) from None
    if not files:
        raise UserError(f"there is no file in the folder {path}; name a file, or a folder of Parquet files")
    return hashlib.sha256(json.dumps(files, sort_keys=True).encode()).hexdigest()


@contextmanager
def unchanged(*paths: str) -> Iterator[None]:
    """See to it that the user's files stay as they are while they are read.

    Raises:
        UserError: If they do not, instead of whatever came of it.
    """
    before = [_states(path) for path in paths]
    try:
        yield
    finally:
        for path, states in zip(paths, before, strict=True):
            if _states(path) != states:
                raise UserError(f"{path} has changed while it was read; run again when nobody writes to it")


def _states(path: str) -> list[tuple[int, ...]]:
    try:
        return [_state(file) for file in (_files(Path(path)) if Path(path).is_dir() else [Path(path)])]
    except OSError:  # it is gone, which is a change, or was never there
        return []


def _files(folder: Path) -> Iterator[Path]:
    for file in sorted(folder.rglob("*")):
        if file.is_file() and not any(part.startswith((".", "_")) for part in file.relative_to(folder).parts):
            yield file


def digest_of(path: Path) -> str:
    """SHA-256 of a file's content. A file that has not changed since the last call of this process is not read again.

    Raises:
        OSError: If it cannot be read.
    """
    state = _state(path)
    if state not in _known:
        with path.open("rb") as stream:
            _known[state] = hashlib.file_digest(stream, "sha256").hexdigest()
    return _known[state]


def remember(path: Path, digest: str) -> None:
    """Take a digest as known that was computed while the file was written; renaming the file does not change that."""
    _known[_state(path)] = digest


def forget() -> None:
    """Read every file again, as another process would."""
    _known.clear()


def _state(path: Path) -> tuple[int, ...]:
    state = path.stat()
    return state.st_dev, state.st_ino, state.st_size, state.st_mtime_ns
