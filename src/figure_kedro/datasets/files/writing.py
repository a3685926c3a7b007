"""Writing that ends with a whole file or with one line that says what is in the way."""

import errno
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from figure_kedro.datasets.files.unfinished import Unfinished
from figure_kedro.errors import UserError

WAYS = {
    errno.ENOSPC: "free some space, or set data_folder to a disk that has it",
    errno.EDQUOT: "free some space, or set data_folder to a disk that has it",
    errno.EFBIG: "raise the limit of file sizes (ulimit -f), or set data_folder to another disk",
    errno.EROFS: "set data_folder to a folder that can be written to",
    errno.EACCES: "set data_folder to a folder that you may write to",
    errno.EPERM: "set data_folder to a folder that you may write to",
    errno.ENAMETOOLONG: "set data_folder to a shorter path",
    errno.EMFILE: "raise the limit of open files (ulimit -n)",
    errno.ENFILE: "close some of the files that are open on this machine",
}
"""What to do about each kind of trouble."""


@contextmanager
def writing(path: Path, need: int = 0) -> Iterator[None]:
    """Tell whatever keeps a file from being written in one line.

    Args:
        path: Of the file or folder.
        need: How many bytes it takes, if that is known.

    Raises:
        UserError: With the path, the reason, what is needed and what to do.
    """
    try:
        yield
    except OSError as error:
        raise UserError(cannot_write(path, error, need)) from error


@contextmanager
def beside(path: Path, need: int = 0) -> Iterator[Path]:
    """A name beside the place of a file; what is written there takes the place at the end, or is removed."""
    with writing(path, need), Unfinished(path) as new:
        yield new.path
        new.put(path)


def cannot_write(path: Path, error: OSError, need: int = 0) -> str:
    """One line about a file that could not be written."""
    number = error.errno or (errno.ENOSPC if "requested and" in str(error) else None)  # numpy has no number for it
    reason = os.strerror(number).lower() if number else " ".join(str(error).split())
    size = f"; it takes {_size(need)}" if need else ""
    if number in (errno.ENOSPC, errno.EDQUOT):
        size += f"{' and' if need else ';'} {_size(_free(path))} {'is' if need else 'are'} free there"
    return f"{path} cannot be written: {reason}{size}; {WAYS.get(number or 0, 'set data_folder to another folder')}"


def _free(path: Path) -> int:
    folder = next(folder for folder in (path, *path.absolute().parents) if folder.exists())
    return shutil.disk_usage(folder).free


def _size(number: float) -> str:
    """Bytes for people.

    >>> _size(1_500_000)
    '1.5 MB'
    """
    for unit in ("bytes", "kB", "MB"):
        if number < 1000:
            return f"{number:.3g} {unit}"
        number /= 1000
    return f"{number:.3g} GB"
