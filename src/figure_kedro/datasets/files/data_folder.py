"""Where artefacts are kept: a folder of this machine, or a remote one that is mirrored in one."""

import logging
import os
import re
import time
from collections.abc import Callable
from pathlib import Path

from figure_kedro.datasets.files.locks import Lock
from figure_kedro.datasets.files.remote import Remote, key_of
from figure_kedro.errors import UserError, nearest

logger = logging.getLogger(__name__)

CACHE = "FIGURE_REMOTE_CACHE"
"""The variable that names the folder below which remote data folders are mirrored."""

PLACE = re.compile(r"(?P<root>.+)/\d\d_\w+/(?P<dataset>[^/]+)/(?P<key>[^/]+)(/.*)?")
"""Where an artefact is: below a data folder, a layer, the name of a data set and the key of what decides it."""

HERE, READ_ONLY = {"file", "local"}, {"http", "https", "data"}

_mirrored: dict[Path, Remote] = {}
_sent: dict[Path, float] = {}


def is_address(data_folder: str) -> bool:
    """Whether a data folder is a remote one."""
    return "://" in data_folder or data_folder.startswith("file:")


def check_address(data_folder: str) -> None:
    """See whether an address can be that of a data folder, without asking anybody.

    Raises:
        UserError: If it cannot.
    """
    import fsspec

    protocol, _, path = data_folder.partition("://")
    if protocol in HERE or data_folder.startswith("file:"):
        raise UserError(f"{data_folder} is an address of this machine; give the folder as a plain path")
    if protocol in READ_ONLY:
        raise UserError(
            f"{data_folder} is an address that can only be read; choose a storage, such as s3://bucket/name"
        )
    if protocol not in fsspec.available_protocols():
        raise UserError(f"no storage is known as {protocol}://; {nearest(protocol, fsspec.available_protocols())}")
    if "@" in path:
        raise UserError("an address with a name or a password would be shown to everybody; leave it to the environment")
    if not path.strip("/") or ".." in path.split("/") or "::" in data_folder:
        raise UserError(f"{data_folder} is no address of a folder; write it as in s3://bucket/name")


def local_folder(project: Path, data_folder: str) -> Path:
    """The folder of this machine that artefacts are read from and written to.

    Args:
        project: Root of the project, at which relative paths start.
        data_folder: A path, or the address of a remote folder: that one's mirror is below the folder that the
            variable ``FIGURE_REMOTE_CACHE`` names, or below ``data/remote`` of the project.
    """
    if not is_address(data_folder):
        return project / data_folder
    protocol, _, path = data_folder.partition("://")
    cache = Path(os.environ.get(CACHE) or project / "data" / "remote").resolve()
    folder = cache.joinpath(protocol, *filter(None, path.split("/")))
    if folder not in _mirrored:
        _mirrored[folder] = Remote(data_folder, folder)
    return folder


def remote_of(path: Path) -> Remote | None:
    """The remote data folder that a path of this machine mirrors a part of."""
    if not _mirrored:
        return None
    path = path.absolute()
    return next((remote for folder, remote in _mirrored.items() if path.is_relative_to(folder)), None)


def fetch(path: Path, *, held: bool = False, only: Callable[[str], bool] = lambda name: True) -> None:
    """Get what is published of the key that a path belongs to; nothing happens in a data folder of this machine.

    Args:
        path: A file or folder.
        held: Whether the caller holds the lock of the key. Otherwise it is taken for that long, and if another process
            has it nothing is fetched: that one has.
        only: Says which files of the key are wanted, by their paths below the data folder.
    """
    remote, key = _found(path)
    if remote is None or key is None:
        return
    lock = Lock(remote.folder / "locks" / f"{key}.lock")
    if held or lock.acquire_now():
        try:
            remote.fetch(key, only)
        finally:
            lock.release()


def fetch_missing(path: Path) -> None:
    """Get the key of something that is not here: a catalog in a notebook is asked for it, and no run."""
    if not path.exists():
        fetch(path)


def publish(path: Path) -> None:
    """Put all that is here of the key that a path belongs to, which the caller holds, to its remote folder.

    Raises:
        UserError: If that fails.
    """
    remote, key = _found(path)
    if remote is None or key is None:
        return
    try:
        remote.publish(key)
    except UserError as error:
        kept = f"what was made is in {remote.folder}, and the same command publishes it"
        raise UserError(f"{error}; {kept}") from error


def check_storage(data_folder: Path) -> None:
    """See whether the remote data folder that is mirrored here can be written to, before anything is computed."""
    if (remote := remote_of(data_folder)) is not None:
        remote.check()


def fetch_records(data_folder: Path) -> None:
    """Get the lists of files and the records of all runs that are published; nothing else of them."""
    if (remote := remote_of(data_folder)) is not None:
        for key in remote.all_keys():
            remote.fetch(key, lambda name: name.startswith("runs/") or name.endswith("/summary.json"))


def saved(path: Path, every: float = 0.0) -> None:
    """Publish a file that is still being worked on, so that another machine can go on from there.

    A storage that cannot be reached at the moment is worth a line, but does not end the work.

    Args:
        path: Of a checkpoint or a journal.
        every: Seconds between two times of it; in between nothing happens.
    """
    remote, key = _found(path)
    if remote is None or key is None:
        return
    if time.monotonic() - _sent.get(path, -every) < every:
        return
    try:
        remote.publish_file(key, remote.name(path.absolute()))
    except UserError as error:
        logger.warning("%s is not published: %s", path.name, error)
    _sent[path] = time.monotonic()


def address(path: Path) -> str:
    """Where something is for everybody: a path of this machine, or what it is a mirror of."""
    remote = remote_of(path)
    return str(path) if remote is None else f"{remote.uri}/{remote.name(path.absolute())}".removesuffix("/.")


def shown(path: Path) -> str:
    """The same as a person would type it here."""
    here = remote_of(path) is None and path.is_relative_to(Path.cwd())
    return str(path.relative_to(Path.cwd())) if here else address(path)


def is_there(path: Path) -> bool:
    """Whether something exists here or is published."""
    if path.exists():
        return True
    remote, key = _found(path)
    if remote is None or key is None:
        return False
    name = remote.name(path.absolute())
    return any(f"{listed}/".startswith(f"{name}/") for listed in remote.listing(key))


def _found(path: Path) -> tuple[Remote | None, str | None]:
    """The remote folder and the key that a path belongs to."""
    remote = remote_of(path)
    return remote, None if remote is None else key_of(remote.name(path.absolute()))
