"""Settings, projections and records of runs come back from JSON as they were saved."""

import json

import numpy as np
import pandas as pd
import pytest
from kedro.io import DatasetError

from figure_kedro.datasets.files.sealed_file import DIGESTS, write_sealed
from figure_kedro.datasets.typed_json import FORMAT, MethodSettingsDataset, ProjectionDataset, RunRecordDataset
from figure_kedro.errors import UserError
from figure_kedro.machine_errors import find_user_error
from figure_kedro.methods.method import METHODS
from figure_kedro.projections import MAPS, Projection
from figure_kedro.reporting.record import RunRecord

CHANGES = {
    "figure": {"dim": 7, "strategy": "sampled", "sampled": {"size": 9}, "tuning": {"space": {"dim": [3, 4]}}},
    "node2vec": {"p": 0.25, "training": {"learning_rate": 0.1}},
}


def record():
    splits = pd.DataFrame({"split": [0], "val_accuracy": [0.5], "test_accuracy": [np.float32(0.25)], "gamma": [np.nan]})
    fields = {"dataset": "cora", "method": "figure", "dimension": 8, "projection": "none"}
    rest = {"storage_mb": 1.0, "settings": {}, "data_checksum": "abc"}
    return RunRecord.of_run(**fields, splits=splits, timing={"epochs": 3}, **rest)


def came_back(make, path, data):
    make(filepath=str(path)).save(data)
    return make(filepath=str(path)).load()


@pytest.mark.parametrize("method", METHODS.names())
def test_settings_of_every_method_come_back(tmp_path, method):
    settings = METHODS.parse({"method": method, **CHANGES.get(method, {})})
    assert came_back(MethodSettingsDataset, tmp_path / "a" / "settings.json", settings) == settings


@pytest.mark.parametrize("scale", ["none", "rms", "standard"])
@pytest.mark.parametrize("name", MAPS.names())
def test_a_projection_comes_back_and_maps_as_before(tmp_path, name, scale):
    views = [np.random.default_rng(seed).standard_normal((20, 5), dtype=np.float32) for seed in (0, 1)]
    saved = Projection.fit(MAPS.parse({"map": name, "scale": scale}), views)
    loaded = came_back(ProjectionDataset, tmp_path / "projection.json", saved)
    assert (loaded.settings, loaded.input_dim, loaded.output_dim) == (saved.settings, 5, saved.output_dim)
    np.testing.assert_array_equal(loaded.transform(views[0]), saved.transform(views[0]))


def test_a_record_comes_back_and_is_strict_json(tmp_path):
    assert came_back(RunRecordDataset, tmp_path / "summary.json", record()) == record()
    json.loads((tmp_path / "summary.json").read_text(), parse_constant=pytest.fail)  # no NaN


def test_nothing_but_its_digest_is_left_beside_the_file(tmp_path):
    came_back(RunRecordDataset, tmp_path / "summary.json", record())
    assert {path.name for path in tmp_path.iterdir()} == {"summary.json", DIGESTS}
    assert [path.name for path in (tmp_path / DIGESTS).iterdir()] == ["summary.json"]


def saved(folder):
    """A file of each kind, with the dataset that reads it."""
    projection = Projection.fit(MAPS.parse({}), [np.ones((2, 3), dtype=np.float32)])
    for make, data in (
        (MethodSettingsDataset, METHODS.parse({})),
        (ProjectionDataset, projection),
        (RunRecordDataset, record()),
    ):
        dataset = make(filepath=str(folder / f"{make.__name__}.json"))
        dataset.save(data)
        yield dataset


def with_format(dataset, version):
    """Let the file say another version, or none, as another program would have written it."""
    stored = json.loads(dataset._filepath.read_text())
    assert stored.pop("format") == FORMAT
    stored |= {} if version is None else {"format": version}
    write_sealed(dataset._filepath, json.dumps(stored))


@pytest.mark.parametrize("version", [99, FORMAT + 1, "2", None, 1, 0])
def test_a_file_of_another_format_is_refused_in_one_line(tmp_path, version):
    old = version in (None, 0, 1)
    for dataset in saved(tmp_path):
        if isinstance(dataset, RunRecordDataset) and version in (None, 1):
            continue  # older records are read, see test_migration.py
        with_format(dataset, version)
        with pytest.raises(UserError, match=r"has format .*, and this program reads") as error:
            dataset.read()
        assert "\n" not in str(error.value)
        assert ("made anew" if old else "use a newer version") in str(error.value)
        with pytest.raises(DatasetError) as wrapped:
            dataset.load()
        assert str(find_user_error(wrapped.value)) == str(error.value)
