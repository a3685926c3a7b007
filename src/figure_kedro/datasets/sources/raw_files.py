"""Published raw files: from the data folder, a mirror or the network, and never opened unchecked."""

import http.client
import logging
import os
import urllib.request
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Protocol

from figure_kedro.datasets.sources.checksums import checksum_like, published_checksums
from figure_kedro.errors import UserError

logger = logging.getLogger(__name__)

TIMEOUT = 30
"""Seconds that a silent server is waited for."""


class NoRawFileError(UserError):
    """A raw file that can be had neither here nor from its publisher.

    Args:
        message: The line for whoever ran this.
        why: The reason alone, without folders of this machine.
    """

    def __init__(self, message: str, why: str = "") -> None:
        super().__init__(message)
        self.why = why


class Readable(Protocol):
    """Something that gives its content in pieces."""

    def read(self, size: int, /) -> bytes: ...


class RawFiles:
    """A folder of raw files that fills itself, from a mirror if there is one and else by download.

    Every file is checked on every use and before anything interprets it, since some published files are pickles. It
    is written under another name beside its place and then renamed, so it is there whole or not at all.

    Args:
        folder: Where the files are kept, for instance ``data/01_raw``, in the layout that PyTorch Geometric expects
            of its ``root`` (``cora/geom-gcn/raw/ind.cora.x``).
        mirror: A folder with files at the same relative paths, read before the network is asked.
    """

    def __init__(self, folder: Path, mirror: Path | None = None) -> None:
        self.folder = folder
        self.mirror = mirror

    def get(self, relative_path: str, url: str | None, checksum: str | None) -> Path:
        """Provide one checked file.

        Args:
            relative_path: Of the file, below the folder and below the mirror.
            url: Where it is published; ``None`` if nowhere.
            checksum: As in :mod:`~figure_kedro.datasets.sources.checksums`.

        Raises:
            NoRawFileError: If the file cannot be had.
            UserError: If it is not the published one.
        """
        found = self.find(relative_path, checksum)
        if found is not None:
            return found
        reason = "it has no public address"
        if url is not None:
            logger.info("downloading %s from %s", relative_path, url)
            try:
                return self._download(relative_path, url, checksum)
            except (OSError, http.client.HTTPException) as error:
                reason = f"fetching {url} failed: {error}"
        reason = " ".join(reason.split())
        state = "damaged" if (self.folder / relative_path).is_file() else "missing"
        ways = "set raw_mirror (or FIGURE_RAW_MIRROR) to a folder that has it at this relative path"
        raise NoRawFileError(
            f"raw file {relative_path} is {state} in {self.folder}, "
            f"{f'not in {self.mirror}' if self.mirror else 'no mirror is set'}, and {reason}; {ways}"
            + ("" if url is None else ", or connect to the network"),
            f"{relative_path} could not be had where this was measured, {reason}",
        )

    def get_all(self, urls: Mapping[str, str | None]) -> dict[str, Path]:
        """Provide all files of a data set, given as relative paths and where each is published.

        Their checksums are the published ones; a path without an entry in the table is a ``KeyError``.
        """
        files = {}
        for number, (path, url) in enumerate(urls.items(), start=1):
            logger.debug("raw file %d of %d: %s", number, len(urls), path)
            files[path] = self.get(path, url, published_checksums()[path])
        logger.info("%d of %d raw files are there and checked, in %s", len(files), len(urls), self.folder)
        return files

    def find(self, relative_path: str, checksum: str | None) -> Path | None:
        """Provide one checked file if the folder or the mirror has it, without the network."""
        path = self.folder / relative_path
        expected = checksum or _recorded(path)
        if path.is_file():
            if expected is None:
                _record(path)
                return path
            if checksum_like(path, expected) == expected:
                return path
            logger.warning("%s is not the published file; fetching it again", path)
        if self.mirror is None or not (self.mirror / relative_path).is_file():
            return None
        logger.debug("copying %s from %s", relative_path, self.mirror)
        with (self.mirror / relative_path).open("rb") as stream:
            return self.add(relative_path, stream, checksum, f"{self.mirror / relative_path}")

    def add(self, relative_path: str, stream: Readable, checksum: str | None, origin: str) -> Path:
        """Write a stream to its place, if and only if it has the right checksum.

        Args:
            relative_path: Of the file.
            stream: Its content.
            checksum: As in :meth:`get`.
            origin: Where the stream comes from, for messages.
        """
        path = self.folder / relative_path
        path.parent.mkdir(parents=True, exist_ok=True)
        unchecked = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
        try:
            with unchecked.open("xb") as file:
                while chunk := stream.read(1 << 20):
                    file.write(chunk)
            expected = checksum or _recorded(path)
            if expected is not None and (found := checksum_like(unchecked, expected)) != expected:
                trust = "" if checksum else f" (or delete {_record_of(path)} to trust this one)"
                raise UserError(
                    f"{origin} is not the published {relative_path}: checksum {_short(found)} instead of "
                    f"{_short(expected)}; it was not used, provide another copy{trust}"
                )
            os.replace(unchecked, path)
        finally:
            unchecked.unlink(missing_ok=True)
        if expected is None:
            _record(path)
        return path

    def _download(self, relative_path: str, url: str, checksum: str | None) -> Path:
        with urllib.request.urlopen(url, timeout=TIMEOUT) as response:
            return self.add(relative_path, _Whole(response), checksum, url)


class _Whole:
    """A response that does not end early unnoticed: without a checksum its length is all there is to go by."""

    def __init__(self, response: http.client.HTTPResponse) -> None:
        self.response = response
        self.announced = response.headers.get("Content-Length")
        self.received = 0

    def read(self, size: int) -> bytes:
        chunk = self.response.read(size)
        self.received += len(chunk)
        if not chunk and self.announced is not None and self.received != int(self.announced):
            raise http.client.HTTPException(f"the transfer stopped after {self.received} of {self.announced} bytes")
        return chunk


def _record_of(path: Path) -> Path:
    return path.with_name(f"{path.name}.sha256")


def _recorded(path: Path) -> str | None:
    record = _record_of(path)
    return record.read_text(encoding="utf-8").strip() if record.is_file() else None


def _record(path: Path) -> None:
    found = checksum_like(path, "")
    logger.info("no checksum of %s is published; trusting %s from now on", path.name, _short(found))
    unfinished = path.with_name(f".{path.name}.{uuid.uuid4().hex}")
    unfinished.write_text(f"{found}\n", encoding="utf-8")
    os.replace(unfinished, _record_of(path))


def _short(checksum: str) -> str:
    kind, _, digits = checksum.rpartition(":")
    return f"{kind}:{digits[:12]}" if kind else digits[:12]
