"""How much memory a run may take, and arrays that lie in files where they would take too much of it."""

import os
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import inf, prod
from mmap import mmap
from pathlib import Path

import numpy as np
import numpy.typing as npt

from figure_kedro.errors import UserError

GIB = 2**30

FREE_SHARE = 0.7
"""Share of the free memory that a run takes unless its settings say otherwise."""

ARRAY_SHARE = 1 / 16
"""Share of the limit that one array may take in memory. There are seldom more than ten large ones at a time."""

UNLIMITED = 2**62
"""Bytes that no array reaches."""

Scratch = Callable[[tuple[int, ...], npt.DTypeLike], np.ndarray]
"""Makes an array that lies in a file of its own and is gone, with the file, when nobody uses it any more."""


@dataclass(frozen=True)
class Memory:
    """What a run may take.

    Args:
        limit: Bytes.
        scratch: Makes the arrays that are too large; ``None`` keeps all in memory, where there is no place for files.
    """

    limit: int = UNLIMITED
    scratch: Scratch | None = None

    def empty(self, shape: int | tuple[int, ...], dtype: npt.DTypeLike = np.float32) -> np.ndarray:
        """An array to fill, in memory if it is small against the limit and else in a file mapped from disk."""
        shape = (shape,) if isinstance(shape, int) else shape
        size = prod(shape) * np.dtype(dtype).itemsize
        return np.empty(shape, dtype) if self.holds(size) or self.scratch is None else self.scratch(shape, dtype)

    def holds(self, size: float) -> bool:
        """Whether an array of so many bytes may be in memory."""
        return size <= ARRAY_SHARE * self.limit

    def entries(self, entry_bytes: int) -> int:
        """How many entries may be worked on at a time if each of them takes so many bytes."""
        return max(1, int(ARRAY_SHARE * self.limit) // entry_bytes)


_current = Memory()


def memory() -> Memory:
    """What this process may take; without a limit unless :func:`use_memory` has set one."""
    return _current


@contextmanager
def use_memory(limited: Memory) -> Iterator[Memory]:
    """Let the whole process, with all its threads, keep to a limit inside a ``with`` block."""
    before = set_memory(limited)
    try:
        yield limited
    finally:
        set_memory(before)


def set_memory(limited: Memory) -> Memory:
    """Let the whole process keep to a limit from now on; returns the one that was set before."""
    global _current  # memory belongs to the process, as its number of threads does
    before, _current = _current, limited
    return before


def is_mapped(array: np.ndarray) -> bool:
    """Whether an array lies in a file mapped from disk."""
    holder: object = array
    while holder is not None and not isinstance(holder, np.memmap | mmap):
        holder = getattr(holder, "base", None)
    return holder is not None


def free_memory() -> int:
    """Bytes of main memory that are free, or can be made free, in this machine or container."""
    meminfo = Path("/proc/meminfo")
    if meminfo.exists():
        fields = dict(line.split(":") for line in meminfo.read_text().splitlines())
        return int(min(int(fields["MemAvailable"].split()[0]) * 1024, _container_memory()))
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE")


def check_memory(need: float, what: str, way: str) -> None:
    """Say what something takes before it is begun, if that is more than there is.

    Args:
        need: Bytes that it takes at the least.
        what: Names it.
        way: What to do instead.

    Raises:
        UserError: If it does not fit.
    """
    free = free_memory()
    if need > free:
        raise UserError(f"{what} takes at least {need / 1e9:.3g} GB of memory and {free / 1e9:.3g} GB are free; {way}")


def _container_memory() -> float:
    """What is left of the limit of a container, if there is one."""
    try:
        limit = int(Path("/sys/fs/cgroup/memory.max").read_text())
        return limit - int(Path("/sys/fs/cgroup/memory.current").read_text())
    except (OSError, ValueError):  # no such file, or no limit: the file says "max"
        return inf
