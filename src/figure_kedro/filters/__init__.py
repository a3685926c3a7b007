"""Filter banks: sets of polynomials of the normalised adjacency, applied by recurrence."""

from figure_kedro.filters.bank import FilterBank
from figure_kedro.filters.banks import bank_names, build_bank
from figure_kedro.filters.operator import SparseOperator, normalised_adjacency, to_torch
from figure_kedro.filters.workspace import Workspace

__all__ = ["FilterBank", "SparseOperator", "Workspace", "bank_names", "build_bank", "normalised_adjacency", "to_torch"]
