"""Kedro-Viz counts the rows of the run that is looked at."""

import pandas as pd
import pytest
from kedro.io import DataCatalog
from kedro_datasets.pandas import CSVDataset
from kedro_viz.integrations.kedro import data_loader
from kedro_viz.models.metadata import NodeExtras

from figure_kedro import viz


@pytest.fixture
def catalog(tmp_path):
    here, missing = (CSVDataset(filepath=str(tmp_path / f"{name}.csv")) for name in ("here", "missing"))
    here.save(pd.DataFrame({"split": range(3), "score": 1.0}))
    return DataCatalog({"here": here, "missing": missing})


def test_numbers_are_those_of_the_files_and_not_of_the_last_run(catalog, monkeypatch):
    of_the_last_run = {
        name: NodeExtras.create_node_extras(stats={"rows": 99, "columns": 1}, styles=None) for name in catalog
    }
    monkeypatch.setattr(data_loader, "_load_data_helper", lambda: (catalog, {}, of_the_last_run))
    viz.show_the_run_that_is_asked_for()
    viz.show_the_run_that_is_asked_for()  # a second time changes nothing
    _, _, extras = data_loader._load_data_helper()
    assert {name: (extra.stats["rows"], extra.stats["columns"]) for name, extra in extras.items()} == {"here": (3, 2)}


def test_a_kedro_viz_that_is_built_otherwise_stays_as_it_is(monkeypatch):
    monkeypatch.delattr(data_loader, "_load_data_helper")
    viz.show_the_run_that_is_asked_for()
    assert not hasattr(data_loader, "_load_data_helper")
