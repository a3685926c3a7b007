import json

import numpy as np
import pandas as pd
import pytest

from figure_kedro.errors import UserError
from figure_kedro.reporting.charts import alpha_figure, confusion_matrix_figure, loss_figure


def test_confusion_matrix_counts_and_normalises_over_the_true_class():
    figure = confusion_matrix_figure(np.array([0, 0, 0, 1]), np.array([0, 0, 1, 1]), ["7", "8", "absent"])
    heatmap = json.loads(figure.to_json())["data"][0]
    assert heatmap["text"] == [[2, 1, 0], [0, 1, 0], [0, 0, 0]]
    assert heatmap["texttemplate"] == "%{text}"
    np.testing.assert_allclose(heatmap["z"], [[2 / 3, 1 / 3, 0], [0, 1, 0], [0, 0, 0]])
    assert figure.layout.xaxis.type == figure.layout.yaxis.type == "category"
    assert figure.layout.title.text == "Confusion matrix, 75.00% of 4 nodes right"


def test_confusion_matrix_says_what_it_shows():
    figure = confusion_matrix_figure(np.array([0, 1]), np.array([0, 0]), ["a", "b"], title="Test nodes of split 3")
    assert figure.layout.title.text.startswith("Test nodes of split 3, 50.00%")


def test_counts_of_many_classes_are_shown_on_hovering_only():
    labels = np.arange(21)
    heatmap = confusion_matrix_figure(labels, labels, [str(label) for label in labels]).data[0]
    assert heatmap.texttemplate is None
    assert "%{text}" in heatmap.hovertemplate


def test_confusion_matrix_takes_no_unlabelled_node():
    with pytest.raises(UserError, match="labels 0 to 1"):
        confusion_matrix_figure(np.array([0, -1]), np.array([0, 1]), ["a", "b"])


def test_loss_figure_marks_the_lowest_loss():
    figure = loss_figure(pd.DataFrame({"epoch": [0, 1, 2], "loss": [0.7, 0.3, 0.4], "seconds": 0.1}))
    assert list(figure.data[0].y) == [0.7, 0.3, 0.4]
    assert (figure.data[1].x, figure.data[1].y) == ((1,), (0.3,))


def test_long_curve_is_thinned_but_keeps_its_ends_and_its_lowest_loss():
    losses = np.linspace(1.0, 0.5, 30_000)
    losses[12_347] = 0.1
    figure = loss_figure(pd.DataFrame({"epoch": range(30_000), "loss": losses}))
    drawn = figure.data[0].x
    assert len(drawn) <= 2001
    assert (drawn[0], drawn[-1]) == (0, 29_999)
    assert 12_347 in drawn


def test_method_without_training_has_an_empty_curve():
    assert not loss_figure(pd.DataFrame({"epoch": [], "loss": []})).data


def test_alpha_bars_are_means_with_deviations_over_splits_in_the_order_of_filters():
    alphas = pd.DataFrame({"split": [0, 0, 1, 1], "filter": ["I", "A"] * 2, "alpha": [1.0, -2.0, 3.0, -2.0]})
    bars, points = alpha_figure(alphas).data
    assert bars.x == ("I", "A")
    assert bars.y == (2.0, -2.0)
    np.testing.assert_allclose(bars.error_y.array, [2**0.5, 0.0])
    assert points.y == (1.0, -2.0, 3.0, -2.0)


def test_one_split_has_no_spread():
    bars, _ = alpha_figure(pd.DataFrame({"split": [0], "filter": ["A"], "alpha": [0.1]})).data
    assert tuple(bars.error_y.array) == (0.0,)
