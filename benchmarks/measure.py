"""Seconds, peak memory and memory bandwidth, measured the same way everywhere."""

import multiprocessing
import resource
import statistics
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import torch
from threadpoolctl import threadpool_limits

MIB = 2**20

Clock = Callable[[], float]


class Timing(NamedTuple):
    """Seconds of several runs."""

    median: float
    spread: float
    """The slowest minus the fastest."""


class Measured(NamedTuple):
    """What a process of its own gave and how much memory it had at most."""

    value: Any
    peak: float
    """MiB."""


class Step(NamedTuple):
    """One step of a longer job."""

    name: str
    seconds: float
    peak: float
    """MiB at most, from the start of the process to the end of the step."""


class Steps:
    """A job that is measured step by step."""

    def __init__(self) -> None:
        self.done: list[Step] = []

    def run(self, name: str, function: Callable[[], Any]) -> Any:
        """Call the function, note its seconds and the memory so far, and return what it returns."""
        start = time.perf_counter()
        value = function()
        taken = time.perf_counter() - start
        # Linux counts pages in batches, so that its own figure can be a little lower than a moment ago
        peak = max([high_water_mark(), *(step.peak for step in self.done)])
        self.done.append(Step(name, taken, peak))
        return value


def timing(runs: Sequence[float]) -> Timing:
    """Summarise the seconds of several runs."""
    return Timing(statistics.median(runs), max(runs) - min(runs))


def seconds(function: Callable[[], Any], repeat: int, clock: Clock = time.perf_counter) -> Timing:
    """Time a function, after one call that is not counted.

    Args:
        function: Takes no arguments; what it returns is dropped at once.
        repeat: How many calls are counted.
        clock: That counts; ``time.process_time`` for seconds of the processor.
    """
    return side_by_side({"": function}, repeat, clock)[""]


def side_by_side(
    functions: Mapping[str, Callable[[], Any]], repeat: int, clock: Clock = time.perf_counter
) -> dict[str, Timing]:
    """Time several functions in turn (a, b, a, b, ...), so that other work on the machine slows all of them alike.

    Args:
        functions: Each is called once before anything is counted.
        repeat: How many calls of each are counted.
        clock: That counts; ``time.process_time`` for seconds of the processor.
    """
    for function in functions.values():
        function()
    runs: dict[str, list[float]] = {name: [] for name in functions}
    for _ in range(repeat):
        for name, function in functions.items():
            start = clock()
            function()
            runs[name].append(clock() - start)
    return {name: timing(values) for name, values in runs.items()}


def peak_memory(function: Callable[[], Any], threads: int) -> Measured:
    """Call a function in a fresh process and report the most memory that process had, its imports included.

    Args:
        function: Can be imported by name (or is a partial of such a function); it and its value are sent between
            processes, so the value should be small.
        threads: Of torch and of the linear algebra under numpy, inside the process.
    """
    with ProcessPoolExecutor(1, mp_context=multiprocessing.get_context("spawn")) as pool:
        return pool.submit(_in_child, function, threads).result()


def _in_child(function: Callable[[], Any], threads: int) -> Measured:
    warnings.filterwarnings("ignore", message="Sparse CSR tensor support is in beta")
    with use_threads(threads):
        return Measured(function(), high_water_mark())


def high_water_mark() -> float:
    """The most resident memory that this process has had, in MiB."""
    status = Path("/proc/self/status")
    if status.is_file():
        # Not ru_maxrss: on Linux a child starts with that of its parent
        for line in status.read_text(encoding="utf-8").splitlines():
            if line.startswith("VmHWM:"):
                return int(line.split()[1]) * 1024 / MIB
    peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    return peak * (1 if sys.platform == "darwin" else 1024) / MIB


@contextmanager
def use_threads(threads: int) -> Iterator[None]:
    """Compute on that many threads, then on as many as before."""
    before = torch.get_num_threads()
    with threadpool_limits(threads):
        torch.set_num_threads(threads)
        try:
            yield
        finally:
            torch.set_num_threads(before)


def copy_bandwidth(threads: int, repeat: int = 5, size: int = 256 * MIB) -> float:
    """Bytes a second, read and written together, of a plain copy of a float32 array.

    Args:
        threads: That share the copy.
        repeat: How many copies the median is taken of.
        size: Bytes of the array, more than the caches hold.
    """
    copy, moved = plain_copy(size)
    with use_threads(threads):
        return moved / seconds(copy, repeat).median


def plain_copy(size: int = 256 * MIB) -> tuple[Callable[[], Any], int]:
    """A function that copies a float32 array of that many bytes, and the bytes that one call reads and writes.

    To be timed side by side with what it bounds, on the same threads.
    """
    source = torch.ones(size // 4)
    target = torch.empty_like(source)
    return lambda: target.copy_(source), 2 * source.nbytes
