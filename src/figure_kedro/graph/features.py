"""Node features in whatever form they come."""

from typing import Any

import numpy as np
import pandas as pd
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph.compact import compact
from figure_kedro.graph.graph import Features


def as_features(values: Any, name: str) -> Features:
    """Features ``(n, d)``, float32, as a dense array or, where few of them are not zero, in CSR form.

    Args:
        values: An array, a tensor, a sparse matrix or tensor, a table of numbers or a list of rows.
        name: Of the graph, for the error message.
    """
    if hasattr(values, "detach"):
        values = _from_tensor(values)
    if sp.issparse(values):
        matrix = sp.csr_array(values, dtype=np.float32, copy=True)
        matrix.sum_duplicates()
        return matrix
    if isinstance(values, pd.DataFrame):
        for column in values.columns:
            if not pd.api.types.is_numeric_dtype(values[column]):
                raise UserError(f"{name}: the feature column {column!r} holds no numbers; leave it out or encode it")
        values = values.to_numpy(np.float64, na_value=np.nan)
    try:
        array = np.asarray(values)
        array = array.astype(np.float32) if array.dtype.kind in "OUS" else array
    except (TypeError, ValueError):
        raise UserError(f"{name}: the features are no table of numbers; give rows of one length") from None
    if array.dtype.kind not in "fiub" or array.ndim not in (1, 2):
        raise UserError(f"{name}: features must be numbers (n, d), not {array.dtype} of shape {array.shape}")
    return compact(array.reshape(len(array), -1) if array.size else array.reshape(len(array), 0))


def _from_tensor(tensor: Any) -> np.ndarray | sp.csr_array:
    tensor = tensor.detach().cpu()
    return tensor.numpy() if str(tensor.layout) == "torch.strided" else sparse_from_tensor(tensor)


def sparse_from_tensor(tensor: Any) -> sp.csr_array:
    """A sparse tensor of any layout as a matrix."""
    entries = tensor.detach().cpu().to_sparse_coo().coalesce()
    return sp.csr_array((entries.values().numpy(), tuple(entries.indices().numpy())), shape=tuple(entries.shape))
