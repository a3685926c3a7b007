"""Whatever happens to a stored file, the next run gives what an undisturbed one gives, and says what it found."""

import shutil
from pathlib import Path

import pytest
from damage import READ_BACK, WAYS, damage
from faults_project import PROJECT

from figure_kedro.datasets.files.tensor_file import read_tensors
from figure_kedro.experiments.cells import _catalog, make, project_loader
from figure_kedro.pipeline_registry import register_pipelines
from figure_kedro.search.plan import nested

SMALL = {
    "dataset": "csbm",
    "source.nodes": 60,
    "source.features": 4,
    "representation.dim": 3,
    "representation.training.max_epochs": 3,
    "representation.training.threads": 1,
    "projection.map": "fourier",
    "projection.dim": 4,
    "evaluation.trials": 2,
    "evaluation.splits": 2,
}
PIPELINES = ["__default__", "data_processing", "representation", "projection", "evaluation", "reporting"]


def run(data, pipeline):
    outcome = make(str(PROJECT), SMALL | {"data_folder": str(data)}, pipeline)
    assert outcome.details == "", outcome.details
    return outcome.error


def results(data):
    """What a run is for: weights, scores without times, predictions."""
    (weights,) = data.glob("06_models/*/*/weights.safetensors")
    (predictions,) = data.glob("07_model_output/*/*/split_predictions.parquet")
    (scores,) = data.glob("08_reporting/*/*/split_scores.csv")
    rows = [line.split(",")[:5] for line in scores.read_text().splitlines()]
    tensors = {name: tensor.tolist() for name, tensor in read_tensors(weights)[0].items()}
    return tensors, rows, predictions.read_bytes()


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory):
    data = tmp_path_factory.mktemp("undisturbed")
    assert run(data, "__default__") == ""
    return data, results(data)


@pytest.fixture
def copied(undisturbed, tmp_path):
    shutil.copytree(undisturbed[0], tmp_path / "data")
    return tmp_path / "data"


def files(data):
    return {pattern: path for pattern in READ_BACK for path in data.glob(pattern)}


def after_damage(data, undisturbed, pattern, way, pipeline):
    damage(files(data)[pattern], way)
    assert run(data, pipeline) == "", "a run that can make a file again does"
    looked_at = pipeline in ("__default__", READ_BACK[pattern]) and pipeline != "projection"
    if files(data).keys() != READ_BACK.keys() or not looked_at:  # others need not have noticed
        assert run(data, "__default__") == ""
    assert results(data) == undisturbed[1]


def test_every_artefact_that_is_read_back_is_known(undisturbed):
    data = undisturbed[0]
    assert files(data).keys() == READ_BACK.keys()
    whole = register_pipelines()["__default__"]
    makers = {name: node.namespace for node in whole.nodes for name in node.outputs}
    read = {name for node in whole.nodes for name in node.inputs if makers.get(name, node.namespace) != node.namespace}
    catalog = _catalog(PROJECT, project_loader(PROJECT).with_params(nested(SMALL | {"data_folder": str(data)})))
    damaged = set(files(data).values())
    for name in sorted(read):
        path = Path(catalog.get(name)._filepath)
        assert any(path == file or path in file.parents for file in damaged), f"{name} is damaged by no test"


ROTATED = [
    (pattern, list(WAYS)[number % len(WAYS)], READ_BACK[pattern]) for number, pattern in enumerate(sorted(READ_BACK))
]


@pytest.mark.parametrize(("pattern", "way", "pipeline"), ROTATED)
def test_a_damaged_artefact_changes_no_result(copied, undisturbed, pattern, way, pipeline):
    after_damage(copied, undisturbed, pattern, way, pipeline)


@pytest.mark.slow
@pytest.mark.parametrize("pipeline", PIPELINES)
@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("pattern", READ_BACK)
def test_any_damage_under_any_pipeline_changes_no_result(copied, undisturbed, pattern, way, pipeline):
    after_damage(copied, undisturbed, pattern, way, pipeline)
