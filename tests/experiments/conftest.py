"""What tests of experiments need."""

from pathlib import Path

import pytest
from kedro.framework.startup import bootstrap_project

from figure_kedro.experiments.cells import project_loader
from figure_kedro.experiments.definition import Experiment
from figure_kedro.experiments.plan import plan_experiments

PROJECT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def loader():
    bootstrap_project(PROJECT)
    return project_loader(PROJECT)


@pytest.fixture
def planned(loader, tmp_path):
    """A plan of experiments from their entries, with a data folder of its own."""

    def plan(datasets=(), given=None, **experiments):
        common = {"title": "T", "rows": {"": {}}, "columns": {"": {}}}
        read = {name: Experiment.read(name, common | entries) for name, entries in experiments.items()}
        return plan_experiments(loader, read, {"data_folder": str(tmp_path), **(given or {})}, datasets)

    return plan
