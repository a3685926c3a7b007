"""Fitted methods on disk."""

import json

import numpy as np
import pytest
import torch
from kedro.io import DatasetError

from examples import example_graph
from figure_kedro.datasets.representation_dataset import RepresentationDataset
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.filters import BANKS
from figure_kedro.methods.method import METHODS

UNTRAINED = METHODS.parse({"method": "untrained", "dim": 3})


def fitted():
    return Representation(filters=BANKS.parse({"size": 3}), settings=UNTRAINED, progress=False).fit(example_graph())


def test_model_keeps_weights_and_description(tmp_path):
    folder = tmp_path / "m"
    dataset = RepresentationDataset(filepath=str(folder))
    assert not dataset.exists()
    with pytest.raises(DatasetError, match="no trained encoder"):
        dataset.load()
    model = fitted()
    dataset.save(model)
    assert dataset.exists()
    loaded = RepresentationDataset(filepath=str(folder)).load()
    for name, weights in model.model_.state_dict().items():
        assert torch.equal(loaded.model_.state_dict()[name], weights)
    assert loaded.description() == model.description()
    assert json.loads((folder / "settings.json").read_text()) == model.description()


def test_loaded_model_embeds_like_the_saved_one(tmp_path):
    model, graph = fitted(), example_graph()
    RepresentationDataset(filepath=str(tmp_path)).save(model)
    loaded = RepresentationDataset(filepath=str(tmp_path)).load()
    for name, view in model.transform(graph).items():
        np.testing.assert_array_equal(loaded.transform(graph)[name], view)


def test_a_run_goes_on_with_the_model_that_it_saved_and_the_next_reads_the_file(tmp_path):
    dataset, model = RepresentationDataset(filepath=str(tmp_path)), fitted()
    dataset.save(model)
    assert dataset.load() is model
    dataset.release()
    read = dataset.load()
    assert read is not model
    assert dataset.load() is read


def test_a_missing_model_is_the_cause_of_the_error(tmp_path):
    with pytest.raises(DatasetError) as error:
        RepresentationDataset(filepath=str(tmp_path / "nowhere")).load()
    assert isinstance(error.value.__cause__, UserError)
