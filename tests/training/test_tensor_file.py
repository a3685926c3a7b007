import pytest
import torch

from figure_kedro.datasets.files import tensor_file
from figure_kedro.datasets.files.tensor_file import CheckpointFile, read_tensors, write_tensors


def test_tensors_and_description_come_back_as_they_were(tmp_path):
    tensors = {"a": torch.randn(3, 2), "step": torch.tensor(7.0), "across": torch.randn(4, 2).t()}
    description = {"losses": [0.1, 1 / 3, 1e-300], "finished": False, "name": "žluťoučký"}
    write_tensors(tmp_path / "new" / "folder" / "file", tensors, description)
    loaded, text = read_tensors(tmp_path / "new" / "folder" / "file")
    assert text == description
    assert set(loaded) == set(tensors)
    assert all(torch.equal(loaded[name], tensor) for name, tensor in tensors.items())


def test_write_that_fails_leaves_the_old_file_and_nothing_else(tmp_path, monkeypatch):
    write_tensors(tmp_path / "file", {"a": torch.ones(2)}, {})

    def half_written(tensors, path, metadata):
        path.write_bytes(b"half")
        raise KeyboardInterrupt

    monkeypatch.setattr(tensor_file, "save_file", half_written)
    with pytest.raises(KeyboardInterrupt):
        write_tensors(tmp_path / "file", {"a": torch.zeros(2)}, {})
    assert [path.name for path in tmp_path.iterdir()] == ["file"]
    assert torch.equal(read_tensors(tmp_path / "file")[0]["a"], torch.ones(2))


def test_there_is_no_checkpoint_before_the_first_one(tmp_path):
    assert CheckpointFile(tmp_path / "missing" / "checkpoint").load() is None
