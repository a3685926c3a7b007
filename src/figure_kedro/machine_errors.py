"""What a machine lacks (space, memory, permission, files), told in one line that says what to do."""

import errno
import re
from collections.abc import Iterator
from pathlib import Path

from figure_kedro.datasets.files.writing import WAYS, cannot_write
from figure_kedro.errors import UserError

MEMORY = re.compile(r"can't allocate memory|out of memory|Unable to allocate|bad_alloc|malloc of size", re.IGNORECASE)
DATABASE = re.compile(
    r"\(sqlite3\.OperationalError\) ([^\n]*)|^(database or disk is full|disk I/O error|.*readonly database)$"
)


def find_user_error(error: BaseException | None) -> UserError | None:
    """The user's mistake behind an error that others have wrapped, or what the machine lacks, if it is one of these."""
    chain = list(_chain(error))
    mistakes = (found for found in chain if isinstance(found, UserError))
    return next(mistakes, None) or next(filter(None, map(machine_error, chain)), None)


def machine_error(error: BaseException) -> UserError | None:
    """One line about an error that comes from the machine and not from the program; none for any other."""
    if isinstance(error, MemoryError) or (isinstance(error, RuntimeError) and MEMORY.search(str(error))):
        need = re.search(r"(?:allocate|allocating|of size|Tried to allocate) ([\d.]+ ?\w+)", str(error))
        what = f" ({need[1]} at once)" if need else ""
        return UserError(
            f"there is too little memory for this{what}; take a smaller representation.dim or fewer threads, "
            "representation.strategy=decoupled, or a larger machine"
        )
    if isinstance(error, OSError) and error.filename is not None and error.errno in WAYS:
        if error.errno in (errno.EACCES, errno.EPERM) and _is_there(Path(str(error.filename))):
            return UserError(f"there is no permission to use {error.filename}; change that, or set another path")
        return UserError(cannot_write(Path(str(error.filename)), error))
    if isinstance(error, OSError) and error.errno in (errno.ENOSPC, errno.EDQUOT, errno.EMFILE, errno.ENFILE):
        return UserError(f"{(error.strerror or str(error)).lower()}; {WAYS[error.errno]}")
    if database := DATABASE.search(str(error)):
        reason = " ".join((database[1] or database[2]).split())
        return UserError(f"MLflow's database cannot be used ({reason}); see to the space and the rights of data_folder")
    return None


def _chain(error: BaseException | None) -> Iterator[BaseException]:
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        seen.add(id(error))
        yield error
        error = error.__cause__ or error.__context__


def _is_there(path: Path) -> bool:
    try:
        return path.is_file()
    except OSError:
        return False
