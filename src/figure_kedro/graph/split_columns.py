"""Splits that a table holds as boolean masks: one column for each part."""

import re
from collections.abc import Mapping

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError
from figure_kedro.graph.splits import PARTS, splits_from_masks

PART = re.compile(r"(train|val|test)(ing|id|idation)?", re.IGNORECASE)
TRUE, FALSE = {"true", "1", "1.0"}, {"false", "0", "0.0"}


def is_mask(values: pd.Series) -> bool:
    """Whether a column holds nothing but true and false, as words or as 1 and 0."""
    return not values.isna().any() and set(values.astype(str).str.lower().unique()) <= TRUE | FALSE


def mask_of(values: pd.Series) -> np.ndarray:
    """Where a column says true."""
    return values.astype(str).str.lower().isin(TRUE).to_numpy()


def splits_of_masks(masks: Mapping[str, np.ndarray], place: str) -> np.ndarray:
    """Combine masks, given by the names of their columns, three for each split, into split codes ``(s, n)``.

    The name of a column says which part it is (``train_mask``, ``is_val``, ``test``); what is left of the name says to
    which split it belongs (``train_mask_0``).

    Raises:
        UserError: If a part is missing, or a node is in two parts.
    """
    splits: dict[str, dict[str, np.ndarray]] = {}
    for name, mask in masks.items():
        found = PART.search(name)
        if found is None:
            raise UserError(
                f"{place}: column {name!r} holds true and false, but its name does not say whether it is train, "
                "val or test; rename it"
            )
        rest = PART.sub("", name, count=1)
        splits.setdefault(rest, {})[found[1].lower()] = mask
    for rest, parts in splits.items():
        for part in PARTS:
            if part not in parts:
                raise UserError(f"{place}: the masks {rest.strip('_ ')!r} lack the part {part!r}; name three columns")
    train, val, test = (np.stack([parts[part] for parts in splits.values()]) for part in PARTS)
    return splits_from_masks(train, val, test, place)
