"""Tensors and a JSON description in one safetensors file, written whole or not at all."""

import json
import os
from pathlib import Path
from typing import Any

import torch
from safetensors import safe_open
from safetensors.torch import save_file


def write_tensors(path: Path, tensors: dict[str, torch.Tensor], description: dict[str, Any]) -> None:
    """Write a file that appears whole or not at all, also if the process is killed meanwhile."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    try:
        contiguous = {name: tensor.detach().cpu().contiguous() for name, tensor in tensors.items()}
        save_file(contiguous, temporary, metadata={"description": json.dumps(description)})
        os.replace(temporary, path)
    finally:
        temporary.unlink(missing_ok=True)


def read_tensors(path: Path) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    """Read what :func:`write_tensors` wrote."""
    with safe_open(path, framework="pt") as file:
        tensors = {name: file.get_tensor(name) for name in file.keys()}  # noqa: SIM118  (not a dictionary)
        return tensors, json.loads(file.metadata()["description"])


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON file that appears whole or not at all."""
    path.parent.mkdir(parents=True, exist_ok=True)
    temporary = path.with_name(f".{path.name}.{os.getpid()}")
    temporary.write_text(json.dumps(value, indent=2))
    os.replace(temporary, path)


class CheckpointFile:
    """One checkpoint in one file, for :func:`figure_kedro.training.loop.train`."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def load(self) -> tuple[dict[str, torch.Tensor], dict[str, Any]] | None:
        return read_tensors(self._path) if self._path.exists() else None

    def save(self, tensors: dict[str, torch.Tensor], description: dict[str, Any]) -> None:
        write_tensors(self._path, tensors, description)
