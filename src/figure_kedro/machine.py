"""What the times of this machine are told with."""

import platform
from pathlib import Path


def processor() -> str:
    """Its name as Linux tells it, or what the platform calls it."""
    information = Path("/proc/cpuinfo")
    if information.is_file():
        for line in information.read_text(encoding="utf-8").splitlines():
            if line.startswith("model name"):
                return line.partition(":")[2].strip()
    return platform.processor() or platform.machine()


def machine() -> str:
    """The processor, how many cores of it may be used, and the system."""
    from figure_kedro.training.threads import allowed_cores

    cores = allowed_cores()
    return f"{processor()} with {cores} core{'s'[: cores > 1]}, {platform.system()}"
