"""The table of nodes: ids, features, labels and splits."""

import logging
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError, nearest
from figure_kedro.graph.columns import Columns, column, default_column, ignored, is_among, matching
from figure_kedro.graph.doubts import ID, LABEL, says
from figure_kedro.graph.feature_columns import features_of
from figure_kedro.graph.graph import Features
from figure_kedro.graph.ids import as_ids
from figure_kedro.graph.labels import encode_labels, words
from figure_kedro.graph.split_columns import is_mask, mask_of, splits_of_masks
from figure_kedro.graph.splits import PARTS, random_splits

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Nodes:
    """What is known about the nodes, as in :class:`~figure_kedro.graph.graph.Graph`."""

    ids: np.ndarray
    id_column: str | None = None
    features: Features | None = None
    feature_names: tuple[str, ...] = ()
    labels: np.ndarray | None = None
    classes: tuple[str, ...] | None = None
    splits: np.ndarray | None = None


def nodes_of_table(frame: pd.DataFrame, columns: Columns, place: str) -> Nodes:
    """Read what a table says about the nodes, one in each row."""
    left = ignored(columns, frame)
    id_column = find_id_column(columns, frame, place)
    ids = as_ids(column(frame, place, id_column), f"{place}, column {id_column!r}")
    ask_about_ids(columns, frame, place, id_column)
    repeated = pd.Series(ids).duplicated().to_numpy()
    if repeated.any():
        raise UserError(there_twice(place, id_column, str(ids[np.argmax(repeated)])))
    labels, classes, splits = None, None, None
    if columns.label_column is not None:
        labels, classes = encode_labels(column(frame, place, columns.label_column))
        check_classes(classes, place, columns.label_column)
    others = {id_column, columns.label_column, *matching(columns.split_columns, frame, place), *left}
    features, names = features_of(frame, columns, place, ids, labels, others)
    if labels is not None:
        splits = _splits(columns, frame, labels, ids, place)
    nodes = Nodes(ids, id_column, features, names, labels, classes, splits)
    tell(nodes, columns, frame, place, left)
    return nodes


def find_id_column(columns: Columns, frame: pd.DataFrame, place: str) -> str:
    """The name of the column of ids."""
    return columns.id_column or default_column(frame, place, "id_column", columns.no_ids)


def there_twice(place: str, id_column: str, node: str) -> str:
    """What to say of an id that two rows have."""
    return f"{place}, column {id_column!r}: node {node!r} is there twice"


def ask_about_ids(columns: Columns, frame: pd.DataFrame, place: str, taken: str) -> None:
    """Raise a :class:`UserError` if the ids seem to be in another column than the one that was taken."""
    named = [name for name in frame.columns if says(ID, name)]
    if columns.id_column is None and len(named) == 1 and not says(ID, taken):
        raise UserError(
            f"{place}: the first column is {taken!r}, but ids seem to be in {named[0]!r}; set "
            f"{columns.setting('id_column', named[0])}, or {columns.setting('id_column', taken)} if the first is meant"
        )


def check_classes(classes: tuple[str, ...], place: str, label_column: str) -> None:
    """Raise a :class:`UserError` unless there are two classes at the least."""
    if len(classes) < 2:
        found = f"only the class {classes[0]!r}" if classes else "no labels"
        raise UserError(f"{place}, column {label_column!r}: there is {found}; at least two classes are needed")


def _splits(
    columns: Columns, frame: pd.DataFrame, labels: np.ndarray, ids: np.ndarray, place: str
) -> np.ndarray | None:
    given = [frame[name] for name in matching(columns.split_columns, frame, place)]
    if given and all(is_mask(values) for values in given):
        return checked_masks({str(values.name): mask_of(values) for values in given}, labels, ids, place)
    if given:
        return np.stack([_split(values, labels, ids, place) for values in given])
    return drawn_splits(columns, labels, f"{place}, column {columns.label_column!r}")


def checked_masks(masks: Mapping[str, np.ndarray], labels: np.ndarray, ids: np.ndarray, place: str) -> np.ndarray:
    """The splits of masks by the names of their columns, after a look at them."""
    splits = splits_of_masks(masks, place)
    for number, codes in enumerate(splits):
        check_split(codes, labels, ids, f"{place}, split {number} of the masks")
    return splits


def drawn_splits(columns: Columns, labels: np.ndarray, place: str) -> np.ndarray | None:
    """Stratified random splits, as many as the settings ask for."""
    if columns.random_splits == 0:
        return None
    splits = random_splits(labels, columns.random_splits, columns.train, columns.val, columns.seed)
    if any((codes == part).sum() == 0 for codes in splits for part in PARTS.values()):
        raise UserError(
            f"{place}: {int((labels >= 0).sum())} labelled nodes are too "
            "few for random splits of every class; add labels, set split_columns, or set random_splits to 0"
        )
    return splits


def _split(values: pd.Series, labels: np.ndarray, ids: np.ndarray, place: str) -> np.ndarray:
    codes = split_codes(values, ids, place)
    check_split(codes, labels, ids, f"{place}, column {values.name!r}")
    return codes


def split_codes(values: pd.Series, ids: np.ndarray, place: str) -> np.ndarray:
    """A column of train, val, test or nothing as codes ``(n,)``."""
    names = words(values)
    for node, name in enumerate(names):
        if name is not None and name not in PARTS:
            where = f"{place}, column {values.name!r}"
            raise UserError(f"{where}: node {str(ids[node])!r} is in {name!r}; {nearest(name, PARTS)}")
    return np.array([0 if name is None else PARTS[name] for name in names], dtype=np.int8)


def check_split(codes: np.ndarray, labels: np.ndarray, ids: np.ndarray, place: str) -> None:
    """Raise a :class:`UserError` for a split that no classifier can be judged by."""
    unlabelled = (codes > 0) & (labels < 0)
    if unlabelled.any():
        node = int(np.argmax(unlabelled))
        part = [*PARTS][codes[node] - 1]
        raise UserError(f"{place}: node {str(ids[node])!r} is in {part!r} but has no label; leave its cell empty")
    for part, code in PARTS.items():
        members = np.unique(labels[codes == code])
        if len(members) == 0:
            raise UserError(f"{place}: no node is in {part!r}; every split needs train, val and test")
        if part == "train" and len(members) == 1:
            raise UserError(f"{place}: the nodes in 'train' have one class; a classifier needs two")


def tell(nodes: Nodes, columns: Columns, frame: pd.DataFrame, place: str, left: set[str]) -> None:
    """Say in one line what every column was taken for."""
    used = (nodes.id_column, columns.label_column, *columns.split_columns, *columns.one_hot, *left)
    rest = [key for key in frame.columns if not is_among(key, used) and key not in nodes.feature_names]
    rest = [key for key in rest if not any(name.startswith(f"{key}[") for name in nodes.feature_names)]
    label = "no label"
    if nodes.labels is not None:
        label = f"label {columns.label_column!r} of {len(nodes.classes or ())} classes"
        unlabelled = int((nodes.labels < 0).sum())
        label += f" ({unlabelled} nodes without)" if unlabelled else ""
        drawn = 0 if nodes.splits is None else len(nodes.splits)
        label += f", splits {', '.join(columns.split_columns)}" if columns.split_columns else f", {drawn} random splits"
    elif like := [key for key in rest if says(LABEL, key)]:
        label += f" ({columns.setting('label_column', like[0])} would take {like[0]!r} for it)"
    logger.info(
        "%s: ids %r, %s, %s%s",
        place,
        nodes.id_column,
        _shortened(nodes.feature_names),
        label,
        f"; not used: {', '.join(sorted(rest))}" if rest else "",
    )


def _shortened(names: tuple[str, ...]) -> str:
    if not names:
        return "no features"
    shown = ", ".join(names if len(names) < 7 else [*names[:3], "...", names[-1]])
    return f"{len(names)} features ({shown})"
