"""Where training runs, and how its time and memory are measured."""

import contextlib
import resource
import sys
from pathlib import Path

import torch

from figure_kedro.errors import UserError
from figure_kedro.memory import free_memory


def pick_device(name: str, *, sparse_products: bool = True) -> torch.device:
    """Turn ``auto``, ``cpu``, ``mps``, ``cuda`` or ``cuda:N`` into a device that exists.

    ``auto`` takes CUDA where there is one, then MPS, then the CPU. torch has no sparse products on MPS, so MPS is
    passed over for work that needs them.
    """
    if name == "auto":
        mps = torch.backends.mps.is_available() and not sparse_products
        return torch.device("cuda" if torch.cuda.is_available() else "mps" if mps else "cpu")
    number = name.partition(":")[2] or "0"
    if name.startswith("cuda") and int(number) >= torch.cuda.device_count():  # torch itself cannot hold every number
        raise UserError(f"there is no device {name!r} here; use 'auto' or 'cpu'")
    device = torch.device(name)
    if device.type == "mps" and not torch.backends.mps.is_available():
        raise UserError("there is no device 'mps' here; use 'auto' or 'cpu'")
    return device


def synchronise(device: torch.device) -> None:
    """Wait until the device has finished, so that a clock reads the time of the work and not of its launch."""
    if device.type == "cuda":
        torch.cuda.synchronize(device)
    elif device.type == "mps":
        torch.mps.synchronize()


def available_memory(device: torch.device) -> int:
    """Bytes that training may hope for on this device."""
    if device.type == "cuda":
        return torch.cuda.mem_get_info(device)[0]
    return free_memory()


class PeakMemory:
    """The most memory used since it was made: of the device, or of this process on the CPU."""

    def __init__(self, device: torch.device) -> None:
        self._device = device
        if device.type == "cuda":
            torch.cuda.reset_peak_memory_stats(device)
        else:
            with contextlib.suppress(OSError):  # elsewhere than on Linux the peak of the whole process stands
                Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far

    def megabytes(self) -> float:
        if self._device.type == "cuda":
            return torch.cuda.max_memory_allocated(self._device) / 2**20
        status = Path("/proc/self/status")
        if status.exists():
            line = next(line for line in status.read_text().splitlines() if line.startswith("VmHWM"))
            return int(line.split()[1]) / 2**10
        peak = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
        return peak / 2**20 if sys.platform == "darwin" else peak / 2**10
