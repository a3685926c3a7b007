"""Trials of searches in Optuna's journal format, in a file that a kill or a full disk cannot spoil."""

import json
import os
import zlib
from pathlib import Path
from typing import Any

from optuna.storages import JournalStorage
from optuna.storages.journal import BaseJournalBackend

from figure_kedro.datasets.files.data_folder import saved

CHECKSUM = "crc32"

PUBLISH_SECONDS = 30.0
"""In a remote data folder: so much work on trials may be lost with a machine."""


class TrialJournal(BaseJournalBackend):
    """A line of JSON for every entry, each with its checksum, for ``optuna.storages.JournalStorage``.

    What counts is all before the first line that is cut off or damaged: later lines may refer to it. The rest is
    dropped when something is added, and the trials that it told of are run again. The file is made with its first
    entry; Optuna itself and its dashboard can read it.

    One process at a time writes to a journal; :mod:`figure_kedro.datasets.files.locks` sees to that.
    """

    def __init__(self, path: Path) -> None:
        self._path = path
        self._logs: list[dict[str, Any]] = []
        self._size = 0  # of the lines that were read

    def read_logs(self, log_number_from: int) -> list[dict[str, Any]]:
        if self._path.exists():
            with self._path.open("rb") as stream:
                stream.seek(self._size)
                for line in stream:
                    if (log := _checked(line)) is None:
                        break
                    self._logs.append(log)
                    self._size += len(line)
        return self._logs[log_number_from:]

    def append_logs(self, logs: list[dict[str, Any]]) -> None:
        self.read_logs(0)  # to know where the whole lines end
        self._path.parent.mkdir(parents=True, exist_ok=True)
        lines = b"".join(_line(log) for log in logs)
        with open(os.open(self._path, os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o644), "wb", buffering=0) as stream:
            if stream.seek(0, os.SEEK_END) > self._size:
                stream.truncate(self._size)
            try:
                if stream.write(lines) < len(lines):
                    raise OSError(f"{self._path} cannot be written; is the disk full?")
            except OSError:
                stream.truncate(self._size)
                raise
        saved(self._path, every=PUBLISH_SECONDS)


class TrialStorage(JournalStorage):
    """A :class:`TrialJournal` as Optuna's storage, which knows its file.

    Args:
        path: Of the file.
    """

    def __init__(self, path: Path) -> None:
        super().__init__(TrialJournal(path))
        self.path = path


def _line(log: dict[str, Any]) -> bytes:
    return json.dumps({**log, CHECKSUM: _checksum(log)}, separators=(",", ":")).encode() + b"\n"


def _checksum(log: dict[str, Any]) -> str:
    return f"{zlib.crc32(json.dumps(log).encode()):08x}"


def _checked(line: bytes) -> dict[str, Any] | None:
    """The entry of a line; nothing if it is not to the byte what was written."""
    try:
        log = json.loads(line)
        log.pop(CHECKSUM)
    except (ValueError, AttributeError, TypeError, KeyError, IndexError):
        return None
    return log if isinstance(log, dict) and _line(log) == line else None
