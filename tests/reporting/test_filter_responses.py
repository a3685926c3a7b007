import io

import numpy as np
import pytest

from figure_kedro.errors import UserError
from figure_kedro.filters import BANKS, build_bank
from figure_kedro.reporting.filter_responses import plot_bases, plot_filter_responses


@pytest.mark.parametrize("name", ["bernstein", "chebyshev", "monomial"])
def test_lines_are_the_responses_of_the_bank_over_the_spectrum(name):
    bank = build_bank(name, 3)
    (axis,) = plot_filter_responses(bank).axes
    lines = [line for line in axis.lines if line.get_label().startswith("$")]
    x = lines[0].get_xdata()
    assert (x[0], x[-1]) == (0, 2)
    np.testing.assert_array_equal([line.get_ydata() for line in lines], bank.response(x))
    assert axis.get_title() == f"{bank.title}, 3 filters"


def test_grid_has_a_row_for_each_size_and_a_column_for_each_basis():
    axes = plot_bases([[build_bank(name, size) for name in ("bernstein", "monomial")] for size in (5, 7)]).axes
    assert [axis.get_title() for axis in axes] == [
        "Bernstein basis, 5 filters",
        "Standard basis, 5 filters",
        "Bernstein basis, 7 filters",
        "Standard basis, 7 filters",
    ]


def test_labels_are_the_names_of_the_filters_with_all_digits_raised():
    (axis,) = plot_filter_responses(build_bank("monomial", 12)).axes
    assert [text.get_text() for text in axis.get_legend().get_texts()] == [
        "$I$",
        "$A$",
        *(f"$A^{{{i}}}$" for i in range(2, 12)),
    ]


def test_large_bank_is_a_map_with_a_row_for_each_filter_and_a_few_names():
    bank = build_bank("chebyshev", 64)
    (axis,) = plot_filter_responses(bank).axes
    (image,) = axis.images
    np.testing.assert_array_equal(image.get_array(), bank.response(np.linspace(0, 2, 2001)))
    assert image.get_extent() == [0, 2, -0.5, 63.5]
    assert [text.get_text() for text in axis.get_yticklabels()] == [f"$T_{{{i}}}$" for i in range(0, 64, 9)]


def test_scale_of_a_map_has_two_colours_only_for_responses_of_both_signs():
    bernstein, chebyshev = (plot_filter_responses(build_bank(name, 64)).axes[0] for name in ("bernstein", "chebyshev"))
    assert chebyshev.images[0].get_clim() == (-1, 1)
    assert bernstein.images[0].get_clim()[0] == 0


@pytest.mark.parametrize("sizes", [[], [[]], [[2, 3], [2]]])
def test_grid_needs_rows_of_equal_length(sizes):
    with pytest.raises(UserError, match="as many in each row"):
        plot_bases([[build_bank("monomial", size) for size in row] for row in sizes])


@pytest.mark.parametrize("size", [1, 4, 13, 64])
def test_figure_can_be_written_without_a_display(size):
    target = io.BytesIO()
    plot_filter_responses(build_bank("monomial", size)).savefig(target, format="png")
    assert target.getvalue().startswith(b"\x89PNG")


def test_words_in_both_directions_are_drawn_over_singular_values():
    bank = BANKS.build(BANKS.parse({"size": 3, "direction": "both"}))
    (axis,) = plot_filter_responses(bank).axes
    assert axis.get_xlim() == (0, 1)
    assert axis.get_xlabel().startswith("singular value")
    lines = [line for line in axis.lines if line.get_label().startswith("$")]
    assert [line.get_label() for line in lines] == list(bank.labels)
    np.testing.assert_array_equal([line.get_ydata() for line in lines], bank.response(lines[0].get_xdata()))


@pytest.mark.parametrize("size", [3, 4])  # lines, and a map
def test_figure_of_words_can_be_written(size):
    target = io.BytesIO()
    plot_filter_responses(BANKS.build(BANKS.parse({"size": size, "direction": "both"}))).savefig(target, format="png")
    assert target.getvalue().startswith(b"\x89PNG")
