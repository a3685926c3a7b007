"""The nodes of reporting, and their wiring."""

import numpy as np
import pandas as pd
import pytest

from figure_kedro.filters import BANKS
from figure_kedro.graph import Targets
from figure_kedro.pipelines.reporting import create_pipeline, nodes
from figure_kedro.reporting.record import RunRecord

CURVE = pd.DataFrame({"epoch": [0, 1], "loss": [0.7, 0.6]})
RECORD = RunRecord.of_run(
    dataset="csbm",
    method="figure",
    dimension=4,
    projection="none",
    splits=pd.DataFrame({"split": []}),
    timing={},
    storage_mb=1.0,
    settings={},
    data_checksum="abc",
)
ALPHAS = pd.DataFrame({"split": [0, 0], "filter": ["I", "A"], "alpha": [0.1, 0.9]})


@pytest.mark.parametrize("bank", ["monomial", "bernstein", "chebyshev"])
def test_every_run_draws_its_own_bank(bank):
    figure = nodes.draw_filter_responses(BANKS.parse({"bank": bank, "size": 3}))
    assert BANKS[bank].title in "".join(axis.get_title() for axis in figure.axes)


def test_the_confusion_matrix_is_of_the_first_splits_test_nodes():
    labels = np.array([0, 1, 0, 1, 0, 1])
    splits = np.array([[1, 1, 2, 2, 3, 3], [3, 3, 1, 1, 2, 2]], dtype=np.int8)
    predictions = pd.DataFrame(
        {"id": range(6), "label": list("ababab"), "split_0": list("aaaaab"), "split_1": list("b" * 6)}
    )
    _, _, matrix = nodes.draw_charts(Targets(labels, ("a", "b"), splits), CURVE, ALPHAS, predictions, RECORD)
    assert [text.get_text() for text in matrix.axes[0].texts] == ["1", "0", "0", "1"]
    assert "test nodes of split 0" in matrix.axes[0].get_title()
    assert matrix.get_suptitle() == "csbm: figure, 4 dimensions"


def test_without_labels_charts_say_so():
    loss, alphas, matrix = nodes.draw_charts(Targets(), CURVE, ALPHAS.head(0), pd.DataFrame({"id": []}), RECORD)
    assert len(loss.axes[0].lines) == 2
    assert "no labels" in alphas.axes[0].texts[0].get_text() == matrix.axes[0].texts[0].get_text()


def test_pictures_show_the_map_that_was_evaluated(embeddings, projection, problem, monkeypatch):
    shown = {}
    monkeypatch.setattr(nodes, "tsne_figure", lambda panels, *rest: shown.update(panels))
    monkeypatch.setattr(nodes, "correlation_figure", lambda panels, *rest: None)
    scores = pd.DataFrame({"split": [0, 1], "gamma": [0.9, 0.2]})
    nodes.draw_embeddings(embeddings, projection, problem.targets, scores, RECORD)
    assert list(shown) == ["view $A^{2}$", "view $A^{2}$, after fourier features"]
    np.testing.assert_array_equal(shown["view $A^{2}$"], embeddings["A^2"])
    evaluated = projection.transform(embeddings["A^2"], gamma=0.9)  # scaled by all views, gamma of the first split
    np.testing.assert_array_equal(shown["view $A^{2}$, after fourier features"], evaluated)
    assert not np.allclose(evaluated, projection.transform(embeddings["A^2"]))


def test_pipeline_reads_no_graph():
    assert "graph" not in create_pipeline().inputs()
