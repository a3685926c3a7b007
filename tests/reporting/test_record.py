import io
import json

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from figure_kedro import __version__
from figure_kedro.reporting.summary import run_summary, summary_panel

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


def shown(summary, artefacts=None):
    console = Console(file=io.StringIO(), width=100)
    console.print(summary_panel(summary, artefacts or {}, "kedro mlflow ui"))
    return console.file.getvalue()


def test_summary_has_every_promised_field_and_is_strict_json():
    summary = run_summary(**RUN)
    assert set(REQUIRED.split()) <= set(summary)
    assert json.loads(json.dumps(summary, allow_nan=False)) == summary


def test_summary_is_in_percent_with_the_number_of_the_paper():
    summary = run_summary(**RUN)
    assert summary["test_mean"] == pytest.approx(87.5)
    assert summary["test_std"] == pytest.approx(0.5**0.5)
    assert summary["val_mean"] == pytest.approx(85.0)
    assert (summary["paper_mean"], summary["paper_std"]) == (87.0, 1.24)
    assert (summary["splits"], summary["version"]) == (2, __version__)
    assert summary["per_split"][0] == {"split": 0, "val_accuracy": 90.0, "test_accuracy": 88.0, "masks": [1, 0]}
    assert summary["settings"] == {"trials": 3, "loss": None}


def test_other_metric_is_not_compared_with_the_accuracy_of_the_paper():
    splits = SPLITS.assign(val_roc_auc=[0.9, 0.9], test_roc_auc=[0.95, 0.95])
    summary = run_summary(**RUN | {"splits": splits}, metric="roc_auc")
    assert summary["test_mean"] == pytest.approx(95.0)
    assert summary["paper_mean"] is None
    assert summary["scores"]["accuracy"]["test_mean"] == pytest.approx(87.5)


def test_panel_says_what_was_reached_and_how_far_it_is_from_the_paper():
    text = shown(run_summary(**RUN), {"embeddings": "data/07_model_output/[cora]/embeddings"})
    for part in (
        "cora: figure, 512 dimensions, no projection",
        "87.50 (0.71) over 2 splits",
        "87.00 (1.24)  (+0.50 points)",
        "300 epochs of 0.12 s, 700 MB at most, 21.2 MB of representations",
        "data/07_model_output/[cora]/embeddings",
        "kedro mlflow ui",
    ):
        assert part in text


def test_panel_says_when_the_paper_has_no_number_and_when_nothing_was_trained():
    text = shown(run_summary(**RUN | {"dataset": "own", "timing": {}, "splits": SPLITS.head(1)}))
    assert "no number for this cell" in text
    assert "over 1 split " in text
    assert "training       none, 21.2 MB" in text


def test_panel_shows_an_undefined_score():
    summary = run_summary(**RUN | {"splits": SPLITS.assign(test_accuracy=np.nan)})
    assert summary["test_mean"] is None
    assert "undefined over 2 splits" in shown(summary)
