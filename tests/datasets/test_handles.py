"""Handles, models and embeddings on disk."""

import numpy as np
import pandas as pd
import pytest
import torch
from kedro.io import DatasetError

from figure_kedro.datasets.handles import BlockStoreDataset, CheckpointDataset, JournalDataset
from figure_kedro.datasets.model_dataset import EmbeddingsDataset, ModelDataset


def test_blocks_are_files_and_the_same_name_is_the_same_array(tmp_path):
    store = BlockStoreDataset(filepath=str(tmp_path / "blocks")).load()
    array = store.allocate("true_1", (3, 2))
    array[:] = 7
    assert store.allocate("true_1", (3, 2)) is array
    assert (np.load(tmp_path / "blocks" / "true_1.npy") == 7).all()
    store.clear()
    assert not (tmp_path / "blocks").exists()


def test_checkpoint_is_read_back_and_missing_before_it_is_written(tmp_path):
    checkpoint = CheckpointDataset(filepath=str(tmp_path / "models" / "checkpoint.safetensors")).load()
    assert checkpoint.load() is None
    checkpoint.save({"w": torch.arange(3.0)}, {"epoch": 4})
    tensors, description = checkpoint.load()
    assert tensors["w"].tolist() == [0, 1, 2]
    assert description == {"epoch": 4}


def test_journal_makes_its_folder(tmp_path):
    assert JournalDataset(filepath=str(tmp_path / "a" / "journal")).load() is not None


def test_a_handle_cannot_be_saved(tmp_path):
    with pytest.raises(DatasetError):
        CheckpointDataset(filepath=str(tmp_path / "x")).save(None)


def test_model_keeps_weights_and_description(tmp_path):
    dataset = ModelDataset(filepath=str(tmp_path / "m" / "weights.safetensors"))
    assert not dataset.exists()
    with pytest.raises(DatasetError, match="no trained encoder"):
        dataset.load()
    dataset.save(({"w": torch.eye(2).t()}, {"dim": 2}))
    weights, description = dataset.load()
    assert torch.equal(weights["w"], torch.eye(2))
    assert description == {"dim": 2}


def test_embeddings_are_one_table_a_filter_under_the_users_ids(tmp_path):
    dataset = EmbeddingsDataset(filepath=str(tmp_path / "e"))
    table = pd.DataFrame({"id": ["b", "a"], "e0": [1.0, 2.0]})
    dataset.save({"A^2": table})
    assert pd.read_parquet(tmp_path / "e" / "A^2.parquet")["id"].tolist() == ["b", "a"]
    pd.testing.assert_frame_equal(dataset.load()["A^2"], table)


def test_no_embeddings_leave_no_file(tmp_path):
    dataset = EmbeddingsDataset(filepath=str(tmp_path / "e"))
    dataset.save({})
    assert not (tmp_path / "e").exists()
    assert not dataset.exists()
