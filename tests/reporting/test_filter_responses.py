import io

import numpy as np

from figure_kedro.filters import build_bank
from figure_kedro.reporting.filter_responses import plot_filter_responses


def test_figure_has_a_row_for_each_size_and_a_column_for_each_basis():
    axes = plot_filter_responses().axes
    titles = [axis.get_title() for axis in axes]
    assert titles[:2] == ["Bernstein basis, 5 filters", "Standard basis, 5 filters"]
    assert titles[-2:] == ["Bernstein basis, 11 filters", "Standard basis, 11 filters"]
    assert len(titles) == 8


def test_lines_are_the_responses_of_the_banks():
    left, right = plot_filter_responses((3,)).axes
    for axis, bank in ((left, build_bank("bernstein", 3)), (right, build_bank("monomial", 3))):
        lines = [line for line in axis.lines if line.get_label().startswith("$")]
        x = lines[0].get_xdata()
        assert (x[0], x[-1]) == (0, 2)
        np.testing.assert_array_equal([line.get_ydata() for line in lines], bank.response(x))


def test_figure_can_be_written_without_a_display():
    target = io.BytesIO()
    plot_filter_responses((2,)).savefig(target, format="png")
    assert target.getvalue().startswith(b"\x89PNG")
