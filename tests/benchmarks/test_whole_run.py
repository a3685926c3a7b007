"""What the cost model says is what was measured."""

from pathlib import Path

import pandas as pd
import pytest
from benchmarks.whole_run import predictions

from figure_kedro.memory import GIB

MEASURED = pd.read_csv(Path(__file__).parents[2] / "benchmarks/results/whole_run.csv")
LARGE = MEASURED[(MEASURED["step"] == "all") & (MEASURED["nodes"] >= 1_000_000)]


@pytest.mark.parametrize(("nodes", "limit"), list(zip(LARGE["nodes"], LARGE["memory GiB"], strict=True)))
def test_memory_is_predicted_within_a_quarter_and_time_within_half_of_what_was_measured(nodes, limit):
    (row,) = LARGE[(LARGE["nodes"] == nodes) & (LARGE["memory GiB"] == limit)].to_dict("records")
    predicted = predictions(nodes, limit)["all"]
    assert row["peak GiB"] == pytest.approx(predicted.memory / GIB, rel=0.25)
    assert predicted.seconds / 1.5 < row["seconds"] < predicted.seconds * 1.5
