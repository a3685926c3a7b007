"""Small typed objects as JSON files for people and programs."""

import json
from typing import Any

import numpy as np

from figure_kedro.datasets.files.tensor_file import write_json
from figure_kedro.datasets.once import OnceDataset
from figure_kedro.methods.method import METHODS, MethodSettings
from figure_kedro.projections import MAPS, Projection, ViewScaler
from figure_kedro.reporting.record import RunRecord
from figure_kedro.versions import check_format

FORMAT = 2
"""Of settings and projections. 1 had the settings of all parts side by side."""


class MethodSettingsDataset(OnceDataset[MethodSettings]):
    """Saves the settings of a method.

    Example::

        tuned_representation:
          type: figure_kedro.datasets.typed_json.MethodSettingsDataset
          filepath: data/06_models/cora/tuned_representation.json
    """

    def write(self, data: MethodSettings) -> None:
        write_json(self._filepath, {"format": FORMAT, **data.model_dump(mode="json")})

    def read(self) -> MethodSettings:
        return METHODS.parse(_checked(json.loads(self._filepath.read_text()), self))


class ProjectionDataset(OnceDataset[Projection]):
    """Saves a fitted :class:`~figure_kedro.projections.Projection`: its settings and its scale.

    Example::

        projection:
          type: figure_kedro.datasets.typed_json.ProjectionDataset
          filepath: data/07_model_output/cora/projection.json
    """

    def write(self, data: Projection) -> None:
        described = {
            "settings": data.settings.model_dump(mode="json"),
            "input_dim": data.input_dim,
            "output_dim": data.output_dim,
            "mean": data.scaler.mean_.tolist(),
            "scale": data.scaler.scale_.tolist(),
        }
        write_json(self._filepath, {"format": FORMAT, **described})

    def read(self) -> Projection:
        described = _checked(json.loads(self._filepath.read_text()), self)
        settings = MAPS.parse(described["settings"])
        scaler = ViewScaler(settings.scale, settings.norm)
        scaler.mean_, scaler.scale_ = np.array(described["mean"]), np.array(described["scale"])
        return Projection(settings, scaler, described["input_dim"])


class RunRecordDataset(OnceDataset[RunRecord]):
    """Saves the :class:`~figure_kedro.reporting.record.RunRecord` of a run.

    Example::

        summary:
          type: figure_kedro.datasets.typed_json.RunRecordDataset
          filepath: data/08_reporting/cora/summary.json
    """

    def write(self, data: RunRecord) -> None:
        write_json(self._filepath, data.model_dump(mode="json"))

    def read(self) -> RunRecord:
        return RunRecord.read(json.loads(self._filepath.read_text()))


def _checked(stored: dict[str, Any], dataset: OnceDataset[Any]) -> dict[str, Any]:
    check_format(stored.pop("format", None), FORMAT, str(dataset._filepath), oldest=FORMAT)
    return stored
