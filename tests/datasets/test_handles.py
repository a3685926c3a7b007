"""Handles: what a node writes to while it works."""

import numpy as np
import optuna
import pytest
import torch
from kedro.io import DatasetError

from figure_kedro.datasets.handles import BlockStoreDataset, CheckpointDataset, JournalDataset


def test_blocks_are_files_and_the_same_name_is_the_same_array(tmp_path):
    store = BlockStoreDataset(filepath=str(tmp_path / "blocks")).load()
    array = store.allocate("true_1", (3, 2))
    array[:] = 7
    assert store.allocate("true_1", (3, 2)) is array
    (path,) = tmp_path.glob("*/true_1.npy")
    assert (np.load(path) == 7).all()
    store.clear()
    assert list(tmp_path.iterdir()) == []


def test_checkpoint_is_read_back_and_missing_before_it_is_written(tmp_path):
    checkpoint = CheckpointDataset(filepath=str(tmp_path / "models" / "checkpoint.safetensors")).load()
    assert checkpoint.load() is None
    checkpoint.save({"w": torch.arange(3.0)}, {"epoch": 4})
    tensors, description = checkpoint.load()
    assert tensors["w"].tolist() == [0, 1, 2]
    assert description == {"epoch": 4}


def test_journal_is_made_with_its_first_study(tmp_path):
    storage = JournalDataset(filepath=str(tmp_path / "a" / "journal")).load()
    assert list(tmp_path.iterdir()) == []
    optuna.create_study(storage=storage)
    assert (tmp_path / "a" / "journal").exists()


def test_a_handle_cannot_be_saved(tmp_path):
    with pytest.raises(DatasetError):
        CheckpointDataset(filepath=str(tmp_path / "x")).save(None)
