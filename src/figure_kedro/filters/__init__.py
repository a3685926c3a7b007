"""Filter banks: sets of polynomials of the normalised adjacency, applied by recurrence."""

from figure_kedro.filters.bank import BANKS, BankSettings, FilterBank, Propagate, build_bank
from figure_kedro.filters.operator import Operator, SparseOperator, normalised_adjacency, oriented, to_torch
from figure_kedro.filters.workspace import Workspace

__all__ = [
    "BANKS",
    "BankSettings",
    "FilterBank",
    "Operator",
    "Propagate",
    "SparseOperator",
    "Workspace",
    "build_bank",
    "normalised_adjacency",
    "oriented",
    "to_torch",
]
