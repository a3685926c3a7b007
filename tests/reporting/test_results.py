"""Tables of what an evaluation reached, and tables as Markdown."""

import io
import math
import re

import numpy as np
import pandas as pd
import pytest

from figure_kedro.errors import UserError
from figure_kedro.reporting.markdown import to_markdown
from figure_kedro.reporting.results import (
    alpha_table,
    mean_and_std,
    metrics_in,
    representation_storage_mb,
    results_table,
    timing_table,
)

SPLITS = pd.DataFrame(
    {"split": [0, 1, 2], "test_accuracy": [0.8, 0.9, 0.7], "val_accuracy": [0.7, 0.8, 0.8], "weight_decay": [0.1, 0, 1]}
)


def test_last_row_is_mean_and_sample_deviation_in_percent():
    table = results_table(SPLITS)
    assert list(table) == ["split", "val_accuracy", "test_accuracy", "weight_decay"]
    assert table["test_accuracy"].tolist() == [80.0, 90.0, 70.0, 80.0, 10.0]
    assert table["split"].tolist() == [0, 1, 2, "mean", "std"]
    assert table["weight_decay"].tolist()[:3] == [0.1, 0, 1]
    assert table["weight_decay"].isna().tolist() == [False] * 3 + [True] * 2


def test_numbers_are_numbers_also_in_a_file_of_the_table():
    table = pd.read_csv(io.StringIO(results_table(SPLITS).to_csv(index=False)))
    assert table["test_accuracy"].dtype == float
    assert table["weight_decay"].dtype == float


def test_masks_are_shown_as_the_names_of_the_filters_in_use():
    masked = SPLITS.assign(mask_0=[1, 0, 0], mask_1=[1, 1, 0])
    table = results_table(masked, ["I", "A"])
    assert table["filters"].tolist()[:3] == ["I, A", "A", "none"]
    assert not [name for name in table if name.startswith("mask_")]


def test_every_metric_in_the_columns_is_reported_in_their_order():
    splits = SPLITS.assign(test_macro_f1=0.5, val_macro_f1=0.5, test_of_patience=1)
    assert metrics_in(splits) == ["accuracy", "macro_f1"]
    assert list(results_table(splits))[:5] == [
        "split",
        "val_accuracy",
        "test_accuracy",
        "val_macro_f1",
        "test_macro_f1",
    ]
    assert list(results_table(splits))[5:] == ["weight_decay", "test_of_patience"]


def test_score_without_twins_stands_beside_the_others_in_percent():
    table = results_table(SPLITS.assign(test_twins=3.0, twin_free_test=[0.5, 0.5, 0.8]))
    assert list(table)[:4] == ["split", "val_accuracy", "test_accuracy", "twin_free_test"]
    assert table["twin_free_test"].tolist() == [50.0, 50.0, 80.0, 60.0, 17.32]


def test_single_split_has_deviation_zero():
    assert mean_and_std(np.array([0.25])) == (0.25, 0.0)
    assert results_table(SPLITS.head(1))["test_accuracy"].tolist()[-2:] == [80.0, 0.0]


def test_missing_score_is_not_left_out_of_the_mean():
    assert all(math.isnan(value) for value in mean_and_std(np.array([0.5, np.nan, 0.7])))


def test_no_split_is_an_error():
    with pytest.raises(UserError, match="no evaluated split"):
        results_table(SPLITS.head(0))


def test_alpha_table_keeps_the_order_of_filters_and_marks_the_best_validation_split():
    alphas = pd.DataFrame(
        [(s, f, 10 * s + i) for s in (0, 1, 2) for i, f in enumerate(["I", "A", "A^2"])],
        columns=["split", "filter", "alpha"],
    )
    table = alpha_table(alphas, SPLITS)
    assert list(table) == ["split", "I", "A", "A^2", "best"]
    assert table["A^2"].tolist() == [2, 12, 22]
    assert table["best"].tolist() == ["", "validation", ""]  # the first of two equal ones, not the best test score


def test_storage_is_that_of_the_paper_for_ogbn_arxiv():
    sizes = {(dim, k): representation_storage_mb(169_343, dim, k) for dim, k in ((512, 1), (128, 4), (32, 4), (512, 4))}
    assert [round(size, 2) for size in sizes.values()] == [330.75, 330.75, 82.69, 1322.99]


def test_timing_row_leaves_unmeasured_numbers_empty():
    row = timing_table({"epochs": 3, "mean_epoch_seconds": 0.5}, 12.0, method="figure", dim=32).iloc[0]
    assert (row["method"], row["dim"], row["epochs"], row["mean_epoch_seconds"]) == ("figure", 32, 3, 0.5)
    assert row["storage_mb"] == 12.0
    assert math.isnan(row["total_seconds"])


def cells(line):
    """The cells of a line of Markdown, without the blanks that align them."""
    return [cell.strip() for cell in re.split(r"(?<!\\)\|", line)[1:-1]]


def test_markdown_keeps_any_text_in_its_cell():
    table = pd.DataFrame({"a|b": ["x|y", "two\nlines", None], "n": [1, 20, 300]})
    head, rule, *rows = to_markdown(table).splitlines()
    assert cells(head) == ["a\\|b", "n"]
    assert [cells(row) for row in rows] == [["x\\|y", "1"], ["two<br>lines", "20"], ["", "300"]]
    text, number = cells(rule)
    assert re.fullmatch(r":?-+", text)
    assert re.fullmatch(r"-+:", number)


def test_markdown_keeps_text_that_looks_like_a_number():
    table = pd.DataFrame({"id": ["007", "1e5", "0.10"]})
    assert [cells(line) for line in to_markdown(table).splitlines()[2:]] == [["007"], ["1e5"], ["0.10"]]


def test_markdown_writes_numbers_to_be_read():
    table = pd.DataFrame({"n": [0.000012345, 123456.7, np.nan, -0.5]}, dtype=float)
    assert [line.strip("| ") for line in to_markdown(table).splitlines()[2:]] == ["1.234e-05", "123457", "", "-0.5"]


def test_markdown_of_results_has_a_line_for_each_split_and_the_mean():
    lines = to_markdown(results_table(SPLITS.assign(test_accuracy=[0.8, 0.9, 0.705])), decimals=2).splitlines()
    assert cells(lines[-2]) == ["mean", "76.67", "80.17", ""]
    assert cells(lines[-1]) == ["std", "5.77", "9.75", ""]
    assert cells(lines[2])[2] == "80.00"
    assert len(lines) == 2 + 3 + 2
