"""Filter banks: sets of polynomials of the normalised adjacency, applied by recurrence."""

from figure_kedro.filters.bank import BANKS, BankSettings, FilterBank, Propagate, build_bank, mathtext
from figure_kedro.filters.narrowing import Narrowing
from figure_kedro.filters.operator import Operator, SparseOperator, as_tensor, normalised_adjacency, oriented, to_torch
from figure_kedro.filters.workspace import Workspace

__all__ = [
    "BANKS",
    "BankSettings",
    "FilterBank",
    "Narrowing",
    "Operator",
    "Propagate",
    "SparseOperator",
    "Workspace",
    "as_tensor",
    "build_bank",
    "mathtext",
    "normalised_adjacency",
    "oriented",
    "to_torch",
]
