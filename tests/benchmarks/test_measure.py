"""How the benchmarks measure, not what."""

from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
import torch
from benchmarks.__main__ import BENCHMARKS, main
from benchmarks.measure import Step, Steps, copy_bandwidth, peak_memory, seconds, side_by_side, timing, use_threads
from benchmarks.report import markdown_table

ROOT = Path(__file__).parents[2]


def _fill(mebibytes: int) -> int:
    return int(np.ones(mebibytes * 2**20, dtype=np.uint8).sum(dtype=np.int64))


def _fill_little_then_much() -> list[Step]:
    steps = Steps()
    steps.run("little", partial(_fill, 1))
    steps.run("much", partial(_fill, 256))
    return steps.done


def _fail() -> None:
    raise ValueError("no such luck")


def test_timing_is_median_and_range():
    assert timing([3.0, 1.0, 7.0]) == (3.0, 6.0)


def test_warm_up_is_called_but_not_counted():
    calls = []
    seconds(lambda: calls.append(0), repeat=3)
    assert len(calls) == 4


def test_functions_are_timed_in_turn():
    calls = []
    result = side_by_side({"a": lambda: calls.append("a"), "b": lambda: calls.append("b")}, repeat=2)
    assert "".join(calls) == "ababab"
    assert list(result) == ["a", "b"]


def test_steps_return_their_values_and_memory_never_falls():
    steps = Steps()
    assert steps.run("first", partial(_fill, 1)) == 2**20
    assert steps.run("second", partial(_fill, 2)) == 2**21
    first, second = steps.done
    assert (first.name, second.name) == ("first", "second")
    assert first.peak <= second.peak


def test_peak_memory_counts_the_child_and_not_its_parent():
    held = np.ones(3 * 2**28, dtype=np.uint8)  # would be in the child's ru_maxrss
    (little, much), peak = peak_memory(_fill_little_then_much, 1)
    assert 200 < much.peak - little.peak < 300
    assert peak == much.peak < held.nbytes / 2**20 + little.peak


def test_child_computes_on_the_threads_it_was_given():
    assert peak_memory(torch.get_num_threads, 3).value == 3


def test_error_of_the_child_reaches_the_parent():
    with pytest.raises(ValueError, match="no such luck"):
        peak_memory(_fail, 1)


def test_threads_are_restored_after_an_error():
    before = torch.get_num_threads()
    with pytest.raises(ValueError, match="no such luck"), use_threads(before + 1):
        _fail()
    assert torch.get_num_threads() == before


def test_copy_bandwidth_is_positive():
    assert copy_bandwidth(1, repeat=1, size=2**20) > 0


def test_table_aligns_numbers_and_shows_gaps():
    table = markdown_table(pd.DataFrame({"step": ["load", "all"], "seconds": [0.12345, None]}))
    assert table.splitlines() == ["| step | seconds |", "| :--- | ---: |", "| load | 0.123 |", "| all | - |"]


def test_list_names_every_benchmark(capsys):
    assert main(["--list"]) == 0
    assert [line.split()[0] for line in capsys.readouterr().out.splitlines()] == list(BENCHMARKS)


def test_unknown_benchmark_is_one_line_with_the_nearest_name(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["data_procesing"])
    assert "did you mean 'data_processing'?" in capsys.readouterr().err.splitlines()[-1]


def test_small_graphs_never_overwrite_results(capsys):
    with pytest.raises(SystemExit, match="2"):
        main(["--small"])
    assert "--results" in capsys.readouterr().err


def test_one_failing_benchmark_does_not_stop_the_others(tmp_path, monkeypatch, capsys):
    def broken(settings):
        raise RuntimeError("out of luck")

    monkeypatch.setattr("benchmarks.data_processing.run", broken)
    code = main(
        [
            "data_processing",
            "data_processing_growth",
            "--small",
            "--repeat",
            "1",
            "--threads",
            "1",
            "--results",
            str(tmp_path),
        ]
    )
    assert code == 1
    assert "failed: data_processing: RuntimeError: out of luck" in capsys.readouterr().out
    assert {path.name for path in tmp_path.iterdir()} == {"data_processing_growth.md", "data_processing_growth.csv"}
    rows = pd.read_csv(tmp_path / "data_processing_growth.csv")
    assert set(rows["step"]) == {"generate", "build", "normalise", "filter", "all"}
