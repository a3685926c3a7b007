"""Locks on files and folders that the system frees when a process ends, in whatever way it ends.

They are ``flock`` locks: they hold between processes of one machine, between containers that share a folder, and
between machines on a file system that passes them on, as NFS 4 does. Where there are none, nobody waits for anybody.
"""

import os
import socket
import time
import weakref
from collections.abc import Callable
from pathlib import Path

try:
    import fcntl
except ImportError:  # Windows
    fcntl = None  # type: ignore[assignment]  # where there are no such locks, none are held

LOOK_SECONDS = 0.2
"""How often whoever waits looks again."""


TELL_SECONDS = 1.0
"""Shorter waits are not worth a line."""


class Lock:
    """A file that one process at a time holds, and that is there only while it is held or was held by one that died.

    Args:
        path: Of the file.
        stays: Whether the file stays if the process ends before it has let go, as it does after a kill.

    Attributes:
        release: Lets go of it and removes the file; at the latest when the process ends, unless it is killed.
    """

    def __init__(self, path: Path, *, stays: bool = False) -> None:
        self.path, self._stays = path, stays
        self.release: Callable[[], object] = lambda: None

    def acquire(self, tell: Callable[[str], None] = lambda owner: None) -> None:
        """Wait until nobody else holds it.

        Args:
            tell: Called once, with who holds it, if that takes a while.
        """
        began, told = time.monotonic(), False
        while not self.acquire_now():
            if not told and time.monotonic() - began > TELL_SECONDS and (owner := self._owner()):
                tell(owner)
                told = True
            time.sleep(LOOK_SECONDS)

    def acquire_now(self, *, create: bool = True) -> bool:
        """Hold it if nobody does, and say whether it is held now.

        Args:
            create: Whether a file that is not there is made; otherwise it is not held.
        """
        try:
            if create:
                self.path.parent.mkdir(parents=True, exist_ok=True)
            descriptor = os.open(self.path, os.O_RDWR | (os.O_CREAT if create else 0), 0o644)
        except FileNotFoundError:
            return False
        if not locked(descriptor) or not _is_at(descriptor, self.path):  # held, or removed by whoever held it
            os.close(descriptor)
            return False
        os.truncate(descriptor, 0)
        os.write(descriptor, f"process {os.getpid()} on {socket.gethostname()}".encode())
        self.release = release = weakref.finalize(self, _release, self.path, descriptor)
        release.atexit = not self._stays
        return True

    def _owner(self) -> str:
        try:
            return self.path.read_text()
        except OSError:
            return ""


def _release(path: Path, descriptor: int) -> None:
    path.unlink(missing_ok=True)  # while it is held: whoever waits for this file then makes another
    os.close(descriptor)


def remove_dead(folder: Path) -> None:
    """Remove the files of locks that nobody holds, because whoever held them was killed."""
    for path in folder.glob("*.lock"):
        lock = Lock(path)
        if lock.acquire_now(create=False):
            lock.release()


def locked(descriptor: int) -> bool:
    """Lock an open file or folder unless another process has, and say whether this one may go on."""
    if fcntl is None:
        return True
    try:
        fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks
        return True
    return True


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), path.stat())
    except FileNotFoundError:
        return False
