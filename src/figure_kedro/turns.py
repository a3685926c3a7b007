"""Commands that make the same results take turns: one works, the others wait and then find what it has left."""

import logging
import re
import threading
from collections.abc import Iterable
from pathlib import Path
from typing import Any

from kedro.framework.hooks import hook_impl
from kedro.io import DataCatalog
from kedro.pipeline import Pipeline
from kedro.pipeline.node import Node

from figure_kedro.datasets.files.data_folder import PLACE, fetch, publish
from figure_kedro.datasets.files.locks import Lock
from figure_kedro.datasets.files.unfinished import remove_abandoned

logger = logging.getLogger(__name__)


class Turns:
    """Holds the lock of the key under which the running node writes, from before its inputs are read.

    A process holds the locks of one node at a time, taken in one order, so that no two wait for each other; nodes that
    write under the same key share their turn. The system frees the lock of a process that is killed, and whoever comes
    next goes on from its checkpoint and its journal, and removes what it left half-written.

    With a remote data folder, what is published of a key is fetched when its turn begins, and what the turn has made is
    published when it ends.

    Args:
        catalog: Knows where a node writes.
    """

    def __init__(self, catalog: DataCatalog) -> None:
        self._catalog = catalog
        self._held: dict[Path, Lock] = {}
        self._places: list[Path] = []  # one below each of their keys
        self._all = False
        self._one_at_a_time = threading.Lock()  # with --async inputs are loaded by several threads

    @hook_impl
    def before_dataset_loaded(self, node: Node) -> None:
        self.take(node)

    @hook_impl
    def before_node_run(self, node: Node) -> None:
        self.take(node)

    def take(self, node: Node) -> None:
        """Wait for the turn of a node."""
        if not self._all:
            self._hold(self._locks([node]))

    def take_all(self, pipeline: Pipeline) -> None:
        """Wait for the turn of all nodes, for a runner that runs several of them at a time."""
        self._all = True
        self._hold(self._locks(pipeline.nodes))

    def end(self) -> None:
        """Let the others go on."""
        try:
            for place in self._places:
                publish(place)
        finally:
            for lock in self._held.values():
                lock.release()
            self._held, self._places = {}, []

    def _locks(self, nodes: Iterable[Node]) -> dict[Path, re.Match[str]]:
        """The locks of what nodes write, each with a place below its key."""
        outputs = {name for node in nodes for name in node.outputs}
        found = [PLACE.fullmatch(_path(self._catalog.get(name))) for name in outputs]
        return {
            Path(place["root"], "locks", f"{place['dataset']}-{place['key']}.lock"): place for place in found if place
        }

    def _hold(self, wanted: dict[Path, re.Match[str]]) -> None:
        with self._one_at_a_time:
            if wanted.keys() == self._held.keys():
                return
            self.end()
            for path, place in sorted(wanted.items(), key=lambda item: item[0]):
                self._held[path] = lock = Lock(path)
                lock.acquire(lambda owner: logger.info("waiting for %s, which makes the same results", owner))
                for folder in Path(place["root"]).glob(f"[0-9][0-9]_*/{place['dataset']}/{place['key']}"):
                    for left in remove_abandoned(folder, owned=True):
                        logger.info("removed %s, which a run that was killed had left", left)
                fetch(Path(place[0]), held=True)
                self._places.append(Path(place[0]))


def _path(dataset: Any) -> str:
    path = getattr(dataset, "_filepath", None) or getattr(dataset, "_path", None)
    return Path(path).absolute().as_posix() if path else ""
