"""Pictures of a training and its evaluation."""

import io

import numpy as np
import pandas as pd
import pytest

from figure_kedro.errors import UserError
from figure_kedro.reporting.charts import alpha_figure, confusion_matrix_figure, loss_figure


def numbers(figure):
    return [text.get_text() for text in figure.axes[0].texts]


def test_confusion_matrix_counts_and_normalises_over_the_true_class():
    figure = confusion_matrix_figure(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), ["7", "8", "absent"])
    assert numbers(figure) == ["2", "1", "0", "0", "1", "0", "0", "0", "0"]
    shares = figure.axes[0].images[0].get_array()
    np.testing.assert_allclose(shares, [[200 / 3, 100 / 3, 0], [0, 100, 0], [0, 0, 0]])
    assert [text.get_text() for text in figure.axes[0].get_xticklabels()] == ["7", "8", "absent"]


def test_confusion_matrix_says_what_it_shows():
    labels = np.array([0, 1])
    figure = confusion_matrix_figure(labels, np.zeros(2, int), ["a", "b"], "cora: figure", "test nodes of split 3")
    assert figure.axes[0].get_title() == "test nodes of split 3: 50.00% of 2 right"
    assert figure.get_suptitle() == "cora: figure"


def test_counts_of_many_classes_are_left_out_because_nobody_could_read_them():
    labels = np.arange(21)
    assert not numbers(confusion_matrix_figure(labels, labels, [str(label) for label in labels]))
    assert len(numbers(confusion_matrix_figure(labels[:20], labels[:20], list("abcdefghijklmnopqrst")))) == 400


def test_dark_cells_have_light_numbers():
    figure = confusion_matrix_figure(np.array([0, 0, 1]), np.array([0, 0, 1]), ["a", "b"])
    assert [text.get_color() for text in figure.axes[0].texts] == ["white", "black", "black", "white"]


def test_confusion_matrix_takes_no_unlabelled_node():
    with pytest.raises(UserError, match="labels 0 to 1"):
        confusion_matrix_figure(np.array([0, -1]), np.array([0, 1]), ["a", "b"])


def test_loss_figure_marks_the_lowest_loss():
    figure = loss_figure(pd.DataFrame({"epoch": [0, 1, 2], "loss": [0.7, 0.3, 0.4], "seconds": 0.1}))
    curve, mark = figure.axes[0].lines
    assert list(curve.get_ydata()) == [0.7, 0.3, 0.4]
    assert (list(mark.get_xdata()), list(mark.get_ydata())) == ([1], [0.3])


def test_long_curve_is_thinned_but_keeps_its_ends_and_its_lowest_loss():
    losses = np.linspace(1.0, 0.5, 30_000)
    losses[12_347] = 0.1
    drawn = loss_figure(pd.DataFrame({"epoch": range(30_000), "loss": losses})).axes[0].lines[0].get_xdata()
    assert len(drawn) <= 2001
    assert (drawn[0], drawn[-1]) == (0, 29_999)
    assert 12_347 in drawn


def test_what_is_not_there_is_said_in_words():
    assert numbers(loss_figure(pd.DataFrame({"epoch": [], "loss": []}))) == ["nothing was trained"]
    empty = pd.DataFrame({"split": [], "filter": [], "alpha": []})
    assert numbers(alpha_figure(empty)) == ["there are no coefficients"]


def test_alpha_bars_are_means_with_deviations_over_splits_in_the_order_of_filters():
    alphas = pd.DataFrame({"split": [0, 0, 1, 1], "filter": ["I", "A^2"] * 2, "alpha": [1.0, -2.0, 3.0, -2.0]})
    axis = alpha_figure(alphas).axes[0]
    assert [text.get_text() for text in axis.get_xticklabels()] == ["$I$", "$A^{2}$"]
    assert [bar.get_height() for bar in axis.patches] == [2.0, -2.0]
    whiskers = axis.collections[0].get_segments()
    np.testing.assert_allclose([np.ptp(whisker[:, 1]) / 2 for whisker in whiskers], [2**0.5, 0.0])
    points = next(line for line in axis.lines if line.get_label() == "a split")
    assert list(points.get_ydata()) == [1.0, -2.0, 3.0, -2.0]


def test_names_of_classes_with_signs_of_formulas_are_drawn():
    figure = confusion_matrix_figure(np.array([0, 1]), np.array([0, 1]), ["$", "a_b^$"])
    figure.savefig(io.BytesIO(), format="svg")
