"""A fitted classifier on disk."""

from figure_kedro.datasets.files.tensor_file import are_tensors_whole
from figure_kedro.datasets.once import OnceDataset
from figure_kedro.evaluation.classifier import WEIGHTS, Classifier, NoClassifier, load_classifier


class ClassifierDataset(OnceDataset[Classifier | NoClassifier]):
    """Saves a :class:`~figure_kedro.evaluation.classifier.Classifier`, or why there is none, as a folder with its
    weights and a description.

    Example::

        classifier:
          type: figure_kedro.datasets.classifier_dataset.ClassifierDataset
          filepath: data/06_models/cora
    """

    keeps_saved = True

    def write(self, data: Classifier | NoClassifier) -> None:
        data.save(self._filepath)

    def read(self) -> Classifier | NoClassifier:
        return load_classifier(self._filepath)

    def _exists(self) -> bool:
        return are_tensors_whole(self._filepath / WEIGHTS)
