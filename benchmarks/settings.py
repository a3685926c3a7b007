"""What holds for all benchmarks of a run."""

import os

from pydantic import BaseModel, ConfigDict, Field, PositiveInt


def available_cores() -> int:
    """The cores that this process may use, which in a container can be fewer than the machine has."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


def _one_and_two() -> tuple[int, ...]:
    return tuple(threads for threads in (1, 2) if threads <= available_cores())


class Settings(BaseModel):
    """How often, on how many threads and how large."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    threads: tuple[PositiveInt, ...] = Field(
        default_factory=_one_and_two, min_length=1, description="numbers of threads, each of which gets its own rows"
    )
    repeat: int = Field(3, gt=0, description="measured runs behind each median")
    small: bool = Field(False, description="graphs a small part of the full size, to try the benchmarks out")
