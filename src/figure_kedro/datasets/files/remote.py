"""A data folder on any file system that fsspec knows: what belongs to a key is fetched and published as a whole."""

import json
import logging
import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from functools import cached_property
from pathlib import Path, PurePosixPath
from typing import Any

from figure_kedro.datasets.files.content import digest_of
from figure_kedro.datasets.files.unfinished import ENDING, HIDDEN
from figure_kedro.datasets.files.whole_file import write_whole
from figure_kedro.datasets.files.writing import beside
from figure_kedro.errors import UserError

logger = logging.getLogger(__name__)

LISTINGS, MARKER = ".published", ".figure_kedro.json"
FORMAT = 1
"""Of listings."""

FILE = re.compile(r"(?:\d\d_\w+/(?P<dataset>[^/]+)/|runs/(?P<run_of>[^/]+)/[^/]+-)(?P<key>[^/-]+)(?:/.+)?")
"""Below a data folder: a layer, the name of a data set, the key of what decides the content, and a file; or a run."""

EXTRAS = {"s3": "s3", "s3a": "s3"}
"""Protocols whose package is an extra of this one."""

TELL_BYTES = 100_000_000
"""More than that is worth a line before it is sent or fetched."""

Listing = dict[str, str]
"""The files of a key by their paths below the data folder, each with the SHA-256 of its content."""


class Remote:
    """A remote data folder, whose keys are mirrored in a folder of this machine while a run works with them.

    Files lie there under the paths that they have here. A listing for each key is written after the files of the key:
    what is not listed is not there. A file that is newer than its listing, because its writer died between the two, is
    as good: all that is stored has a digest of its own, which is compared when it is read.

    Whoever calls holds the lock of the key on this machine. Between machines there is none: what two of them make of a
    key at a time is made twice, and each file is that of the one or the other.

    Args:
        uri: For instance ``s3://bucket/project``.
        folder: Of this machine.
    """

    def __init__(self, uri: str, folder: Path) -> None:
        self.uri, self.folder = uri.rstrip("/"), folder

    def name(self, path: Path) -> str:
        """The path of a file below the data folder."""
        return path.relative_to(self.folder).as_posix()

    def check(self) -> None:
        """See whether files can be written there; otherwise one line says why not, before anything is computed."""
        with self._reached() as (files, root):
            files.pipe_file(f"{root}/{MARKER}", json.dumps({"format": FORMAT}).encode())

    def all_keys(self) -> list[str]:
        """All keys of which something is published."""
        with self._reached() as (files, root):
            files.invalidate_cache()
            return sorted(PurePosixPath(path).stem for path in files.glob(f"{root}/{LISTINGS}/*.json"))

    def listing(self, key: str) -> Listing:
        """What is published of a key."""
        with self._reached() as (files, root):
            try:
                listed = dict(json.loads(files.cat_file(f"{root}/{LISTINGS}/{key}.json"))["files"])
            except (FileNotFoundError, ValueError, KeyError, TypeError):
                return {}
        return {name: digest for name, digest in listed.items() if key_of(name) == key and ".." not in name.split("/")}

    def fetch(self, key: str, only: Callable[[str], bool] = lambda name: True) -> None:
        """Get what is published of a key and not here, or has been published anew since the last time.

        Args:
            key: Of a data set, as :func:`key_of` gives it.
            only: Says which of the files are wanted.
        """
        listed, known = self.listing(key), self._known(key)
        wanted = []
        for name, digest in listed.items():
            here = self._digest(name) if only(name) else digest
            if here is None or (here != digest and known.get(name) != digest):
                wanted.append(name)
        for name in sorted(wanted):
            self._get(name)
        if wanted:
            logger.info("fetched %d files of %s from %s", len(wanted), key, self.uri)
        alike = {name: digest for name, digest in listed.items() if (self.folder / name).is_file()}
        if alike != known:
            self._remember(key, alike)

    def publish(self, key: str) -> None:
        """Put what is here of a key, and not there, to its place; what was published and is gone here is removed.

        Raises:
            UserError: If that fails. Nothing is lost by it: the same command publishes what lies in the folder.
        """
        here = {name: digest_of(self.folder / name) for name in self._names(key)}
        there = self.listing(key)
        gone = (self._known(key).keys() - here.keys()) & there.keys()
        new = [name for name, digest in here.items() if there.get(name) != digest]
        if new and (size := sum((self.folder / name).stat().st_size for name in new)) > TELL_BYTES:
            logger.info("publishing %d files, %.1f GB, to %s", len(new), size / 1e9, self.uri)
        for name in new:
            self._put(name)
        self._list(key, there, {name: digest for name, digest in there.items() if name not in gone} | here)
        self._remember(key, here)
        with self._reached() as (files, root):
            for name in gone:
                with suppress(FileNotFoundError):
                    files.rm_file(f"{root}/{name}")

    def publish_file(self, key: str, name: str) -> None:
        """Put one file of a key, which is still being worked on, to its place: a checkpoint, a journal."""
        digest, there = digest_of(self.folder / name), self.listing(key)
        if there.get(name) != digest:
            self._put(name)
            self._list(key, there, there | {name: digest})
            self._remember(key, self._known(key) | {name: digest})

    def _names(self, key: str) -> list[str]:
        """The files of a key here, but for links and for what is not finished."""
        dataset, _, short = key.rpartition("-")
        names = []
        for layer in (f"[0-9][0-9]_*/{dataset}/{short}", f"runs/{dataset}/*-{short}"):
            for path in (path for folder in self.folder.glob(layer) for path in sorted(folder.rglob("*"))):
                parts = path.relative_to(self.folder).parts
                unfinished = any(part.endswith(ENDING) or HIDDEN.match(part) for part in parts[3:])
                if path.is_file() and not path.is_symlink() and not unfinished:
                    names.append("/".join(parts))
        return names

    def _digest(self, name: str) -> str | None:
        path = self.folder / name
        return digest_of(path) if path.is_file() else None

    def _put(self, name: str) -> None:
        with self._reached() as (files, root):
            files.makedirs(str(PurePosixPath(f"{root}/{name}").parent), exist_ok=True)
            files.put_file(str(self.folder / name), f"{root}/{name}")

    def _get(self, name: str) -> None:
        with suppress(_GoneError), beside(self.folder / name) as new, self._reached() as (files, root):
            try:
                files.get_file(f"{root}/{name}", str(new))
            except FileNotFoundError as error:  # removed since it was listed; whoever needs it makes it anew
                raise _GoneError from error

    def _list(self, key: str, before: Listing, listing: Listing) -> None:
        if listing != before:
            with self._reached() as (files, root):
                files.makedirs(f"{root}/{LISTINGS}", exist_ok=True)
                content = json.dumps({"format": FORMAT, "files": listing}, indent=2)
                files.pipe_file(f"{root}/{LISTINGS}/{key}.json", content.encode())

    def _known(self, key: str) -> Listing:
        """What was here and there alike when this machine last fetched or published the key."""
        try:
            return dict(json.loads(self._note(key).read_text(encoding="utf-8")))
        except (OSError, ValueError):
            return {}

    def _remember(self, key: str, listing: Listing) -> None:
        write_whole(self._note(key), json.dumps(listing))

    def _note(self, key: str) -> Path:
        return self.folder / LISTINGS / f"{key}.json"

    @cached_property
    def _files(self) -> tuple[Any, str]:
        import fsspec

        return fsspec.core.url_to_fs(self.uri)

    @contextmanager
    def _reached(self) -> Iterator[tuple[Any, str]]:
        """The file system and the path of the folder in it; whatever it says against its use is one line."""
        try:
            yield self._files
        except (UserError, _GoneError):
            raise
        except ImportError as error:
            extra = EXTRAS.get(self.uri.partition("://")[0])
            way = f"pip install 'figure_kedro[{extra}]'" if extra else "install it, or choose another data_folder"
            raise UserError(f"{self.uri} needs a package that is not here ({_line(error)}); {way}") from error
        except PermissionError as error:
            raise UserError(
                f"there is no permission to use {self.uri} ({_line(error)}); see to credentials and rights, or choose "
                "another data_folder"
            ) from error
        except FileNotFoundError as error:
            raise UserError(
                f"there is no {self.uri} ({_line(error)}); make the bucket, or choose another data_folder"
            ) from error
        except Exception as error:  # each file system has errors of its own
            raise UserError(
                f"{self.uri} cannot be used ({type(error).__name__}: {_line(error)}); see to its address and "
                "credentials, or choose another data_folder"
            ) from error


def key_of(name: str) -> str | None:
    """The data set and the key that a path below a data folder belongs to, if it belongs to one.

    >>> key_of("06_models/cora/1a2b3c4d5e/weights.safetensors"), key_of("runs/cora/figure-512-1a2b3c4d5e")
    ('cora-1a2b3c4d5e', 'cora-1a2b3c4d5e')
    """
    found = FILE.fullmatch(name)
    return f"{found['dataset'] or found['run_of']}-{found['key']}" if found else None


class _GoneError(Exception):
    """A file that is listed and not there."""


def _line(error: BaseException) -> str:
    return " ".join(str(error).split())[:200]
