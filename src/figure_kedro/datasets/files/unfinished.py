"""Files and folders that are being made, and what is left of them when their makers were killed."""

import os
import re
import shutil
import uuid
import weakref
from contextlib import suppress
from pathlib import Path
from types import TracebackType
from typing import Self

from figure_kedro.datasets.files.locks import locked

ENDING = ".part"

HIDDEN = re.compile(r"^\..+[-.][0-9a-z_]{4,}(-old)?$")
"""Names under which other parts of this package, and older versions of it, make things."""


class Unfinished:
    """A file or folder beside its place, under a name that nobody else uses, until it is put there or discarded.

    Its maker holds a lock on it, so that :func:`remove_abandoned` can tell it from one whose maker is dead. Renaming it
    puts it into its place; what is still there is removed at the end of the ``with`` block, or of the process.

    Args:
        place: Where it is going to be.
        folder: Whether it is a folder.

    Attributes:
        path: Where it is.
        discard: Removes what is there of it.
    """

    def __init__(self, place: Path, *, folder: bool = False) -> None:
        place.parent.mkdir(parents=True, exist_ok=True)
        while True:
            self.path = place.with_name(f".{place.name}.{uuid.uuid4().hex[:12]}{ENDING}")
            if folder:
                self.path.mkdir()
            else:
                self.path.touch()
            try:
                descriptor = os.open(self.path, os.O_RDONLY)
            except FileNotFoundError:  # taken for abandoned between these lines
                continue
            if locked(descriptor) and self.path.exists():
                self.discard = weakref.finalize(self, _discard, self.path, descriptor)
                return
            os.close(descriptor)

    def put(self, place: Path) -> None:
        """Rename it, in one step, over whatever file is in its place."""
        os.replace(self.path, place)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.discard()


def remove_abandoned(folder: Path, *, owned: bool = False) -> list[Path]:
    """Remove what dead processes have left unfinished in a folder, and nothing that somebody is working on.

    Args:
        folder: Looked at by itself, not what is below it.
        owned: Whether the caller holds the lock under which alone something is made in this folder. Then what was made
            without a lock of its own is removed too.

    Returns:
        What was removed.
    """
    removed = []
    for path in folder.iterdir() if folder.is_dir() else ():
        if path.name.startswith(".") and path.name.endswith(ENDING):
            abandoned = _is_free(path)
        else:
            abandoned = owned and HIDDEN.match(path.name) is not None
        if abandoned:
            _remove(path)
            removed.append(path)
    return removed


def _discard(path: Path, descriptor: int) -> None:
    _remove(path)
    os.close(descriptor)


def _is_free(path: Path) -> bool:
    try:
        descriptor = os.open(path, os.O_RDONLY)
    except OSError:
        return False
    try:
        return locked(descriptor)
    finally:
        os.close(descriptor)


def _remove(path: Path) -> None:
    if path.is_dir():
        shutil.rmtree(path, ignore_errors=True)
    else:
        with suppress(OSError):
            path.unlink(missing_ok=True)
