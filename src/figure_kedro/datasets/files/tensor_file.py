"""Tensors and a JSON description in one safetensors file, written whole or not at all."""

import hashlib
import json
from pathlib import Path
from typing import Any

import torch
from safetensors import SafetensorError, safe_open
from safetensors.torch import save_file

from figure_kedro.datasets.files.data_folder import saved
from figure_kedro.datasets.files.sealed_file import tell_damage
from figure_kedro.datasets.files.whole_file import write_whole
from figure_kedro.datasets.files.writing import beside
from figure_kedro.errors import DamagedFileError


def write_tensors(path: Path, tensors: dict[str, torch.Tensor], description: dict[str, Any]) -> None:
    """Write a file that appears whole or not at all, also if the process is killed meanwhile.

    The digest of tensors and description stands beside the latter.
    """
    contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
    text = json.dumps(description)
    with beside(path, sum(tensor.nbytes for tensor in contiguous.values())) as new:
        try:
            save_file(contiguous, new, metadata={"description": text, "digest": _digest(contiguous, text)})
        except SafetensorError as error:  # the library's own class for whatever the system says
            raise OSError(str(error)) from error


def read_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Read what :func:`write_tensors` wrote; a file of an older version has no digest, and is taken as it is.

    The library opens a file twice, for its description and for its tensors. One that was replaced in between is read
    again: each of the two was whole.

    Raises:
        DamagedFileError: If it is not what was written.
    """
    while True:
        seen = _identity(path)
        try:
            return _read(path)
        except DamagedFileError:
            if _identity(path) == seen:
                raise


def _identity(path: Path) -> tuple[int, int] | None:
    """Tells a file from another one that takes its place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_ino, found.st_mtime_ns


def _read(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    try:
        with safe_open(path, framework="pt") as file:
            metadata = file.metadata()
            tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dictionary)
        description = json.loads(metadata["description"])
    except (SafetensorError, OSError, ValueError, KeyError, TypeError, RuntimeError) as error:
        raise DamagedFileError(path, f"it is no file of tensors with a description: {error}") from error
    if metadata.get("digest", (found := _digest(tensors, metadata["description"]))) != found:
        raise DamagedFileError(path)
    return tensors, description


def are_tensors_whole(path: Path) -> bool:
    """Whether a file is there and whole; a damaged one is told of, because it is going to be made anew."""
    return CheckpointFile(path).load() is not None


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON file that appears whole or not at all."""
    write_whole(path, json.dumps(value, indent=2))


class CheckpointFile:
    """One checkpoint in one file, for :func:`figure_kedro.training.loop.train`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def __getstate__(self) -> dict[str, Any]:
        return {"_path": self._path.absolute()}  # another process may be in another folder

    def load(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        """The checkpoint; none if there is none, or a damaged one, which is told."""
        if not self._path.exists():
            return None
        try:
            return read_tensors(self._path)
        except DamagedFileError as error:
            tell_damage(error)
            return None

    def save(self, tensors: dict[str, torch.Tensor], description: dict[str, Any]) -> None:
        write_tensors(self._path, tensors, description)
        saved(self._path)


def _digest(tensors: dict[str, torch.Tensor], text: str) -> str:
    digest = hashlib.sha256(text.encode())
    for name, tensor in sorted(tensors.items()):
        digest.update(f"{name} {tensor.dtype} {tuple(tensor.shape)}".encode())
        digest.update(tensor.reshape(-1).view(torch.uint8).numpy().data)
    return digest.hexdigest()
