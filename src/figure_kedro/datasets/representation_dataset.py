"""A fitted method on disk."""

from figure_kedro.datasets.files.tensor_file import are_tensors_whole
from figure_kedro.datasets.once import OnceDataset
from figure_kedro.errors import UserError
from figure_kedro.estimator import WEIGHTS, Representation


class RepresentationDataset(OnceDataset[Representation]):
    """Saves a fitted :class:`~figure_kedro.estimator.Representation` as a folder with its weights and settings.

    Example::

        encoder:
          type: figure_kedro.datasets.representation_dataset.RepresentationDataset
          filepath: data/06_models/cora
    """

    keeps_saved = True

    def write(self, data: Representation) -> None:
        data.save(self._filepath)

    def read(self) -> Representation:
        if not (self._filepath / WEIGHTS).exists():
            raise UserError(
                "there is no trained encoder for these settings; run `kedro run --pipelines=representation` with the "
                "same --params first"
            )
        return Representation.load(self._filepath)

    def _exists(self) -> bool:
        return are_tensors_whole(self._filepath / WEIGHTS)
