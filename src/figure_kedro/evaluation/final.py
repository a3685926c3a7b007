"""The last fit of a head, after settings were chosen on every split: what predicts nodes that have no label."""

import math
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any, Literal

import numpy as np
import pandas as pd
from pydantic import Field

from figure_kedro.embeddings import Embeddings
from figure_kedro.errors import UserError
from figure_kedro.evaluation.classifier import BLOCK_ROWS, Classifier, NoClassifier
from figure_kedro.evaluation.head import HEADS, Examples, HeadSettings
from figure_kedro.evaluation.metric import score
from figure_kedro.evaluation.predictions import Predictions, predictions_of_all
from figure_kedro.graph import Targets
from figure_kedro.graph.splits import TRAIN, VAL
from figure_kedro.parts import Settings
from figure_kedro.projections import Projection
from figure_kedro.tuning.study import Space


class ClassifierSettings(Settings):
    """The classifier that is kept: fitted once more, after the splits were scored."""

    labels: Literal["train_and_val", "train", "all"] = Field(
        "train_and_val",
        description="what it is fitted on, with the settings of the split that has the best validation score: the "
        "labels of that split's training and validation part, of its training part, or all that there are",
    )


def fit_final(
    embeddings: Embeddings,
    projection: Projection,
    targets: Targets,
    split_scores: pd.DataFrame,
    head_settings: HeadSettings,
    settings: ClassifierSettings,
    metric: str,
) -> tuple[Classifier | NoClassifier, Predictions]:
    """Fit the head once more, and predict every node.

    The settings are those of the split with the highest score on validation, the first of equals; test scores are not
    looked at.

    Args:
        embeddings: Of all nodes.
        projection: Fitted on them.
        targets: With labels and splits.
        split_scores: One row per split, with its validation score and the chosen settings.
        head_settings: Of the head.
        settings: Which labels to fit.
        metric: What decides.

    Returns:
        The classifier, or why it is not kept, and the table of
        :func:`~figure_kedro.evaluation.predictions.predictions_of_all`.
    """
    assert targets.labels is not None, "there are labels"
    assert targets.splits is not None, "there are splits"
    head, labels = HEADS.build(head_settings), np.asarray(targets.labels)
    chosen = split_scores.iloc[int(np.argmax(split_scores[f"val_{metric}"].to_numpy()))]
    split = int(chosen["split"])
    codes = np.asarray(targets.splits[split])
    nodes = np.flatnonzero(labels >= 0) if head.keeps else np.arange(len(labels))
    inputs = head.inputs(embeddings, projection, nodes)
    choice = chosen_settings(head.space(inputs), head.chosen, chosen)
    examples, labelled = Examples.of(labels[nodes], codes[nodes]), _labelled(labels[nodes], codes[nodes], settings)
    truth = examples.labels[examples.val]
    final = head.final(inputs, choice, examples, labelled, lambda proba, known: score(metric, truth, proba, known))
    classes = tuple(targets.classes[code] for code in final.classes)
    fitted = np.zeros(len(labels), dtype=bool)
    fitted[nodes[final.rows]] = True

    def predictions(probabilities: Callable[[], Iterator[np.ndarray]]) -> Predictions:
        return predictions_of_all(
            embeddings.ids, targets, split, fitted, classes, probabilities, wanted_threads=head_settings.threads
        )

    if not head.keeps:
        assert final.probabilities is not None
        reason = f"evaluation.head={head_settings.head} keeps no weights for other nodes; choose linear or mlp"
        return NoClassifier(reason), predictions(partial(_in_blocks, final.probabilities))
    classifier = Classifier(
        head_settings, projection, choice, final.weights, classes, embeddings.names, metric, split, settings.labels
    )
    return classifier, predictions(partial(classifier.probability_blocks, embeddings))


def chosen_settings(space: Space, chosen: tuple[str, ...], row: pd.Series) -> dict[str, Any]:
    """What was chosen on a split, from its row of the table of scores: exactly the values that were tried.

    Args:
        space: The values that were tried, by name.
        chosen: Further names, of numbers.
        row: May come from a file, where a number has lost its type or its last digit.
    """
    found = {name: _tried(name, values, row[name]) for name, values in space.items() if name in row}
    return found | {name: float(row[name]) for name in chosen if name in row}


def _tried(name: str, values: list[Any], raw: Any) -> Any:
    for value in values:
        if value == raw or (not isinstance(value, str | bool) and math.isclose(value, float(raw), rel_tol=1e-9)):
            return value
    raise UserError(f"the table of scores has {name} = {raw}, which was never tried; run --pipelines=evaluation again")


def _labelled(labels: np.ndarray, codes: np.ndarray, settings: ClassifierSettings) -> Examples:
    parts = {"train": codes == TRAIN, "train_and_val": (codes == TRAIN) | (codes == VAL), "all": labels >= 0}
    rows = np.flatnonzero(parts[settings.labels])
    nobody = np.arange(0)
    return Examples(rows, nobody, nobody, np.where(parts[settings.labels], labels, -1))


def _in_blocks(rows: np.ndarray) -> Iterator[np.ndarray]:
    return (rows[start : start + BLOCK_ROWS] for start in range(0, len(rows), BLOCK_ROWS))
