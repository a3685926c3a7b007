"""``kedro run --pipelines=inference`` and ``--pipelines=neighbours`` on a small graph of a user's own."""

import numpy as np
import pandas as pd
import pytest

SMALL = {
    "representation.dim": 8,
    "representation.training.max_epochs": 5,
    "representation.training.threads": 1,
    "evaluation.trials": 6,
    "evaluation.splits": 1,
    "evaluation.threads": 1,
}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The tables of a graph, of two nodes that join it, and of both together; some nodes have no label."""
    folder, rng = tmp_path_factory.mktemp("own"), np.random.default_rng(0)
    ids = [f"n{i}" for i in range(60)]
    labels = [("red", "blue")[i % 2] if i > 9 else "" for i in range(60)]
    features = rng.normal(size=(62, 3)) + np.array([1, 0, -1]) * (np.arange(62) % 2)[:, None]
    nodes = pd.DataFrame({"id": [*ids, "m0", "m1"], "a": features[:, 0], "b": features[:, 1], "c": features[:, 2]})
    edges = pd.DataFrame({"from": np.repeat(ids, 3), "to": rng.choice(ids, 180)})
    new = pd.DataFrame({"from": ["m0", "n3", "m1", "m0"], "to": ["n1", "m0", "n7", "m1"]})
    nodes[:60].assign(label=labels).to_csv(folder / "nodes.csv", index=False)
    nodes.assign(label=[*labels, "", ""]).to_csv(folder / "joined_nodes.csv", index=False)
    nodes[60:][["id", "c", "a", "b"]].to_csv(folder / "new_nodes.csv", index=False)
    edges.to_csv(folder / "edges.csv", index=False)
    new.to_csv(folder / "new_edges.csv", index=False)
    pd.concat([edges, new]).to_csv(folder / "joined_edges.csv", index=False)
    pd.DataFrame({"id": ["n5", "n2"]}).to_csv(folder / "ids.csv", index=False)
    return folder


def run(command, tables, pipeline, **changes):
    source = {"dataset": "own", "source.edges": tables / "edges.csv", "source.nodes": tables / "nodes.csv"}
    given = {**source, "source.label_column": "label", "data_folder": tables / "data", **SMALL, **changes}
    return command(
        "run", f"--pipelines={pipeline}", **{name: value for name, value in given.items() if value is not None}
    )


def files(folder):
    return {path for path in folder.rglob("*") if path.is_file() and "mlflow" not in path.parts}


def last_line(result):
    return result.output.strip().splitlines()[-1]


def only(folder, pattern):
    (path,) = folder.glob(pattern)
    return path


NEW = ("inference.edges", "inference.nodes")


def new(tables, edges="new_edges.csv", nodes="new_nodes.csv"):
    return dict(zip(NEW, (tables / edges, tables / nodes), strict=True))


def test_new_nodes_are_embedded_and_classified_without_training_again(command, tables):
    result = run(command, tables, "inference", **new(tables))
    assert result.exit_code == 0, result.output
    output = tables / "data" / "07_model_output" / "own"
    table = pd.read_parquet(only(output, "*/new_predictions.parquet"))
    assert table["id"].tolist() == ["m0", "m1"]
    assert list(table) == ["id", "predicted", "p_blue", "p_red"]
    np.testing.assert_allclose(table[["p_blue", "p_red"]].sum(axis=1), 1, rtol=1e-5)
    everyone = pd.read_parquet(only(output, "*/predictions.parquet"))
    assert everyone["id"].tolist() == [f"n{i}" for i in range(60)]
    assert (everyone["predicted"] != "").all()

    from figure_kedro import FiGURe
    from figure_kedro.datasets.sources import SOURCES

    joined = {"kind": "own", "edges": str(tables / "joined_edges.csv"), "nodes": str(tables / "joined_nodes.csv")}
    graph = SOURCES.build(SOURCES.parse(joined | {"label_column": "label"})).load(None, "joined")
    models = only(tables / "data", "06_models/own/*/weights.safetensors").parent
    expected = FiGURe.load(models).transform(graph)
    for name, view in expected.items():
        found = pd.read_parquet(only(output, f"*/new_embeddings/{name}.parquet"))
        assert found["id"].tolist() == ["m0", "m1"]
        np.testing.assert_allclose(found.drop(columns="id"), view[60:], atol=1e-6)


def test_the_nearest_nodes_are_listed_for_the_ids_that_are_asked_for(command, tables):
    result = run(command, tables, "neighbours", **{"neighbours.k": 3, "neighbours.of": tables / "ids.csv"})
    assert result.exit_code == 0, result.output
    table = pd.read_parquet(only(tables / "data", "07_model_output/own/*/neighbours.parquet"))
    assert table["id"].tolist() == ["n5"] * 3 + ["n2"] * 3
    assert table["rank"].tolist() == [1, 2, 3] * 2
    assert (table["id"] != table["neighbour"]).all()
    assert table["cosine"].between(-1, 1.000001).all()


def wrong(tables, name, text):
    (tables / name).write_text(text)
    return name


MISTAKES = {
    "an edge to an unknown id": ({"edges": "from,to\nm0,zzz\n"}, "row 1: there is no node 'zzz'"),
    "an id that exists": (
        {"nodes": "id,a,b,c\nn1,1,2,3\n", "edges": "from,to\nn1,n2\n"},
        "node 'n1' is in own already",
    ),
    "a missing feature": ({"nodes": "id,a,b\nm0,1,2\nm1,1,2\n"}, "has no column 'c'"),
    "an unknown feature": ({"nodes": "id,a,b,c,d\nm0,1,2,3,4\nm1,1,2,3,4\n"}, "has a column 'd' of numbers"),
    "a cell without a number": ({"nodes": "id,a,b,c\nm0,1,,3\nm1,1,2,3\n"}, "column 'b': node 'm0'"),
}


@pytest.mark.parametrize("mistake", MISTAKES)
def test_a_mistake_in_the_tables_of_new_nodes_is_one_line_and_nothing_is_written(mistake, command, tables):
    texts, message = MISTAKES[mistake]
    names = {kind: wrong(tables, f"wrong_{kind}.csv", text) for kind, text in texts.items()}
    assert run(command, tables, "inference", **new(tables)).exit_code == 0
    before = files(tables)
    result = run(command, tables, "inference", **new(tables, **names))
    assert result.exit_code == 2
    assert message in last_line(result)
    assert files(tables) == before


def test_other_requests_that_cannot_be_answered_are_one_line(command, tables):
    unlabelled = {"source.label_column": None, "source.feature_columns": "a", "inference.predictions": "always"}
    for changes, message in (
        ({"inference.edges": tables / "new_edges.csv"}, "inference.nodes is needed"),
        (new(tables, nodes="nowhere.csv"), "there is no file"),
        ({**new(tables), **unlabelled}, "own has no labels"),
        ({**new(tables), "inference.edge": "x"}, "did you mean 'inference.edges'?"),
    ):
        result = run(command, tables, "inference", **changes)
        assert result.exit_code == 2, result.output
        assert message in last_line(result)


@pytest.mark.parametrize("name", ["weights", "classifier"])
def test_a_model_file_that_is_cut_short_is_told_and_made_anew(name, command, tables, caplog):
    assert run(command, tables, "inference", **new(tables)).exit_code == 0
    contents = {path: path.read_bytes() for path in tables.glob(f"data/06_models/own/*/{name}.safetensors")}
    for path, content in contents.items():
        path.write_bytes(content[: len(content) // 2])
    result = run(command, tables, "inference", **new(tables))
    assert contents
    assert result.exit_code == 0
    assert "it is made anew" in " ".join(caplog.messages)
    remade = [path for path, content in contents.items() if path.stat().st_size > len(content) // 2]
    for path in contents.keys() - set(remade):  # of other settings
        path.write_bytes(contents[path])
    assert len(remade) == 1
