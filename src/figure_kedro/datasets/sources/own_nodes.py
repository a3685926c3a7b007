"""The node table of a user's graph: ids, features, labels and splits."""

import logging
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
import pandas as pd

from figure_kedro.datasets.sources.tables import (
    WHOLE_NUMBER,
    column,
    default_column,
    is_unnamed,
    read_ids,
    read_table,
    words,
)
from figure_kedro.errors import UserError, nearest
from figure_kedro.graph import random_splits
from figure_kedro.graph.compact import compact
from figure_kedro.graph.graph import Features
from figure_kedro.graph.splits import PARTS

if TYPE_CHECKING:
    from figure_kedro.datasets.sources.kinds.own import OwnSettings

logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Nodes:
    """What is known about the nodes, as in :class:`~figure_kedro.graph.graph.Graph`."""

    ids: np.ndarray
    id_column: str | None = None
    features: Features | None = None
    labels: np.ndarray | None = None
    classes: tuple[str, ...] | None = None
    splits: np.ndarray | None = None


def read_nodes(settings: "OwnSettings") -> Nodes:
    """Read the node table that the settings name."""
    path = settings.nodes
    assert path is not None, "there is a node table"
    given = [settings.id_column or 0, *settings.split_columns]
    frame = read_table(path, given if settings.label_column is None else [*given, settings.label_column])
    id_column = settings.id_column or default_column(frame, path, "id_column")
    ids = read_ids(column(frame, path, id_column), path)
    repeated = pd.Series(ids).duplicated().to_numpy()
    if repeated.any():
        raise UserError(f"{path}, column {id_column!r}: node {str(ids[np.argmax(repeated)])!r} is there twice")
    features = _features(settings, path, frame, ids, id_column)
    if settings.label_column is None:
        return Nodes(ids, id_column, features)
    labels, classes = _labels(column(frame, path, settings.label_column), path)
    if settings.split_columns:
        codes = [_split(column(frame, path, name), labels, ids, path) for name in settings.split_columns]
        return Nodes(ids, id_column, features, labels, classes, np.stack(codes))
    return Nodes(ids, id_column, features, labels, classes, _random_splits(settings, labels))


def _features(
    settings: "OwnSettings", path: str, frame: pd.DataFrame, ids: np.ndarray, id_column: str
) -> Features | None:
    names = list(settings.feature_columns or ())
    if settings.feature_columns is None:
        rest = [key for key in frame if key not in (id_column, settings.label_column, *settings.split_columns)]
        names = [key for key in rest if pd.api.types.is_numeric_dtype(frame[key]) and not is_unnamed(key)]
        if left_out := sorted(set(rest) - set(names)):
            logger.warning(
                "%s: columns without numbers or without a name are no features: %s", path, ", ".join(left_out)
            )
    if not names:
        return None
    features = np.empty((len(frame), len(names)), dtype=np.float32)
    for position, name in enumerate(names):
        values = column(frame, path, name)
        with np.errstate(over="ignore"):  # becomes infinite, which is reported
            features[:, position] = pd.to_numeric(values, errors="coerce").to_numpy(np.float64, na_value=np.nan)
        bad = ~np.isfinite(features[:, position])
        if bad.any():
            node = int(np.argmax(bad))
            raise UserError(
                f"{path}, column {name!r}: node {str(ids[node])!r} has {str(values.iloc[node])!r}, "
                "which is no finite number; fill it in or choose other feature_columns"
            )
    return compact(features)


def _labels(values: pd.Series, path: str) -> tuple[np.ndarray, tuple[str, ...]]:
    names = words(values)
    classes = {name for name in names if name is not None}
    if len(classes) < 2:
        found = f"only the class {classes.pop()!r}" if classes else "no labels"
        raise UserError(f"{path}, column {values.name!r}: there is {found}; at least two classes are needed")
    numbers = all(WHOLE_NUMBER.fullmatch(name) for name in classes)
    order = sorted(classes, key=int) if numbers else sorted(classes)
    code = {name: number for number, name in enumerate(order)} | {None: -1}
    return np.array([code[name] for name in names], dtype=np.int64), tuple(order)


def _split(values: pd.Series, labels: np.ndarray, ids: np.ndarray, path: str) -> np.ndarray:
    names = words(values)
    place = f"{path}, column {values.name!r}"
    for node, name in enumerate(names):
        if name is not None and name not in PARTS:
            raise UserError(f"{place}: node {str(ids[node])!r} is in {name!r}; {nearest(name, PARTS)}")
    codes = np.array([0 if name is None else PARTS[name] for name in names], dtype=np.int8)
    unlabelled = (codes > 0) & (labels < 0)
    if unlabelled.any():
        node = int(np.argmax(unlabelled))
        raise UserError(
            f"{place}: node {str(ids[node])!r} is in {names[node]!r} but has no label; leave its cell empty"
        )
    for part, code in PARTS.items():
        members = np.unique(labels[codes == code])
        if len(members) == 0:
            raise UserError(f"{place}: no node is in {part!r}; every split needs train, val and test")
        if part == "train" and len(members) == 1:
            raise UserError(f"{place}: the nodes in 'train' have one class; a classifier needs two")
    return codes


def _random_splits(settings: "OwnSettings", labels: np.ndarray) -> np.ndarray | None:
    if settings.random_splits == 0:
        return None
    splits = random_splits(labels, settings.random_splits, settings.train, settings.val, settings.seed)
    if any((codes == part).sum() == 0 for codes in splits for part in PARTS.values()):
        raise UserError(
            f"{settings.nodes}, column {settings.label_column!r}: {int((labels >= 0).sum())} labelled nodes are too "
            "few for random splits of every class; add labels, set split_columns, or set random_splits to 0"
        )
    return splits
