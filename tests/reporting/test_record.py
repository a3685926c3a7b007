"""The record of a run, for programs, and its panel, for people."""

import io
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from figure_kedro import __version__
from figure_kedro.errors import UserError
from figure_kedro.reporting.panel import summary_panel
from figure_kedro.reporting.record import RunRecord

SPLITS = pd.DataFrame(
    {"split": [0, 1], "val_accuracy": [0.9, 0.8], "test_accuracy": [0.88, 0.87], "masks": [(1, 0)] * 2}
)
RUN = {
    "dataset": "cora",
    "method": "figure",
    "dimension": 512,
    "projection": "none",
    "splits": SPLITS,
    "timing": {"epochs": 300, "mean_epoch_seconds": 0.12, "peak_memory_mb": np.float64(700.0)},
    "storage_mb": 21.2,
    "settings": {"trials": np.int64(3), "loss": float("nan")},
    "data_checksum": "abc",
}
REQUIRED = (
    "dataset method dimension projection metric splits test_mean test_std val_mean epochs mean_epoch_seconds "
    "peak_memory_mb storage_mb settings data_checksum version paper_mean paper_std"
)


def shown(record, artefacts=None):
    console = Console(file=io.StringIO(), width=100)
    console.print(summary_panel(record, artefacts or {}, "kedro mlflow ui"))
    return console.file.getvalue()


def test_record_has_every_promised_field_and_is_strict_json():
    record = RunRecord.of_run(**RUN)
    written = record.model_dump(mode="json")
    assert set(REQUIRED.split()) <= set(written)
    text = json.dumps(written, allow_nan=False)
    assert json.loads(text) == written
    assert RunRecord.read(json.loads(text)) == record


@pytest.mark.parametrize("version", [99, "two"])
def test_record_of_another_format_is_refused_in_one_line(version):
    written = RunRecord.of_run(**RUN).model_dump(mode="json") | {"format": version}
    with pytest.raises(UserError, match=r"record of a run has format .*use a newer version of figure_kedro") as error:
        RunRecord.read(written)
    assert "\n" not in str(error.value)


def test_record_is_in_percent_with_the_number_of_the_paper():
    record = RunRecord.of_run(**RUN)
    assert record.test_mean == pytest.approx(87.5)
    assert record.test_std == pytest.approx(0.5**0.5)
    assert record.val_mean == pytest.approx(85.0)
    assert (record.paper_mean, record.paper_std) == (87.0, 1.24)
    assert (record.splits, record.version) == (2, __version__)
    assert record.per_split[0] == {"split": 0, "val_accuracy": 90.0, "test_accuracy": 88.0, "masks": [1, 0]}
    assert record.settings == {"trials": 3, "loss": None}


def test_table_of_a_record_has_a_row_for_each_split():
    table = RunRecord.of_run(**RUN).table
    assert table["split"].tolist() == [0, 1]
    assert table["test_accuracy"].tolist() == pytest.approx([88.0, 87.0])


def test_graph_without_labels_has_a_record_without_scores():
    record = RunRecord.of_run(**RUN | {"splits": pd.DataFrame({"split": []})})
    assert (record.splits, record.test_mean, record.scores["accuracy"].test_mean) == (0, None, None)
    assert record.per_split == []
    assert "undefined over 0 splits" in shown(record)


def test_record_cannot_be_changed_and_knows_no_other_field():
    with pytest.raises(ValueError, match="frozen"):
        RunRecord.of_run(**RUN).test_mean = 99.0
    with pytest.raises(ValueError, match="surprise"):
        RunRecord.of_run(**RUN, surprise=1)


def test_other_metric_is_not_compared_with_the_accuracy_of_the_paper():
    splits = SPLITS.assign(val_roc_auc=[0.9, 0.9], test_roc_auc=[0.95, 0.95])
    record = RunRecord.of_run(**RUN | {"splits": splits}, metric="roc_auc")
    assert record.test_mean == pytest.approx(95.0)
    assert record.paper_mean is None
    assert record.scores["accuracy"].test_mean == pytest.approx(87.5)


def test_other_head_is_not_compared_with_the_linear_classifier_of_the_paper():
    record = RunRecord.of_run(**RUN, head="mlp")
    assert record.paper_mean is None
    assert "512 dimensions, mlp head" in shown(record)
    network = RunRecord.of_run(**RUN | {"method": "gcn", "head": "gcn"})
    assert network.paper_mean == 87.36
    assert "gcn head" not in shown(network)


def test_panel_says_what_was_reached_and_how_far_it_is_from_the_paper():
    text = shown(RunRecord.of_run(**RUN), {"embeddings": "data/07_model_output/[cora]/embeddings"})
    for part in (
        "cora: figure, 512 dimensions",
        "87.50 (0.71) over 2 splits",
        "87.00 (1.24)  (+0.50 points)",
        "300 epochs of 0.12 s, 700 MB at most, 21.2 MB of representations",
        "data/07_model_output/[cora]/embeddings",
        "kedro mlflow ui",
    ):
        assert part in text


def test_panel_says_when_the_paper_has_no_number_and_when_nothing_was_trained():
    text = shown(RunRecord.of_run(**RUN | {"dataset": "own", "timing": {}, "splits": SPLITS.head(1)}))
    assert "no number for this cell" in text
    assert "over 1 split " in text
    assert "training       none, 21.2 MB" in text


def test_panel_shows_an_undefined_score():
    record = RunRecord.of_run(**RUN | {"splits": SPLITS.assign(test_accuracy=np.nan)})
    assert record.test_mean is None
    assert "undefined over 2 splits" in shown(record)


def test_record_says_how_many_test_nodes_are_copies_and_what_the_others_reach():
    splits = SPLITS.assign(test_twins=[10.0, 13.0], twin_free_test=[0.5, 0.6])
    record = RunRecord.of_run(**RUN | {"splits": splits})
    assert record.test_twins == 11.5
    assert record.twin_free_mean == pytest.approx(55.0)
    assert record.twin_free_std == pytest.approx(50**0.5)
    assert [row["twin_free_test"] for row in record.per_split] == pytest.approx([50.0, 60.0])
    assert [row["test_twins"] for row in record.per_split] == [10.0, 13.0]
    assert set(record.scores) == {"accuracy"}
    assert "test nodes have the very neighbours of a training node" in shown(record).replace("\n", " ")
    assert RunRecord.read(record.model_dump(mode="json")) == record


def test_record_of_a_run_without_copies_says_nothing_of_them():
    for splits in (SPLITS, SPLITS.assign(test_twins=0.0, twin_free_test=SPLITS["test_accuracy"])):
        assert "without twins" not in shown(RunRecord.of_run(**RUN | {"splits": splits}))
    assert RunRecord.of_run(**RUN).test_twins is None


def test_record_of_a_split_where_nobody_but_copies_is_left_is_strict_json():
    splits = SPLITS.assign(test_twins=[10.0, 13.0], twin_free_test=[0.5, np.nan])
    record = RunRecord.of_run(**RUN | {"splits": splits})
    assert record.twin_free_mean is None
    json.dumps(record.model_dump(mode="json"), allow_nan=False)
    assert "undefined" in shown(record)
