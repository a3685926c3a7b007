"""``kedro search`` as a user runs it."""

import json
import re
import shutil
from pathlib import Path

import pytest
import yaml
from click.testing import CliRunner
from kedro.framework.cli.cli import KedroCLI

from figure_kedro.errors import UserError
from figure_kedro.parameters import check_parameters
from figure_kedro.search.command import _check_name

PROJECT = Path(__file__).parents[2]


@pytest.fixture
def written(_own_tracking, tmp_path):
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
    small = {"evaluation.trials": 2, "evaluation.splits": 1, "data_folder": tmp_path}
    assert command("run", "--pipelines=evaluation", dataset=written.stem, **small).exit_code == 0
    (summary,) = (tmp_path / "08_reporting" / written.stem).glob("*/summary.json")
    scores = [float(score) for score in re.findall(r"\d\. .*: (\d+\.\d+)", result.output)]
    assert json.loads(summary.read_text())["val_mean"] == pytest.approx(max(scores), abs=0.01), "what was compared"


def test_settings_of_the_data_sets_own_file_are_kept(tmp_path, written):
    source = written.with_name(f"{written.stem}_own.yml")
    source.parent.mkdir(parents=True, exist_ok=True)
    own = {"source": {"kind": "csbm", "nodes": 120}, "protocols": {"best": {"features": {"normalise": "columns"}}}}
    try:
        source.write_text(yaml.safe_dump({source.stem: own}))
        params = f"dataset={source.stem},data_folder={tmp_path},representation.dim=4"
        options = ["--params", params, "--budget", "2", "--splits", "1", "--trials", "1"]
        result = CliRunner().invoke(KedroCLI(PROJECT), ["search", *options, "--name", written.stem])
        assert result.exit_code == 0, result.output
        assert yaml.safe_load(written.read_text())[written.stem]["features"]["normalise"] == "columns"
        other = CliRunner().invoke(KedroCLI(PROJECT), ["search", *options, "--name", source.stem])
        assert other.exit_code == 2
        assert f"there is a data set '{source.stem}' already; choose another name with --name" in other.output
    finally:
        source.unlink()


def test_a_search_may_be_made_again_though_it_has_chosen_a_direction(written):
    start = check_parameters({"dataset": "c", "source": {"kind": "wikipedia", "name": "chameleon", "directed": False}})
    written.parent.mkdir(parents=True, exist_ok=True)
    written.write_text(yaml.safe_dump({written.stem: {"source": start.source.model_dump() | {"directed": True}}}))
    _check_name(written.stem, PROJECT, start)
    with pytest.raises(UserError, match="already; choose another name"):
        _check_name("squirrel", PROJECT, start)


def test_what_is_wrong_with_the_graph_itself_is_told_once(tmp_path, written):
    params = f"dataset=own,source.edges={tmp_path / 'missing.csv'},data_folder={tmp_path},representation.dim=4"
    options = ["--params", params, "--splits", "1", "--trials", "1", "--name", written.stem]
    result = CliRunner().invoke(KedroCLI(PROJECT), ["search", *options])
    assert result.exit_code == 2, result.output
    assert len([line for line in result.output.splitlines() if line[:1].isdigit()]) == 2
    assert not written.exists()


def test_a_mistake_is_one_line_and_writes_nothing(command, tmp_path, written):
    result = CliRunner().invoke(KedroCLI(PROJECT), ["search", "--params", "dataset=coar", "--name", written.stem])
    assert result.exit_code == 2
    assert "did you mean 'cora'" in result.output
    assert not written.exists()
