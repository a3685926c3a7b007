"""The figure of what each filter of a bank does over the spectrum."""

from collections.abc import Sequence
from itertools import cycle

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure

from figure_kedro.errors import UserError
from figure_kedro.filters import FilterBank
from figure_kedro.reporting.look import readable

DRAWN_AS_LINES = 12  # lines of more filters would lie on each other
RESPONSE = r"response $h_i(\lambda)$"
PANEL_HEIGHT = 3.0  # inches
AXES_WIDTH = 3.4
LABELS = 0.85  # room to the left of the axes
SINGLE_COLUMN = 8  # filters in one column of the legend


def plot_filter_responses(bank: FilterBank) -> Figure:
    r"""Draw the response :math:`h_i(\lambda)` of every filter of a bank; see :func:`plot_bases`."""
    return plot_bases([[bank]])


@readable
def plot_bases(banks: Sequence[Sequence[FilterBank]]) -> Figure:
    r"""Draw the responses :math:`h_i(\lambda)` of banks side by side.

    The x axis is the eigenvalue :math:`\lambda` of the Laplacian :math:`L = I - A_n` in [0, 2], so that the standard
    basis is :math:`(1 - \lambda)^i`; words in both directions of a graph are drawn over the singular values of
    :math:`A_n`. Lines run from dark to light with the number ``i`` of the filter. A bank
    of more than 12 filters is drawn as a map instead: a row for each filter, the response as its colour.

    The last figure of the FiGURe paper is

    >>> from figure_kedro.filters import build_bank
    >>> figure = plot_bases([[build_bank("bernstein", k), build_bank("monomial", k)] for k in (5, 7, 9, 11)])
    >>> figure.axes[0].get_title()
    'Bernstein basis, 5 filters'

    Args:
        banks: Rows of banks, all of the same length.
    """
    rows, columns = len(banks), len(banks[0]) if banks else 0
    if not columns or any(len(row) != columns for row in banks):
        raise UserError("a figure of filter responses needs rows of banks, one bank or more and as many in each row")
    all_banks = [bank for row in banks for bank in row]
    legend = 2.1 if any(SINGLE_COLUMN < bank.size <= DRAWN_AS_LINES for bank in all_banks) else 1.3
    width, height = (AXES_WIDTH + LABELS + legend) * columns, PANEL_HEIGHT * rows + 0.6
    figure = Figure(figsize=(width, height))
    lines = all(bank.size <= DRAWN_AS_LINES for bank in all_banks)
    axes = figure.subplots(rows, columns, sharex=True, sharey="col" if lines else "none", squeeze=False)
    # margins in inches: a constrained layout measures every label of every legend and takes nearly twice as long
    figure.subplots_adjust(
        left=LABELS / width,
        right=1 - legend / width,
        bottom=0.6 / height,
        top=1 - 0.35 / height,
        wspace=(LABELS + legend) / AXES_WIDTH,
        hspace=0.4 / (PANEL_HEIGHT - 0.4),
    )
    for axis, bank in zip(axes.flat, all_banks, strict=True):
        draw = _draw_lines if bank.size <= DRAWN_AS_LINES else _draw_map
        draw(axis, bank)
        axis.set_title(f"{bank.title}, {bank.size} filter{'s' if bank.size > 1 else ''}")
        axis.set_xlim(*bank.axis[1:])
    for axis, bank in zip(axes[-1], banks[-1], strict=True):
        axis.set_xlabel(bank.axis[0])
    return figure


def _draw_lines(axis: Axes, bank: FilterBank) -> None:
    points = np.linspace(*bank.axis[1:], 401)
    colours = matplotlib.colormaps["viridis"](np.linspace(0.0, 0.82, bank.size))  # the lightest end is hard to see
    styles = cycle(["-", "--", "-.", ":"])  # lines that lie close are told apart without their colours
    for label, response, colour, style in zip(bank.labels, bank.response(points), colours, styles, strict=False):
        axis.plot(points, response, color=colour, linewidth=1.8, linestyle=style, label=label)
    axis.axhline(0, color="0.8", linewidth=0.8, zorder=0)
    axis.spines[["top", "right"]].set_visible(False)
    axis.set_ylabel(RESPONSE)
    columns = 2 if bank.size > SINGLE_COLUMN else 1
    axis.legend(loc="center left", bbox_to_anchor=(1, 0.5), frameon=False, ncols=columns, columnspacing=1.0)


def _draw_map(axis: Axes, bank: FilterBank) -> None:
    responses = bank.response(np.linspace(*bank.axis[1:], 2001))  # (K, 2001)
    largest, signed = np.abs(responses).max(), responses.min() < 0
    # the ends of a Bernstein bank are ten times as high as its hills, which would be too dark to see
    limit = np.ceil(10 * np.quantile(np.abs(responses), 0.99)) / 10
    scale = {"cmap": "RdBu_r" if signed else "viridis", "vmin": -limit if signed else 0.0, "vmax": limit}
    image = axis.imshow(
        responses, extent=(*bank.axis[1:], -0.5, bank.size - 0.5), origin="lower", aspect="auto", **scale
    )
    named = np.linspace(0, bank.size - 1, 8).round().astype(int)
    axis.set_yticks(named, [bank.labels[i] for i in named])
    axis.set_ylabel("filter")
    beyond = "neither" if largest <= limit else "both" if signed else "max"
    bar = axis.inset_axes((1.04, 0, 0.04, 1))
    axis.figure.colorbar(image, cax=bar, extend=beyond, label=RESPONSE)
