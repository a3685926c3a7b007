"""Small typed objects as JSON files for people and programs."""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any, TypeVar

from kedro_datasets._typing import JSONPreview

from figure_kedro.datasets.files.sealed_file import read_sealed, write_sealed
from figure_kedro.datasets.once import OnceDataset
from figure_kedro.errors import DamagedFileError, UserError
from figure_kedro.methods.method import METHODS, MethodSettings
from figure_kedro.projections import Projection
from figure_kedro.reporting.record import RunRecord
from figure_kedro.versions import check_format

FORMAT = 2
"""Of settings and projections. 1 had the settings of all parts side by side."""

T = TypeVar("T")


def read_json(path: Path, make: Callable[[Any], T]) -> T:
    """Make an object of what a JSON file holds.

    Raises:
        DamagedFileError: If the file is not what was written, or makes no such object.
        UserError: If there is none, or it has another format.
    """
    if not path.exists():
        raise UserError(f"there is no {path}; run the pipeline that makes it with the same --params first")
    content = read_sealed(path)
    try:
        return make(json.loads(content))
    except UserError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedFileError(path, f"it cannot be read: {str(error).partition(chr(10))[0]}") from error


def write_json(path: Path, value: dict[str, Any]) -> None:
    """Write a JSON file that appears whole or not at all, and its digest."""
    write_sealed(path, json.dumps(value, indent=2))


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
        return read_json(self._filepath, lambda stored: METHODS.parse(_checked(stored, self)))


class ProjectionDataset(OnceDataset[Projection]):
    """Saves a fitted :class:`~figure_kedro.projections.Projection`: its settings and its scale.

    Example::

        projection:
          type: figure_kedro.datasets.typed_json.ProjectionDataset
          filepath: data/07_model_output/cora/projection.json
    """

    def write(self, data: Projection) -> None:
        write_json(self._filepath, {"format": FORMAT, **data.description()})

    def read(self) -> Projection:
        return read_json(self._filepath, lambda stored: Projection.from_description(_checked(stored, self)))


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
        return read_json(self._filepath, RunRecord.read)

    def preview(self) -> JSONPreview:
        """The whole record, for Kedro-Viz."""
        return JSONPreview(self._filepath.read_text())


def _checked(stored: dict[str, Any], dataset: OnceDataset[Any]) -> dict[str, Any]:
    check_format(stored.pop("format", None), FORMAT, str(dataset._filepath), oldest=FORMAT)
    return stored
