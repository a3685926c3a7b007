"""A graph of one's own from the command line: what is in doubt is asked, and the answer is one more parameter."""

import numpy as np
import pandas as pd
import pytest

SMALL = {"representation.dim": 4, "representation.training.max_epochs": 2, "evaluation.trials": 1}


@pytest.fixture
def tables(tmp_path):
    """Forty nodes with numeric classes and two splits, in files with tabs and semicolons."""
    rng = np.random.default_rng(0)
    ids = np.array([f"p{number:02d}" for number in range(40)])
    source, target = ids[rng.integers(0, 40, size=(2, 200))]
    pd.DataFrame({"from": source, "to": target}).to_csv(tmp_path / "edges.tsv", sep="\t", index=False)
    parts = {f"s{number}": rng.permutation(np.repeat(["train", "val", "test"], [20, 10, 10])) for number in (0, 1)}
    nodes = pd.DataFrame({"id": ids, "size": rng.random(40), "kind": rng.choice(["a", "b"], 40), **parts})
    nodes.assign(y=np.arange(40) % 2).to_csv(tmp_path / "nodes.csv", sep=";", index=False)
    files = {"source.edges": tmp_path / "edges.tsv", "source.nodes": tmp_path / "nodes.csv"}
    return {"dataset": "own", "data_folder": tmp_path / "data", **files, **SMALL}


def test_a_label_among_the_features_is_asked_about_and_the_answer_runs(command, tables, tmp_path, caplog):
    result = command("run", **tables)
    assert result.exit_code == 2
    line = "are these columns features? 'y' (like a label); set source.label_column=y, source.ignore=y to leave out"
    assert line in result.stderr
    assert result.stderr.count("\n") == 1
    assert not list((tmp_path / "data").glob("0[2-8]*"))

    caplog.clear()
    answers = {"source.label_column": "y", "source.split_columns": "s0+s1", "source.one_hot": "kind"}
    result = command("run", "--pipelines=representation", **tables, **answers)
    assert result.exit_code == 0, result.output
    said = [record.getMessage() for record in caplog.records]
    expected = "ids 'id', 3 features (size, kind=a, kind=b), label 'y' of 2 classes, splits s0, s1"
    first = next(number for number, line in enumerate(said) if expected in line)
    trained = next(number for number, line in enumerate(said) if line.startswith("trained for"))
    assert first < trained, "before it trains"
    assert any(line.startswith("own: 40 nodes and ") for line in said)


def test_a_value_that_cannot_be_parsed_is_one_line(command, tables):
    result = command("run", **tables, **{"source.ignore": "*x"})
    assert result.exit_code == 2
    assert "--params cannot be read" in result.stderr
    assert result.stderr.count("\n") == 1
