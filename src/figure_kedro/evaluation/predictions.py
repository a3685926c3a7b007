"""What is predicted for nodes: a table, of a few nodes as a whole and of all of them block by block."""

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from figure_kedro.graph import Targets
from figure_kedro.graph.splits import PARTS
from figure_kedro.progress import Bar
from figure_kedro.training.threads import threads


@dataclass(frozen=True, eq=False)
class Predictions:
    """The table of predictions of all nodes, which is never in memory as a whole: its blocks are made one by one.

    Args:
        rows: Of the whole table.
        blocks: Makes them, from the first row on, every time that it is called. There is one at the least, which has
            the columns even if it has no rows.
    """

    rows: int
    blocks: Callable[[], Iterator[pd.DataFrame]]

    def table(self) -> pd.DataFrame:
        """All rows, for whoever has the memory."""
        return pd.concat(self.blocks(), ignore_index=True)


NO_PREDICTIONS = Predictions(0, lambda: iter([pd.DataFrame({"id": []})]))
"""Of a graph without labels."""


def predictions_of_all(
    ids: np.ndarray,
    targets: Targets,
    split: int,
    fitted: np.ndarray,
    classes: tuple[str, ...],
    probabilities: Callable[[], Iterator[np.ndarray]],
    *,
    wanted_threads: int = 0,
) -> Predictions:
    """One row for each node: its id, its label if that is known, its part of a split, whether its label was fitted, the
    predicted class, and the probability of each class.

    Args:
        ids: Of all nodes ``(n,)``.
        targets: With labels and splits.
        split: The number of the split.
        fitted: ``(n,)``.
        classes: The class of each column of the probabilities ``(C,)``.
        probabilities: Gives those of consecutive nodes ``(., C)``, from the first node on; called for every pass.
        wanted_threads: Of torch meanwhile, see :func:`~figure_kedro.training.threads.threads`.
    """
    assert targets.labels is not None, "there are labels"
    assert targets.splits is not None, "there are splits"
    labels, codes = np.asarray(targets.labels), np.asarray(targets.splits[split])
    names, parts = np.array([*targets.classes, ""], dtype=object), np.array(["", *PARTS], dtype=object)

    def blocks() -> Iterator[pd.DataFrame]:
        done = 0
        with threads(wanted_threads), Bar("predictions") as bar:
            for block in probabilities():
                rows = slice(done, done + len(block))
                known = {"label": names[labels[rows]], "part": parts[codes[rows]], "fitted": fitted[rows]}
                yield prediction_table(ids[rows], block, classes, known)
                done = rows.stop
                bar.show(done / len(ids), [f"{done:,} of {len(ids):,} nodes"])

    return Predictions(len(ids), blocks)


def prediction_table(
    ids: np.ndarray, probabilities: np.ndarray, classes: tuple[str, ...], known: Mapping[str, np.ndarray] | None = None
) -> pd.DataFrame:
    """One row for each node: its id, what is known of it, the predicted class, and ``p_<class>`` for each class."""
    predicted = np.array(classes, dtype=object)[probabilities.argmax(axis=1)]
    columns = {f"p_{name}": probabilities[:, column] for column, name in enumerate(classes)}
    return pd.DataFrame({"id": ids, **(known or {}), "predicted": predicted, **columns})
