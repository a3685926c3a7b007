"""A pipeline that is asked for alone runs what it needs, once, and says so."""

import re
import urllib.request

import pytest

SMALL = {
    "dataset": "csbm",
    "source.nodes": 120,
    "representation.dim": 4,
    "representation.training.max_epochs": 3,
    "representation.training.threads": 1,
    "evaluation.trials": 2,
    "evaluation.splits": 2,
}
PIPELINES = ["data_processing", "representation", "projection", "evaluation", "reporting"]


def ran(caplog):
    return re.findall(r"Running node: (\w+)", caplog.text)


@pytest.mark.parametrize("option", ["--pipeline", "--pipelines"])
@pytest.mark.parametrize("name", PIPELINES)
def test_every_pipeline_runs_in_a_fresh_project(name, option, command, tmp_path, caplog):
    result = command("run", f"{option}={name}", data_folder=tmp_path, **SMALL)
    assert result.exit_code == 0, result.output
    nodes = ran(caplog)
    assert len(nodes) == len(set(nodes)), "nothing is computed twice"
    said = re.findall("nothing is there yet of (.*) for these settings", caplog.text)
    assert said == ([", ".join(PIPELINES[: PIPELINES.index(name)])] if name != "data_processing" else [])
    assert ("train_encoder" in nodes) == (name != "data_processing")


def test_nothing_that_exists_is_computed_again(command, tmp_path, caplog):
    assert command("run", "--pipelines=representation", data_folder=tmp_path, **SMALL).exit_code == 0
    caplog.clear()
    assert command("run", "--pipelines=projection", data_folder=tmp_path, **SMALL).exit_code == 0
    assert ran(caplog) == ["fit_projection"]
    caplog.clear()
    assert command("run", "--pipelines=evaluation", data_folder=tmp_path, **SMALL).exit_code == 0
    assert sorted(ran(caplog)) == ["evaluate_splits", "fit_classifier", "record_run", "tabulate_results"]
    caplog.clear()
    other_splits = SMALL | {"source.splits": 3}
    assert command("run", "--pipelines=evaluation", data_folder=tmp_path, **other_splits).exit_code == 0
    assert "train_encoder" not in ran(caplog), "embeddings do not depend on splits"


def test_changed_tables_never_give_stale_results(command, tmp_path, caplog):
    edges = tmp_path / "edges.csv"
    rows = [f"{i},{(i * 7 + 1) % 60}" for i in range(60)]
    (tmp_path / "nodes.csv").write_text("id,x,label\n" + "\n".join(f"{i},{i % 5},{i % 2}" for i in range(60)))
    own = {"source.edges": edges, "source.nodes": tmp_path / "nodes.csv", "source.label_column": "label"}
    params = {name: value for name, value in SMALL.items() if not name.startswith("source.")} | own
    params |= {"dataset": "own", "data_folder": tmp_path / "data"}
    edges.write_text("from,to\n" + "\n".join(rows))
    assert command("run", "--pipelines=evaluation", **params).exit_code == 0
    edges.write_text("from,to\n" + "\n".join(rows[:50]))
    caplog.clear()
    assert command("run", "--pipelines=evaluation", **params).exit_code == 0
    assert {"prepare_graph", "train_encoder", "embed_nodes"} <= set(ran(caplog))


def test_a_failure_in_what_runs_first_is_one_line_that_names_the_missing_file(command, tmp_path, monkeypatch):
    def offline(*args, **kwargs):
        raise OSError("no network")

    monkeypatch.setattr(urllib.request, "urlopen", offline)
    monkeypatch.delenv("FIGURE_RAW_MIRROR", raising=False)
    result = command("run", "--pipeline=representation", data_folder=tmp_path, dataset="arxiv_year")
    assert result.exit_code == 2
    (line,) = [line for line in result.stderr.splitlines() if line.startswith("Error: ")]
    assert line.startswith("Error: raw file ogbn_arxiv/arxiv.zip is missing in")
    assert "Traceback" not in result.output


def test_a_repeated_params_option_is_an_error_and_runs_nothing(command, tmp_path):
    result = command("run", "--params", f"data_folder={tmp_path}", dataset="csbm")
    assert result.exit_code == 2
    assert f"give all in one: --params data_folder={tmp_path},dataset=csbm" in result.output
    assert not any(tmp_path.iterdir())


def test_an_own_file_that_is_missing_is_one_line_before_anything_runs(command, tmp_path):
    result = command("run", data_folder=tmp_path / "data", dataset="own", **{"source.edges": "nowhere.csv"})
    assert result.exit_code == 2
    assert result.stderr.startswith("Error: there is no file nowhere.csv")
    assert not (tmp_path / "data").exists()
