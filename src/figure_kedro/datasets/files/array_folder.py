"""Arrays and a description in a folder: the file format behind our datasets, without pickle."""

import hashlib
import json
import os
import shutil
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from figure_kedro.versions import check_format

DESCRIPTION = "description.json"

FORMAT = 2
"""Of the folder. 1 had labels and splits among the arrays of a graph."""


def write_arrays(folder: Path, arrays: dict[str, np.ndarray], description: dict[str, Any]) -> None:
    """Write each array as ``<name>.npy`` and the description as JSON; the folder appears whole or not at all.

    A folder that holds the same content already is left alone, so that runs which share it do not disturb each other.
    """
    description = {"format": FORMAT, **description, "content": _digest(arrays)}
    if (folder / DESCRIPTION).exists() and json.loads((folder / DESCRIPTION).read_text()) == description:
        return
    folder.parent.mkdir(parents=True, exist_ok=True)
    temporary = Path(tempfile.mkdtemp(prefix=f".{folder.name}-", dir=folder.parent))
    old = temporary.with_name(f"{temporary.name}-old")
    try:
        for name, array in arrays.items():
            np.save(temporary / f"{name}.npy", array, allow_pickle=False)
        write_description(temporary, description)
        temporary.chmod(0o755)
        if folder.exists():  # moved aside first: half of a deleted folder must never be found in its place
            os.replace(folder, old)
        os.replace(temporary, folder)
    finally:
        for rest in (temporary, old):
            shutil.rmtree(rest, ignore_errors=True)


def write_description(folder: Path, description: dict[str, Any]) -> None:
    """Write the description of a folder."""
    (folder / DESCRIPTION).write_text(json.dumps(description, indent=2))


def _digest(arrays: dict[str, np.ndarray]) -> str:
    digest = hashlib.sha256()
    for name, array in sorted(arrays.items()):
        digest.update(f"{name}{array.dtype.str}{array.shape}".encode())
        digest.update(np.ascontiguousarray(array).view(np.uint8).data if array.size else b"")
    return digest.hexdigest()


def read_arrays(folder: Path, *, changeable: bool = False) -> tuple[dict[str, np.ndarray], dict[str, Any]]:
    """Read what :func:`write_arrays` wrote; arrays are mapped from disk and read when they are used.

    Args:
        folder: Where they are.
        changeable: Whether the arrays can be written to, in memory alone; torch takes no others without a copy.
    """
    description = json.loads((folder / DESCRIPTION).read_text())
    check_format(description.get("format"), FORMAT, str(folder), oldest=FORMAT)
    arrays = {
        path.stem: np.load(path, mmap_mode="c" if changeable else "r", allow_pickle=False)
        for path in sorted(folder.glob("*.npy"))
    }
    return arrays, description
