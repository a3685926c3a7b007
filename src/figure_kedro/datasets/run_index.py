"""One folder of a run that a person would look into: links to everything that it has left, and a list of them."""

import json
import os
import uuid
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from figure_kedro.datasets.files.data_folder import is_there, publish, shown
from figure_kedro.datasets.files.tensor_file import write_json
from figure_kedro.datasets.handles import _Handle
from figure_kedro.versions import check_format

FORMAT = 1
"""Of the list."""

MANIFEST = "manifest.json"

ON_REQUEST = ("embeddings", "model")
"""What a run may leave or not, as its settings say."""


class RunIndex:
    """Where a run leaves its files, which have several keys because runs share what they can.

    Args:
        folder: ``runs/<data set>/<name>-<key>`` of a data folder.
        key: Of the run.
        artefacts: What each file or folder is, and its path.
    """

    def __init__(self, folder: Path, key: str, artefacts: Mapping[str, Path]) -> None:
        self.folder, self.key = folder, key
        self.artefacts = dict(artefacts)

    def existing(self) -> dict[str, Path]:
        """Those that are there."""
        return {name: path for name, path in self.artefacts.items() if is_there(path)}

    def promised(self) -> dict[str, str]:
        """What there is when the run is over, for the record, which is written before: all but what is not kept."""
        there = self.existing()
        return {name: shown(path) for name, path in self.artefacts.items() if name not in ON_REQUEST or name in there}

    def lead_to(self, name: str, path: Path) -> None:
        """Put a link to something into the folder."""
        self.folder.mkdir(parents=True, exist_ok=True)
        _link(self.folder / name, os.path.relpath(path.resolve(), self.folder.resolve()))

    def write(self) -> None:
        """Link what is there, and list it; nothing is written for a run that has left nothing yet.

        Paths are relative to the folder, so that the data folder can be moved. Where the file system has no links
        there is the list alone.
        """
        found = {name: os.path.relpath(path.resolve(), self.folder.resolve()) for name, path in self.existing().items()}
        if not found:
            return
        self.folder.mkdir(parents=True, exist_ok=True)
        for name, path in found.items():
            if not self.artefacts[name].is_relative_to(self.folder):  # there is a link already
                _link(self.folder / f"{name}{Path(path).suffix}", path)
        write_json(self.folder / MANIFEST, {"format": FORMAT, "key": self.key, "artefacts": found})
        publish(self.folder)

    @classmethod
    def read(cls, folder: Path) -> "RunIndex":
        """What :meth:`write` has left in a folder."""
        stored = json.loads((folder / MANIFEST).read_text())
        check_format(stored.get("format"), FORMAT, str(folder / MANIFEST))
        paths = {name: Path(os.path.normpath(folder / path)) for name, path in stored["artefacts"].items()}
        return cls(folder, stored["key"], paths)


class RunIndexDataset(_Handle):
    """Hands out the :class:`RunIndex` of a run.

    Args:
        filepath: Of the folder.
        key: Of the run.
        artefacts: What each file is, and below it its ``path``.
        metadata: For Kedro-Viz.

    Example::

        run_index:
          type: figure_kedro.datasets.run_index.RunIndexDataset
          filepath: data/runs/cora/figure-512-${run_key:evaluation}
          key: ${run_key:evaluation}
          artefacts:
            embeddings: {path: "${embeddings.filepath}"}
    """

    def __init__(
        self, *, filepath: str, key: str, artefacts: dict[str, dict[str, str]], metadata: dict[str, Any] | None = None
    ) -> None:
        super().__init__(filepath=filepath, metadata=metadata)
        self._key, self._artefacts = key, artefacts

    def load(self) -> RunIndex:
        return RunIndex(self._path, self._key, {name: Path(entry["path"]) for name, entry in self._artefacts.items()})


def _link(link: Path, target: str) -> None:
    if link.exists() and not link.is_symlink():  # a file that somebody has put there
        return
    beside = link.with_name(f".{link.name}.{uuid.uuid4().hex[:8]}")
    try:
        beside.symlink_to(target)
        os.replace(beside, link)
    except (OSError, NotImplementedError):  # no links here; the list has the path
        beside.unlink(missing_ok=True)
