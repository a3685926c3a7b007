"""``kedro search`` as a user runs it."""

import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from kedro.framework.cli.cli import KedroCLI

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def written(tmp_path):
    """Where the search writes its data set, which is gone after the test."""
    file = PROJECT / "conf" / "local" / "datasets" / f"tried_{tmp_path.name}.yml"
    before = file.parent.exists()
    yield file
    file.unlink(missing_ok=True)
    if not before:
        shutil.rmtree(file.parent, ignore_errors=True)


def test_the_best_settings_become_a_data_set_that_runs(command, tmp_path, written):
    params = f"dataset=csbm,source.nodes=120,data_folder={tmp_path},representation.dim=4"
    options = ["--params", params, "--budget", "4", "--splits", "1", "--trials", "2", "--name", written.stem]
    result = CliRunner().invoke(KedroCLI(PROJECT), ["search", *options])
    assert result.exit_code == 0, result.output
    assert "best on validation" in result.output
    text = written.read_text()
    assert "direction and self-loops" in text, "what was compared stands above"
    chosen = yaml.safe_load(text)[written.stem]
    assert chosen["source"]["nodes"] == 120
    assert "self_loops" in chosen["filters"]
    small = {"evaluation.trials": 1, "evaluation.splits": 1, "data_folder": tmp_path}
    assert command("run", "--pipelines=evaluation", dataset=written.stem, **small).exit_code == 0


def test_a_mistake_is_one_line_and_writes_nothing(command, tmp_path, written):
    result = CliRunner().invoke(KedroCLI(PROJECT), ["search", "--params", "dataset=coar", "--name", written.stem])
    assert result.exit_code == 2
    assert "did you mean 'cora'" in result.output
    assert not written.exists()
