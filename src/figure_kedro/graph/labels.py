"""Labels of any type as numbers of classes."""

import re
from typing import Any

import numpy as np
import pandas as pd

from figure_kedro.errors import UserError

WHOLE_NUMBER = re.compile(r"0|-?[1-9][0-9]{0,17}")


def words(values: pd.Series) -> np.ndarray:
    """What each cell says as a string, whole numbers without a decimal point; ``None`` where it is empty or NaN."""
    if pd.api.types.is_float_dtype(values):
        return np.array([None if pd.isna(v) else str(int(v)) if v % 1 == 0 else str(v) for v in values], object)
    if not all(map(pd.api.types.is_scalar, values)):
        raise UserError(f"column {values.name!r}: there are cells that hold lists; a cell must hold one value")
    return np.array([None if pd.isna(v) or v in ("", "nan", "NaN") else str(v) for v in values], dtype=object)


def encode_labels(values: Any) -> tuple[np.ndarray, tuple[str, ...]]:
    """The number of each node's class ``(n,)``, -1 where there is none, and the names of the classes.

    Names are in numeric order if all of them are whole numbers, else in alphabetical order. In a tensor or an array of
    integers a negative number is a node without a label.
    """
    values = values.detach().cpu().numpy() if hasattr(values, "detach") else values
    if isinstance(values, np.ndarray) and values.dtype.kind == "i":
        values = pd.Series(values).where(values >= 0)
    names = words(pd.Series(values))
    classes = class_order({name for name in names if name is not None})
    return class_codes(names, classes), classes


def class_order(classes: set[str]) -> tuple[str, ...]:
    """Names in numeric order if all of them are whole numbers, else in alphabetical order."""
    numbers = all(WHOLE_NUMBER.fullmatch(name) for name in classes)
    return tuple(sorted(classes, key=int) if numbers else sorted(classes))


def class_codes(names: np.ndarray, classes: tuple[str, ...]) -> np.ndarray:
    """The number of each class ``(n,)``, -1 for ``None``."""
    code: dict[str | None, int] = {name: number for number, name in enumerate(classes)}
    return np.array([-1 if name is None else code[name] for name in names], dtype=np.int64)
