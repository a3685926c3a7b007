"""A large node table: features, labels and splits of its rows block by block, into files if they are large."""

from collections.abc import Callable
from functools import partial

import numpy as np
import pandas as pd
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph.columns import Columns
from figure_kedro.graph.compact import is_sparse
from figure_kedro.graph.feature_columns import lists_of, numbers_of
from figure_kedro.graph.graph import Features
from figure_kedro.graph.labels import class_codes, words
from figure_kedro.graph.node_survey import NodeSurvey
from figure_kedro.graph.node_table import Nodes, check_split, checked_masks, drawn_splits, split_codes, tell
from figure_kedro.graph.row_blocks import even_blocks
from figure_kedro.graph.split_columns import mask_of
from figure_kedro.memory import memory


class NodeBlocks:
    """Makes of all rows, which were surveyed before, what :func:`~figure_kedro.graph.node_table.nodes_of_table` makes
    of the whole table.

    A mistake in a column is told when all rows have been seen, so that it is the same one as for a table in memory.

    Args:
        survey: Of all rows.
        columns: What the user says.
        ids: Of all nodes ``(n,)``.
        place: The name of the table.
    """

    def __init__(self, survey: NodeSurvey, columns: Columns, ids: np.ndarray, place: str) -> None:
        self._survey, self._columns, self._ids, self._place = survey, columns, ids, place
        self._classes = survey.classes()
        chosen, self._widths = survey.features()
        self._chosen, n = chosen, survey.rows
        self._names = list(chosen.numbers)
        for name, width in self._widths.items():
            self._names += [f"{name}[{position}]" for position in range(width)]
        self._features = memory().empty((n, len(self._names)))
        self._labels = memory().empty(n, np.int64) if self._classes is not None else None
        self._masked = all(survey.splits.values())
        self._splits = memory().empty((len(survey.splits), n), bool if self._masked else np.int8)
        self._nonzero, self._done = 0, 0
        self._wrong: dict[tuple[str, str], UserError] = {}

    def add(self, frame: pd.DataFrame) -> None:
        """Take the next rows."""
        rows = slice(self._done, self._done + len(frame))
        ids, place = self._ids[rows], self._place
        features = self._features[rows]
        for position, name in enumerate(self._chosen.numbers):
            self._fill(features[:, position], ("feature", name), partial(numbers_of, frame[name], ids, place))
        at = len(self._chosen.numbers)
        for name, width in self._widths.items():
            block = features[:, at : at + width]
            self._fill(block, ("feature", name), partial(lists_of, frame[name], width, ids, place))
            at += width
        self._nonzero += int(np.count_nonzero(features))
        if self._labels is not None and self._classes is not None:
            self._labels[rows] = class_codes(words(frame[self._columns.label_column]), self._classes)
        for number, name in enumerate(self._survey.splits):
            if self._masked:
                self._splits[number, rows] = mask_of(frame[name])
            else:
                part = self._splits[number, rows]
                self._fill(part, ("split", name), partial(split_codes, frame[name], ids, place))
        self._done = rows.stop

    def nodes(self) -> Nodes:
        """What all rows say, in the order of the ids.

        Raises:
            UserError: For the first mistake.
        """
        for name in (*self._chosen.numbers, *self._chosen.lists):
            self._raise_if_wrong(("feature", name))
        nodes = Nodes(
            self._ids,
            self._survey.id_column,
            self._compact(),
            tuple(self._names),
            self._labels,
            self._classes,
            self._checked_splits(),
        )
        tell(nodes, self._columns, self._survey.first, self._place, self._survey.left)
        return nodes

    def _fill(self, part: np.ndarray, what: tuple[str, str], values: Callable[[], np.ndarray]) -> None:
        if what in self._wrong:
            return
        try:
            part[:] = values()
        except UserError as error:
            self._wrong[what] = error

    def _raise_if_wrong(self, what: tuple[str, str]) -> None:
        if what in self._wrong:
            raise self._wrong[what]

    def _compact(self) -> Features | None:
        """See :func:`~figure_kedro.graph.compact.compact`."""
        features = self._features
        if not self._names:
            return None
        if not is_sparse(self._nonzero, features.size):
            return features
        index = np.int32 if max(self._nonzero, *features.shape) <= np.iinfo(np.int32).max else np.int64
        data, indices = memory().empty(self._nonzero), memory().empty(self._nonzero, index)
        indptr = np.zeros(len(features) + 1, dtype=index)
        for rows in even_blocks(*features.shape):
            block = sp.csr_array(features[rows])
            new = slice(indptr[rows.start], indptr[rows.start] + block.nnz)
            data[new], indices[new] = block.data, block.indices
            indptr[rows.start + 1 : rows.stop + 1] = new.start + block.indptr[1:]
        return sp.csr_array((data, indices, indptr), shape=features.shape, copy=False)

    def _checked_splits(self) -> np.ndarray | None:
        labels, ids, place = self._labels, self._ids, self._place
        if labels is None:
            return None
        if not self._survey.splits:
            return drawn_splits(self._columns, labels, f"{place}, column {self._columns.label_column!r}")
        if self._masked:
            return checked_masks(dict(zip(self._survey.splits, self._splits, strict=True)), labels, ids, place)
        for name, codes in zip(self._survey.splits, self._splits, strict=True):
            self._raise_if_wrong(("split", name))
            check_split(codes, labels, ids, f"{place}, column {name!r}")
        return self._splits
