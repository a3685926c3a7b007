"""The figure of what each filter of a bank does over the spectrum."""

from collections.abc import Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figure_kedro.filters import FilterBank, build_bank

BASES = {"bernstein": "Bernstein basis", "monomial": "Standard basis"}


def plot_filter_responses(sizes: Sequence[int] = (5, 7, 9, 11)) -> Figure:
    r"""Draw the responses :math:`h_i(\lambda)` of the Bernstein and the standard basis, the last figure of the FiGURe
    paper.

    One row a size, the Bernstein basis on the left and the standard one on the right. The x axis is the eigenvalue
    :math:`\lambda` of the Laplacian :math:`L = I - A_n` in [0, 2] for both; so the standard basis is
    :math:`(1 - \lambda)^i`. Lines run from dark to light with the number ``i`` of the filter.

    Args:
        sizes: Number of filters of the banks, one row of the figure each.
    """
    figure = Figure(figsize=(10, 2.5 * len(sizes) + 0.6), layout="constrained")
    axes = figure.subplots(len(sizes), len(BASES), sharex=True, sharey="col", squeeze=False)
    for row, size in zip(axes, sizes, strict=True):
        for axis, (name, title) in zip(row, BASES.items(), strict=True):
            _draw(axis, build_bank(name, size))
            axis.set_title(f"{title}, {size} filters", fontsize=10)
        row[0].set_ylabel(r"response $h_i(\lambda)$")
    for axis in axes[-1]:
        axis.set_xlabel(r"eigenvalue $\lambda$ of the Laplacian")
    return figure


def _draw(axis: Axes, bank: FilterBank) -> None:
    eigenvalues = np.linspace(0.0, 2.0, 401)
    colours = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.92, bank.size))  # the lightest end is hard to see
    for name, response, colour in zip(bank.names, bank.response(eigenvalues), colours, strict=True):
        axis.plot(eigenvalues, response, color=colour, linewidth=1.4, label=f"${_braced(name)}$")
    axis.set_xlim(0, 2)
    axis.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.legend(fontsize=8, frameon=False, ncols=2 if bank.size > 7 else 1, loc="center left", bbox_to_anchor=(1, 0.5))


def _braced(name: str) -> str:
    """``A^10`` as mathtext that raises both digits."""
    for mark in "^_":
        stem, found, rest = name.partition(mark)
        if found:
            return f"{stem}{mark}{{{rest}}}"
    return name
