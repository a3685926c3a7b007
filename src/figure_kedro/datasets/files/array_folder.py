"""Arrays and a description in a folder: the file format behind our datasets, without pickle."""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from figure_kedro.datasets.files.content import digest_of, remember
from figure_kedro.datasets.files.sealed_file import tell_damage
from figure_kedro.datasets.files.writing import writing
from figure_kedro.errors import DamagedFileError
from figure_kedro.versions import OldFormatError, check_format

DESCRIPTION = "description.json"

FORMAT = 3
"""Of the folder. 1 had labels and splits among the arrays of a graph, 2 no digest of every file."""


def write_arrays(folder: Path, arrays: dict[str, np.ndarray], description: dict[str, Any]) -> None:
    """Write each array as ``<name>.npy`` and the description as JSON; the folder appears whole or not at all.

    A folder that holds the same content already is left alone, so that runs which share it do not disturb each other;
    one whose files are damaged is replaced.
    """
    digests = {f"{name}.npy": array_digest(array) for name, array in arrays.items()}
    if _holds(folder, _described(description, digests)):
        return
    with writing(folder, sum(array.nbytes for array in arrays.values())):
        folder.parent.mkdir(parents=True, exist_ok=True)
        temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
        old = temporary.with_name(f"{temporary.name}-old")
        try:
            for name, array in arrays.items():
                save_array(temporary / f"{name}.npy", array, digests[f"{name}.npy"])
            write_description(temporary, description, digests)
            temporary.chmod(0o755)
            if folder.exists():  # moved aside first: half of a deleted folder must never be found in its place
                os.replace(folder, old)
            os.replace(temporary, folder)
        finally:
            for rest in (temporary, old):
                shutil.rmtree(rest, ignore_errors=True)


def array_digest(array: np.ndarray) -> str:
    """SHA-256 of the file that an array is saved to."""
    sink = _Sink()
    np.save(sink, array, allow_pickle=False)
    return sink.digest.hexdigest()


def save_array(path: Path, array: np.ndarray, digest: str | None = None) -> str:
    """Save an array, and give the digest of the file; what is read back by this process is not read twice."""
    digest = digest or array_digest(array)
    np.save(path, array, allow_pickle=False)
    remember(path, digest)
    return digest


def write_description(folder: Path, description: dict[str, Any], digests: dict[str, str]) -> None:
    """Write the description of a folder, with the digests of its files and one of its own."""
    (folder / DESCRIPTION).write_text(json.dumps(_described(description, digests), indent=2))


def read_arrays(folder: Path, *, changeable: bool = False) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what :func:`write_arrays` wrote; arrays are mapped from disk and read when they are used.

    Every file is compared with its digest, once in a process: that is one sequential read.

    Args:
        folder: Where they are.
        changeable: Whether the arrays can be written to, in memory alone; torch takes no others without a copy.

    Raises:
        DamagedFileError: If a file is not what was written.
        UserError: If the folder has another format.
    """
    description = check_arrays(folder)
    arrays = {
        name.removesuffix(".npy"): np.load(folder / name, mmap_mode="c" if changeable else "r", allow_pickle=False)
        for name in sorted(description["files"])
    }
    return arrays, description


def check_arrays(folder: Path) -> dict[str, Any]:
    """The description of a folder that is whole; otherwise as :func:`read_arrays`."""
    description = _read_description(folder)
    for name, digest in description["files"].items():
        try:
            found = digest_of(folder / name)
        except OSError as error:
            raise DamagedFileError(folder / name, error.strerror or "it cannot be read") from error
        if found != digest:
            raise DamagedFileError(folder / name)
    return description


def are_whole(folder: Path) -> bool:
    """Whether a folder is there and whole; a damaged or old one is told of, because it is going to be made anew."""
    if not folder.exists():
        return False
    try:
        check_arrays(folder)
    except (DamagedFileError, OldFormatError) as error:
        tell_damage(error)
        return False
    return True


def _holds(folder: Path, described: dict[str, Any]) -> bool:
    """Whether a folder is whole and has that description."""
    try:
        return folder.exists() and check_arrays(folder) == described
    except ValueError:  # damaged, or of another format
        return False


def _described(description: dict[str, Any], digests: dict[str, str]) -> dict[str, Any]:
    whole = json.loads(json.dumps({"format": FORMAT, **description, "files": digests}))
    return {**whole, "digest": _digest(whole)}


def _digest(description: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(description, sort_keys=True).encode()).hexdigest()


def _read_description(folder: Path) -> dict[str, Any]:
    path = folder / DESCRIPTION
    try:
        description = json.loads(path.read_bytes())
    except (OSError, ValueError, RecursionError) as error:
        raise DamagedFileError(path, str(error)) from error
    if not isinstance(description, dict):
        raise DamagedFileError(path)
    check_format(description.get("format"), FORMAT, str(folder), oldest=FORMAT)
    if description.get("digest") != _digest({name: value for name, value in description.items() if name != "digest"}):
        raise DamagedFileError(path)
    return description


class _Sink:
    """A file that keeps nothing but the digest of what is written to it."""

    def __init__(self) -> None:
        self.digest = hashlib.sha256()

    def write(self, content: bytes) -> int:
        self.digest.update(content)
        return len(content)
