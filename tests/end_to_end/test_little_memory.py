"""A whole run in little memory leaves what one in much memory leaves, bit for bit."""

import numpy as np
import pandas as pd
import pytest

from figure_kedro import planning
from figure_kedro.datasets.embeddings_dataset import read_embeddings
from figure_kedro.datasets.files.tensor_file import read_tensors
from figure_kedro.evaluation.classifier import load_classifier
from figure_kedro.memory import is_mapped, memory

PARAMS = {
    "dataset": "csbm",
    "source.nodes": 300,
    "source.splits": 1,
    "source.labelled": 0.8,
    "representation.dim": 8,
    "representation.strategy": "decoupled",
    "representation.decoupled.batch_rows": 64,
    "representation.training.max_epochs": 4,
    "representation.training.threads": 1,
    "evaluation.trials": 2,
    "evaluation.threads": 1,
}


@pytest.fixture
def mapped(monkeypatch):
    """Counts the arrays that are made in files."""
    from figure_kedro.datasets.files.scratch import ScratchFolder

    made, original = [], ScratchFolder.__call__

    def counted(self, shape, dtype):
        made.append(shape)
        return original(self, shape, dtype)

    monkeypatch.setattr(ScratchFolder, "__call__", counted)
    return made


def files(folder, pattern):
    """By where they are; MLflow's copies do not count."""
    found = {path.relative_to(folder): path for path in sorted(folder.rglob(pattern))}
    return {where: path for where, path in found.items() if "mlflow" not in where.parts[0]}


def only(folder, pattern):
    (found,) = folder.glob(pattern)
    return found


@pytest.mark.usefixtures("one_thread")
@pytest.mark.parametrize(("keep", "pipeline"), [("always", "__default__"), ("never", "evaluation")])
def test_run_in_little_memory_leaves_the_same_bits(command, tmp_path, mapped, keep, pipeline):
    left = {}
    for name, gib in (("much", 100), ("little", 1e-5)):
        mapped.clear()
        params = {**PARAMS, "representation.embeddings": keep, "data_folder": tmp_path / name, "memory": gib}
        result = command("run", f"--pipelines={pipeline}", **params)
        assert result.exit_code == 0, result.output
        assert bool(mapped) == (name == "little")
        left[name] = tmp_path / name
    arrays = {name: files(folder, "*.npy") for name, folder in left.items()}
    assert arrays["much"].keys() == arrays["little"].keys()
    for path, file in arrays["much"].items():
        np.testing.assert_array_equal(np.load(file), np.load(arrays["little"][path]), err_msg=str(path), strict=True)
    weights = {name: files(folder, "weights.safetensors") for name, folder in left.items()}
    assert weights["much"].keys() == weights["little"].keys() != set()
    for path, file in weights["much"].items():
        much, little = read_tensors(file)[0], read_tensors(weights["little"][path])[0]
        assert all((much[name] == little[name]).all() for name in much)
    scores = {name: files(folder, "split_scores.csv") for name, folder in left.items()}
    assert scores["much"].keys() == scores["little"].keys() != set()
    for path, file in scores["much"].items():
        pd.testing.assert_frame_equal(pd.read_csv(file), pd.read_csv(scores["little"][path]), rtol=1e-5)
    tables = {name: only(folder, "07_model_output/csbm/*/predictions.parquet") for name, folder in left.items()}
    much, little = (pd.read_parquet(table) for table in tables.values())
    known = ["id", "label", "part", "fitted"]
    pd.testing.assert_frame_equal(much[known], little[known])
    assert (much["predicted"] == little["predicted"]).mean() > 0.98  # a fit on blocks ends beside the one on all rows
    if keep == "always":
        for name, folder in left.items():
            classifier = load_classifier(only(folder, "06_models/csbm/*/classifier.safetensors").parent)
            embeddings = read_embeddings(only(folder, "07_model_output/csbm/*/embeddings"), lambda: None)
            table = pd.read_parquet(tables[name])
            probabilities = table[[f"p_{name}" for name in classifier.classes]].to_numpy()
            np.testing.assert_array_equal(probabilities, classifier.probabilities(embeddings))
    assert not is_mapped(memory().empty(10**6)), "the limit of a run ends with it"


def test_run_says_what_it_will_take_and_stops_in_one_line_if_the_disk_is_too_small(command, tmp_path, monkeypatch):
    class Usage:
        free = 1000

    monkeypatch.setattr(planning.shutil, "disk_usage", lambda folder: Usage)
    result = command("run", "--pipelines=data_processing", **PARAMS, data_folder=tmp_path)
    assert result.exit_code == 2
    assert "MiB of disk and" in result.output
    assert "has 0.0 MiB left" in result.output
    assert not (tmp_path / "03_primary").exists()
