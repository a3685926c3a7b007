"""The forms in which embeddings under several filters can be handed to a classifier."""

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp
import torch

from figure_kedro.errors import UserError, nearest

View = np.ndarray | torch.Tensor | None


def as_views(given: Any, names: Sequence[str] | None = None) -> tuple[list[View], tuple[str, ...] | None]:
    """All views, each ``(n, D)``, and their names if these are known.

    Args:
        given: A dictionary of views by name; a list of views; one array ``(n, K, D)``, as :func:`stack_views` makes it,
            whose first axis is the nodes, so that tools that select rows work with it; or a single view ``(n, D)``.
        names: The views that are wanted, in their order, for a dictionary.
    """
    if sp.issparse(given):  # some of them are mappings, too
        raise TypeError("sparse views are not supported; use a dense array")
    if isinstance(given, Mapping):
        wanted = tuple(given) if names is None else tuple(names)
        for name in wanted:
            if name not in given:
                raise UserError(f"there is no view {name!r}; {nearest(str(name), map(str, given))}")
        if unknown := [name for name in given if name not in wanted]:
            raise UserError(f"the classifier knows no view {unknown[0]!r}; {nearest(str(unknown[0]), wanted)}")
        return [given[name] for name in wanted], wanted
    if isinstance(given, np.ndarray | torch.Tensor) and given.ndim == 3:
        return [given[:, view] for view in range(given.shape[1])], None
    if isinstance(given, Sequence) and (len(given) == 0 or any(_is_matrix(view) for view in given)):
        return list(given), None
    return [given], None


def is_single(given: Any) -> bool:
    """Whether this is one view ``(n, D)`` in a form that scikit-learn can check."""
    views, names = as_views(given)
    return names is None and len(views) == 1 and views[0] is given and not isinstance(given, torch.Tensor)


def stack_views(views: Mapping[str, np.ndarray] | Sequence[np.ndarray]) -> np.ndarray:
    """All views side by side as one array ``(n, K, D)``: node by node, for ``cross_val_score`` and the like.

    >>> stack_views({"I": np.zeros((5, 2)), "A": np.ones((5, 2))}).shape
    (5, 2, 2)
    """
    arrays = [np.asarray(view) for view in (views.values() if isinstance(views, Mapping) else views)]
    if len({array.shape for array in arrays}) != 1 or arrays[0].ndim != 2:
        raise UserError(f"all views must have one shape (n, D), not {sorted({array.shape for array in arrays})}")
    return np.stack(arrays, axis=1)


def _is_matrix(view: Any) -> bool:
    return isinstance(view, pd.DataFrame) or getattr(view, "ndim", None) == 2
