"""Predictions of all nodes are written block by block: the same file as of the whole table, in little memory."""

import gc

import numpy as np
import pandas as pd
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from kedro.io import DatasetError

from figure_kedro import cost
from figure_kedro.datasets import predictions_dataset
from figure_kedro.datasets.files.content import forget
from figure_kedro.datasets.files.sealed_file import is_whole
from figure_kedro.datasets.predictions_dataset import PredictionsDataset
from figure_kedro.errors import DamagedFileError
from figure_kedro.evaluation.predictions import NO_PREDICTIONS, Predictions, prediction_table, predictions_of_all
from figure_kedro.graph import Targets
from figure_kedro.machine_errors import find_user_error

ROWS = 2500


def table(ids, classes=3, rows=ROWS):
    rng = np.random.default_rng(0)
    names = np.array(["a", "b", ""], dtype=object)
    known = {"label": names[rng.integers(3, size=rows)], "fitted": rng.random(rows) < 0.5}
    probabilities = rng.random((rows, classes), dtype=np.float32)
    return prediction_table(ids, probabilities, tuple(f"c{number}" for number in range(classes)), known)


def in_blocks(whole, rows):
    def blocks():
        for start in range(0, len(whole), rows):
            yield whole.iloc[start : start + rows].reset_index(drop=True)

    return Predictions(len(whole), blocks)


def saved(folder, data):
    dataset = PredictionsDataset(filepath=str(folder / "predictions.parquet"))
    dataset.save(data)
    return dataset


NUMBERS, NAMES = np.arange(ROWS)[::-1] * 7, np.array([f"node {number}" for number in range(ROWS)])


@pytest.mark.parametrize("ids", [NUMBERS, NAMES, NAMES.astype(object)], ids=["numbers", "text", "objects"])
@pytest.mark.parametrize("rows", [64, 1000, 10_000])
@pytest.mark.parametrize("group", [1000, 1 << 20])
def test_the_file_has_the_bytes_of_the_whole_table(tmp_path, monkeypatch, ids, rows, group):
    monkeypatch.setattr(predictions_dataset, "GROUP_ROWS", group)
    whole = table(ids)
    saved(tmp_path, in_blocks(whole, rows))
    whole.to_parquet(tmp_path / "whole.parquet", row_group_size=group)
    assert (tmp_path / "predictions.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()


def test_a_graph_without_labels_has_the_empty_table_of_ids(tmp_path):
    dataset = saved(tmp_path, NO_PREDICTIONS)
    pd.DataFrame({"id": []}).to_parquet(tmp_path / "whole.parquet")
    assert (tmp_path / "predictions.parquet").read_bytes() == (tmp_path / "whole.parquet").read_bytes()
    assert dataset.load().empty
    assert dataset.exists()


def test_very_many_classes_lie_in_smaller_groups_with_the_same_values(tmp_path, monkeypatch):
    monkeypatch.setattr(predictions_dataset, "GROUP_VALUES", 100_000)
    whole = table(NAMES, classes=196)
    dataset = saved(tmp_path, in_blocks(whole, 64))
    assert pq.ParquetFile(tmp_path / "predictions.parquet").metadata.num_row_groups == 5  # of 500 rows
    pd.testing.assert_frame_equal(dataset.load(), whole)


def test_what_goes_wrong_in_the_middle_leaves_the_file_that_was_there(tmp_path, monkeypatch):
    monkeypatch.setattr(predictions_dataset, "GROUP_ROWS", 100)
    dataset = saved(tmp_path, in_blocks(table(NAMES), 50))
    before = sorted(path.name for path in tmp_path.iterdir())

    def blocks():
        yield from list(in_blocks(table(NUMBERS), 50).blocks())[:20]
        raise OSError(28, "No space left on device")

    with pytest.raises(DatasetError) as caught:
        dataset.save(Predictions(ROWS, blocks))
    assert "predictions.parquet cannot be written: no space left on device" in str(find_user_error(caught.value))
    assert sorted(path.name for path in tmp_path.iterdir()) == before
    assert dataset.load()["id"].tolist() == NAMES.tolist()


def test_a_flipped_bit_is_found(tmp_path):
    dataset, path = saved(tmp_path, in_blocks(table(NAMES), 100)), tmp_path / "predictions.parquet"
    content = bytearray(path.read_bytes())
    content[len(content) // 2] ^= 1
    path.write_bytes(content)
    forget()
    assert not is_whole(path)
    with pytest.raises(DatasetError) as caught:
        dataset.load()
    assert isinstance(find_user_error(caught.value), DamagedFileError)


def test_every_row_says_what_is_known_and_what_is_predicted():
    targets = Targets(np.array([0, -1, 1, 0]), ("x", "y"), np.array([[1, 0, 2, 3]], dtype=np.int8))
    probabilities = np.array([[0.9, 0.1], [0.2, 0.8], [0.7, 0.3], [0.4, 0.6]], dtype=np.float32)
    predictions = predictions_of_all(
        np.array([7, 5, 3, 1]),
        targets,
        0,
        np.array([True, False, False, False]),
        ("x", "y"),
        lambda: iter([probabilities[:3], probabilities[3:]]),
    )
    assert [len(block) for block in predictions.blocks()] == [3, 1]
    assert predictions.table().drop(columns=["p_x", "p_y"]).to_numpy().tolist() == [
        [7, "x", "train", True, "x"],
        [5, "", "", False, "y"],
        [3, "y", "val", False, "x"],
        [1, "x", "test", False, "y"],
    ]
    np.testing.assert_array_equal(predictions.table()[["p_x", "p_y"]].to_numpy(), probabilities)


def test_the_cost_model_counts_the_rows_that_are_held():
    assert cost.PREDICTED_ROWS == predictions_dataset.GROUP_ROWS
    assert cost.PREDICTED_VALUES == predictions_dataset.GROUP_VALUES


@pytest.mark.parametrize(("group", "share"), [(1000, 0.2), (20_000, None)])
def test_no_more_rows_are_held_than_lie_together(tmp_path, monkeypatch, group, share):
    monkeypatch.setattr(predictions_dataset, "GROUP_ROWS", group)
    rows, held = 20_000, []

    def blocks():
        gc.collect()
        before = pa.total_allocated_bytes()
        for start in range(0, rows, 100):
            yield table(np.arange(start, start + 100).astype(str), rows=100)
            held.append(pa.total_allocated_bytes() - before)

    saved(tmp_path, Predictions(rows, blocks))
    size = 30 * rows  # of ids and words, and where each of them begins
    assert max(held) < share * size if share else max(held) > size
