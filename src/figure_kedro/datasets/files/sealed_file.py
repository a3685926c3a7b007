"""Files whose content is checked when they are read.

The digests of all that was ever written to ``folder/name`` are the lines of ``folder/.digests/name``. A line is added
before the file takes its place, so neither a kill nor a second writer can part a file from its digest. A file without
such a list, of an older version or made by hand, is taken as it is.
"""

import hashlib
import logging
import os
from pathlib import Path

from figure_kedro.datasets.files.content import digest_of, remember
from figure_kedro.datasets.files.writing import beside, writing
from figure_kedro.errors import DamagedFileError

logger = logging.getLogger(__name__)

DIGESTS = ".digests"


def write_sealed(path: Path, content: str | bytes) -> None:
    """Write a file that appears whole or not at all, and its digest."""
    content = content if isinstance(content, bytes) else content.encode("utf-8")
    with beside(path, len(content)) as new:
        new.write_bytes(content)
        seal(new, path, hashlib.sha256(content).hexdigest())


def seal(new: Path, path: Path, digest: str | None = None) -> None:
    """Record the digest of a file that is about to take the place of another."""
    digest = digest or digest_of(new)
    remember(new, digest)
    digests = _digests(path)
    if digests.exists() and digest in digests.read_text(encoding="ascii", errors="replace"):
        return
    with writing(digests):
        digests.parent.mkdir(exist_ok=True)
        descriptor = os.open(digests, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644)
        try:
            os.write(descriptor, f"{digest}\n".encode())
        finally:
            os.close(descriptor)


def read_sealed(path: Path) -> bytes:
    """The content of a file that is whole.

    Raises:
        DamagedFileError: If it is not.
    """
    content = path.read_bytes()
    known = _read_digests(path)
    if known is not None and hashlib.sha256(content).hexdigest() not in known:
        raise DamagedFileError(path)
    return content


def check_sealed(path: Path) -> None:
    """Raise a :class:`DamagedFileError` unless a file is whole."""
    known = _read_digests(path)
    if known is not None and digest_of(path) not in known:
        raise DamagedFileError(path)


def is_whole(path: Path) -> bool:
    """Whether a file is there and whole; a damaged one is told of, because it is going to be made anew."""
    try:
        check_sealed(path)
    except DamagedFileError as error:
        tell_damage(error)
        return False
    return path.exists()


def tell_damage(error: Exception) -> None:
    """Say in one line that something is damaged and counts as missing."""
    logger.warning("%s", str(error).replace("; delete it, and it is made anew", "; it is made anew"))


def _digests(path: Path) -> Path:
    return path.parent / DIGESTS / path.name


def _read_digests(path: Path) -> str | None:
    digests = _digests(path)
    if not path.exists() or not digests.exists():
        return None
    return digests.read_text(encoding="ascii", errors="replace")
