"""How many threads of the CPU a computation takes."""

import math
import os
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import torch

LOOK_SECONDS = 0.05
"""How long the machine is looked at to see what others leave free."""

PROC_STAT, CPU_MAX = Path("/proc/stat"), Path("/sys/fs/cgroup/cpu.max")


@contextmanager
def threads(wanted: int = 0) -> Iterator[int]:
    """Give torch that many threads inside a ``with`` block, and what it had before after it.

    On cores that others use as well, threads that wait for each other can be many times slower than one. So where
    nothing is said (``wanted`` is 0) torch keeps its own number if ``OMP_NUM_THREADS`` is set, and otherwise gets as
    many as cores are idle at this moment, at most what the process may use and what torch was set to.
    """
    before = torch.get_num_threads()
    if wanted:
        torch.set_num_threads(wanted)
    elif "OMP_NUM_THREADS" not in os.environ and before > 1:
        torch.set_num_threads(max(1, min(before, allowed_cores(), idle_cores())))
    try:
        yield torch.get_num_threads()
    finally:
        torch.set_num_threads(before)


def allowed_cores() -> int:
    """Cores that this process may use: its affinity, and the quota of its container."""
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    try:
        quota, period = CPU_MAX.read_text().split()
        return max(1, min(cores, math.ceil(int(quota) / int(period))))
    except (OSError, ValueError):  # no such file, or no quota: the file says "max"
        return cores


def idle_cores() -> int:
    """Cores of the machine that nobody uses at this moment; all of them where that cannot be seen."""
    try:
        first = _ticks()
        time.sleep(LOOK_SECONDS)
        second = _ticks()
        passed = sum(second) - sum(first)
        idle = second[3] + second[4] - first[3] - first[4]  # idle, and waiting for a disk
    except (OSError, ValueError, IndexError):
        return os.cpu_count() or 1
    return round((os.cpu_count() or 1) * idle / passed) if passed > 0 else os.cpu_count() or 1


def _ticks() -> list[int]:
    return [int(number) for number in PROC_STAT.read_text().split("\n", 1)[0].split()[1:]]
