"""Splits of the labelled nodes into training, validation and test."""

import numpy as np

from figure_kedro.errors import UserError

UNUSED, TRAIN, VAL, TEST = 0, 1, 2, 3
PARTS = {"train": TRAIN, "val": VAL, "test": TEST}


def splits_from_masks(train: np.ndarray, val: np.ndarray, test: np.ndarray, name: str) -> np.ndarray:
    """Combine boolean masks, each ``(s, n)``, into split codes ``(s, n)``.

    Raises:
        UserError: If a node is in two parts of one split.
    """
    masks = np.stack([np.atleast_2d(mask) for mask in (train, val, test)])
    overlap = masks.sum(axis=0) > 1
    if overlap.any():
        split, node = np.argwhere(overlap)[0]
        parts = [part for part, mask in zip(PARTS, masks, strict=True) if mask[split, node]]
        raise UserError(f"{name}: split {split} overlaps: row {node} is in {' and '.join(parts)}")
    return (masks * np.array([TRAIN, VAL, TEST], dtype=np.int8)[:, None, None]).sum(axis=0, dtype=np.int8)


def random_splits(
    labels: np.ndarray, count: int, train: float, val: float, seed: int, *, stratified: bool = True
) -> np.ndarray:
    """Draw random splits of the labelled nodes; the rest of ``train`` and ``val`` is the test part.

    Args:
        labels: Class of each node ``(n,)``, -1 where unknown; such nodes are in no part.
        count: How many splits to draw.
        train: Share of the labelled nodes for training.
        val: Share for validation.
        seed: Of the random generator; the same seed gives the same splits.
        stratified: Whether every class is divided in these shares (a class of one node goes to training).

    Returns:
        Split codes ``(count, n)``, int8.
    """
    rng = np.random.default_rng(seed)
    groups = [np.flatnonzero(labels == c) for c in np.unique(labels[labels >= 0])]
    if not stratified:
        groups = [np.flatnonzero(labels >= 0)]
    splits = np.zeros((count, len(labels)), dtype=np.int8)
    for codes in splits:
        for group in groups:
            nodes = rng.permutation(group)
            first = max(1, round(train * len(nodes)))
            second = first + round(val * len(nodes))
            codes[nodes[:first]], codes[nodes[first:second]], codes[nodes[second:]] = TRAIN, VAL, TEST
    return splits


def check_splits(splits: np.ndarray, labels: np.ndarray | None, ids: np.ndarray, name: str) -> None:
    """Raise a :class:`UserError` unless every part of every split can be used.

    A part must hold at least one node, each of its nodes must have a label, and training needs two classes.
    """
    if labels is None:
        raise UserError(f"{name}: there are splits but no labels; add a label column or leave the splits out")
    if splits.shape[1:] != labels.shape:
        raise UserError(f"{name}: splits of {splits.shape[1]} nodes for {len(labels)} nodes")
    for index, codes in enumerate(splits):
        for part, code in PARTS.items():
            if not (codes == code).any():
                raise UserError(f"{name}: the {part} part of split {index} is empty")
        unlabelled = (codes != UNUSED) & (labels < 0)
        if unlabelled.any():
            node = ids[unlabelled][:1].tolist()[0]
            raise UserError(f"{name}: node {node!r} is in split {index} but has no label")
        if len(np.unique(labels[codes == TRAIN])) < 2:
            raise UserError(f"{name}: the training part of split {index} holds one class; a classifier needs two")
