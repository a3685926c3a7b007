"""Trained weights and embeddings on disk."""

import os
from pathlib import Path
from typing import Any

import pandas as pd
import torch
from kedro.io import AbstractDataset

from figure_kedro.datasets.tensor_file import read_tensors, write_tensors
from figure_kedro.errors import UserError

State = tuple[dict[str, torch.Tensor], dict[str, Any]]


class ModelDataset(AbstractDataset[State, State]):
    """Saves weights and their description in one safetensors file; ``FiGURe.from_state`` makes a model of them.

    Example::

        encoder:
          type: figure_kedro.datasets.model_dataset.ModelDataset
          filepath: data/06_models/cora/weights.safetensors
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._path = Path(filepath)
        self.metadata = metadata

    def save(self, data: State) -> None:
        write_tensors(self._path, *data)

    def load(self) -> State:
        if not self._path.exists():
            raise UserError(
                "there is no trained encoder for these settings; run `kedro run --pipelines=representation` with the "
                "same --params first"
            )
        return read_tensors(self._path)

    def _exists(self) -> bool:
        return self._path.exists()

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._path)}


class EmbeddingsDataset(AbstractDataset[dict[str, pd.DataFrame], dict[str, pd.DataFrame]]):
    """Saves one table for each filter as Parquet: the user's node ids, then one column for each dimension.

    Example::

        embeddings:
          type: figure_kedro.datasets.model_dataset.EmbeddingsDataset
          filepath: data/07_model_output/cora/embeddings
    """

    def __init__(self, *, filepath: str, metadata: dict[str, Any] | None = None) -> None:
        self._folder = Path(filepath)
        self.metadata = metadata

    def save(self, data: dict[str, pd.DataFrame]) -> None:
        for old in self._folder.glob("*.parquet"):
            if old.stem not in data:
                old.unlink()  # of an earlier run that stored more
        for name, table in data.items():
            self._folder.mkdir(parents=True, exist_ok=True)
            unfinished = self._folder / f".{name}.{os.getpid()}"
            table.to_parquet(unfinished, index=False)
            os.replace(unfinished, self._folder / f"{name}.parquet")

    def load(self) -> dict[str, pd.DataFrame]:
        return {path.stem: pd.read_parquet(path) for path in sorted(self._folder.glob("*.parquet"))}

    def _exists(self) -> bool:
        return any(self._folder.glob("*.parquet"))

    def _describe(self) -> dict[str, Any]:
        return {"filepath": str(self._folder)}
