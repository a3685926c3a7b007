"""The tables of new nodes are read as those of training were, by the names of their columns."""

import pandas as pd
import pytest

from figure_kedro.datasets.new_nodes_dataset import NewNodesDataset
from figure_kedro.datasets.sources.tables import column_names, read_table

NODES = pd.DataFrame({"name": ["a", "b"], "age": [1.5, 2.5], "size": [3, 4]})
EDGES = pd.DataFrame({"from": ["a"], "to": ["b"], "since": [1999]})


def write(frame, path):
    frame.to_parquet(path) if path.suffix == ".parquet" else frame.to_csv(path, index=False)
    return str(path)


@pytest.fixture
def read(tmp_path):
    source = {"kind": "own", "directed": True, "edges": write(EDGES, tmp_path / "edges.csv")}
    source["nodes"] = write(NODES, tmp_path / "nodes.csv")

    def new(nodes, edges, suffix=".csv", **settings):
        tables = {"nodes": write(nodes, tmp_path / f"new{suffix}"), "edges": write(edges, tmp_path / f"links{suffix}")}
        return NewNodesDataset(inference=tables, source=source | settings).load()

    return new


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_columns_of_new_tables_may_have_any_order(read, suffix):
    nodes = pd.DataFrame({"size": [5], "age": [7.5], "name": ["c"]})
    edges = pd.DataFrame({"to": ["c"], "since": [2001], "from": ["a"]})
    found = read(nodes, edges, suffix)
    assert found.ids.tolist() == ["c"]
    assert list(found.features) == ["size", "age"]
    assert (found.source.tolist(), found.target.tolist()) == (["a"], ["c"]), "an edge has its direction by name"


def test_new_tables_with_other_names_have_ids_in_their_first_columns(read):
    found = read(pd.DataFrame({"id": ["c"], "age": [7.5], "size": [5]}), pd.DataFrame({"x": ["a"], "z": ["c"]}))
    assert found.ids.tolist() == ["c"]
    assert (found.source.tolist(), found.target.tolist()) == (["a"], ["c"])


def test_settings_that_name_a_column_count_first(read):
    nodes = pd.DataFrame({"name": ["no id"], "key": ["c"], "age": [7.5]})
    assert read(nodes, pd.DataFrame({"from": ["a"], "to": ["c"]}), id_column="key").ids.tolist() == ["c"]


@pytest.mark.parametrize("suffix", [".csv", ".parquet"])
def test_names_of_columns_are_those_of_the_table(tmp_path, suffix):
    path = write(NODES, tmp_path / f"nodes{suffix}")
    assert column_names(path) == list(read_table(path, [0]).columns) == ["name", "age", "size"]
