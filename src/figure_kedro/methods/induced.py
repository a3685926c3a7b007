r"""Filters induced on some of the nodes, exactly and without forming a power of the whole matrix."""

import numpy as np
import scipy.sparse as sp

from figure_kedro.filters import FilterBank
from figure_kedro.filters.bank import chebyshev_coefficients
from figure_kedro.filters.words import Words


def induced_filters(
    matrix: sp.csr_array, bank: FilterBank, nodes: np.ndarray, *, symmetric: bool = True
) -> list[sp.csr_array]:
    r"""The sub-matrices :math:`F_i[S, S]` of every filter for a set :math:`S` of nodes.

    A filter is a combination of Chebyshev polynomials :math:`T_j` of :math:`B = L - I`, and

    .. math:: T_{a+b} = 2 \, T_a T_b - T_{|a-b|}

    so that :math:`T_{a+b}[S, S]` needs only the columns :math:`T_a[:, S]` and rows :math:`T_b[S, :]`: polynomials of
    half the degree, whose columns are sparse on a sparse graph.

    Args:
        matrix: The normalised adjacency ``(n, n)``.
        bank: The filters.
        nodes: The set :math:`S`, ``(s,)``.
        symmetric: Whether the matrix equals its transpose.

    Returns:
        One matrix ``(s, s)``, float32, for each filter.
    """
    if isinstance(bank, Words):
        return _induced_words(matrix, bank, nodes)
    half = (bank.degree + 1) // 2
    columns = _columns(matrix, nodes, half)
    rows = columns if symmetric else _columns(sp.csr_array(matrix.T), nodes, half)  # rows[j] is T_j[S, :]^T
    induced: list[sp.csr_array] = []
    for degree in range(bank.degree + 1):
        a, b = (degree + 1) // 2, degree // 2
        product = rows[b].T @ columns[a]
        induced.append(product if degree < 2 else 2 * product - induced[a - b])
    return [_combine(row, induced) for row in chebyshev_coefficients(bank)]


def _columns(matrix: sp.csr_array, nodes: np.ndarray, degree: int) -> list[sp.csr_array]:
    columns = [_selection(matrix.shape[0], nodes)]
    for j in range(1, degree + 1):
        product = -(matrix @ columns[-1])
        columns.append(product if j == 1 else sp.csr_array(2 * product - columns[-2]))
    return columns


def _induced_words(matrix: sp.csr_array, bank: Words, nodes: np.ndarray) -> list[sp.csr_array]:
    """The sub-matrices of words: a word is cut in two, and its halves meet in rows and columns of the set.

    The rows of a word are the columns of its transpose, which is the word backwards in the other letters.
    """
    letters = (matrix, sp.csr_array(matrix.T))
    columns: dict[tuple[int, ...], sp.csr_array] = {(): _selection(matrix.shape[0], nodes)}
    for word in bank.words:
        if 0 < len(word) <= (bank.degree + 1) // 2:
            columns[word] = sp.csr_array(letters[word[0]] @ columns[word[1:]])
    induced = []
    for word in bank.words:
        cut = len(word) // 2
        left = tuple(1 - letter for letter in reversed(word[:cut]))
        induced.append(sp.csr_array(columns[left].T @ columns[word[cut:]], dtype=np.float32))
    return induced


def _selection(n: int, nodes: np.ndarray) -> sp.csr_array:
    """The columns ``(n, s)`` of the identity that belong to some nodes."""
    s = len(nodes)
    return sp.csr_array((np.ones(s, np.float32), (nodes, np.arange(s))), shape=(n, s))


def _combine(coefficients: np.ndarray, matrices: list[sp.csr_array]) -> sp.csr_array:
    terms = [c * matrix for c, matrix in zip(coefficients, matrices, strict=True) if abs(c) > 1e-9]
    return sp.csr_array(sum(terms[1:], start=terms[0]), dtype=np.float32)
