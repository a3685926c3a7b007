"""FiGURe is an estimator of scikit-learn whose input is a graph of any kind."""

import pickle

import networkx as nx
import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
import torch
from sklearn.base import clone
from sklearn.exceptions import NotFittedError
from sklearn.pipeline import make_pipeline
from sklearn.utils.estimator_checks import parametrize_with_checks
from sklearn.utils.validation import check_is_fitted
from torch_geometric.data import Data

from examples import example_graph
from figure_kedro import FiGURe
from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.evaluation import AlphaClassifier
from figure_kedro.filters import BANKS
from figure_kedro.graph import Graph
from figure_kedro.methods.kinds.figure import FigureSettings

pytestmark = pytest.mark.usefixtures("one_thread")

SETTINGS = {"training": {"max_epochs": 3, "threads": 1, "device": "cpu"}}


def figure(**changes):
    return FiGURe(**{"dim": 4, "settings": SETTINGS, "progress": False, **changes})


class AsTable(FiGURe):
    """Says that it takes tables, so that every check is run and not only those that suit a graph."""

    def __sklearn_tags__(self):
        tags = super().__sklearn_tags__()
        tags.input_tags.two_d_array = True
        return tags


GRAPH = "the input is a graph: a table of numbers is not one, and is refused"
EXPECTED = dict.fromkeys(
    [
        "check_fit_score_takes_y",
        "check_dont_overwrite_parameters",
        "check_n_features_in_after_fitting",
        "check_positive_only_tag_during_fit",
        "check_estimators_dtypes",
        "check_complex_data",
        "check_dtype_object",
        "check_estimators_empty_data_messages",
        "check_pipeline_consistency",
        "check_estimators_nan_inf",
        "check_estimator_sparse_tag",
        "check_estimator_sparse_array",
        "check_estimator_sparse_matrix",
        "check_estimators_pickle",
        "check_f_contiguous_array_estimator",
        "check_transformer_data_not_an_array",
        "check_transformer_general",
        "check_methods_sample_order_invariance",
        "check_methods_subset_invariance",
        "check_fit2d_1sample",
        "check_fit2d_1feature",
        "check_dict_unchanged",
        "check_fit_idempotent",
        "check_estimators_overwrite_params",
        "check_estimators_fit_returns_self",
        "check_readonly_memmap_input",
        "check_fit_check_is_fitted",
        "check_n_features_in",
        "check_fit2d_predict1d",
    ],
    GRAPH,
)


@parametrize_with_checks([AsTable(4, settings=SETTINGS, progress=False)], expected_failed_checks=lambda _: EXPECTED)
def test_it_passes_the_checks_of_scikit_learn_that_need_no_table(estimator, check):
    check(estimator)


@pytest.mark.parametrize("settings", [SETTINGS, FigureSettings(**SETTINGS), None])
def test_a_clone_has_the_parameters_as_they_were_given(settings):
    original = figure(settings=settings, filters={"bank": "chebyshev"})
    copy = clone(original)
    assert copy is not original
    assert copy.get_params() == original.get_params()
    assert copy.settings == original.settings
    assert copy.settings.dim == 4
    assert copy.filters == BANKS.parse({"bank": "chebyshev"})


def test_equal_parameters_give_equal_embeddings_in_a_clone_and_after_a_pickle():
    graph = example_graph()
    original = figure().fit(graph)
    expected = original.transform(graph)
    for other in (clone(original).fit(graph), pickle.loads(pickle.dumps(original))):
        for name, view in other.transform(graph).items():
            np.testing.assert_array_equal(view, expected[name])


def test_parameters_can_be_set_and_unknown_ones_are_refused():
    estimator = figure()
    assert estimator.method.width(6) == 4
    estimator.set_params(dim=7, filters={"size": 3})
    assert (estimator.settings.dim, estimator.method.width(6), estimator.view_names) == (7, 7, ("I", "A", "A^2"))
    with pytest.raises(ValueError, match="Invalid parameter 'dimension'"):
        estimator.set_params(dimension=3)


def test_what_is_printed_names_what_was_given():
    assert repr(FiGURe()) == "FiGURe()"
    assert repr(FiGURe(dim=32)) == "FiGURe(dim=32)"
    assert repr(Representation(settings={"method": "dgi"})) == "Representation(settings={'method': 'dgi'})"


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"dim": 0}, "dim = 0 is no dimension"),
        ({"dim": "many"}, "dim = many is no dimension"),
        ({"filters": {"bank": "cheby"}}, "there is no .*'cheby'; did you mean 'chebyshev'"),
        ({"filters": {"size": -1}}, "size: Input should be greater"),
        ({"settings": {"method": "propagation"}}, "leave dim out"),
    ],
)
def test_a_wrong_parameter_is_one_line_when_it_is_fitted(changes, message):
    with pytest.raises(UserError, match=message) as caught:
        figure(**changes).fit(example_graph())
    assert "\n" not in str(caught.value)


def test_before_fit_it_says_that_it_is_not_fitted():
    with pytest.raises(NotFittedError, match="this FiGURe is not trained; call fit first") as caught:
        figure().transform(example_graph())
    assert isinstance(caught.value, UserError)
    with pytest.raises(NotFittedError):
        check_is_fitted(figure())
    check_is_fitted(figure().fit(example_graph()))


def test_fit_transform_is_fit_and_transform_and_labels_are_not_looked_at():
    graph = example_graph()
    together, apart = figure().fit_transform(graph, np.arange(14)), figure().fit(graph, y=None).transform(graph)
    for name, view in apart.items():
        np.testing.assert_array_equal(together[name], view)


@pytest.fixture(scope="module")
def objects():
    """One graph with features as an object of every library."""
    graph = example_graph()
    entries = sp.triu(graph.adjacency).tocoo()
    x = np.asarray(graph.features)
    both = graph.adjacency.tocoo()
    net = nx.Graph()
    net.add_nodes_from((node, {"vector": row}) for node, row in enumerate(x.tolist()))
    net.add_weighted_edges_from(zip(entries.row.tolist(), entries.col.tolist(), entries.data.tolist(), strict=True))
    frame = pd.DataFrame({"source": entries.row, "target": entries.col, "strength": entries.data})
    table = pd.DataFrame(x).rename(columns=lambda number: f"x{number}").rename_axis("id")
    return {
        "Graph": graph,
        "Data": Data(
            x=torch.from_numpy(x),
            edge_index=torch.from_numpy(np.stack([both.row, both.col]).astype(np.int64)),
            edge_weight=torch.from_numpy(both.data),
            y=torch.zeros(14, dtype=torch.int64),
            train_mask=torch.ones(14, dtype=torch.bool),
        ),
        "networkx": net,
        "scipy and array": (graph.adjacency, x),
        "scipy and list": (sp.csc_matrix(graph.adjacency), x.tolist()),
        "pandas": Graph.from_pandas(frame, table, weight_column="strength"),
    }


@pytest.mark.parametrize("kind", ["Data", "networkx", "scipy and array", "scipy and list", "pandas"])
def test_an_object_of_any_library_is_embedded_as_the_graph_is(objects, kind):
    expected = figure().fit(objects["Graph"]).transform(objects["Graph"])
    found = figure().fit_transform(objects[kind])
    for name, view in expected.items():
        np.testing.assert_allclose(found[name], view, atol=1e-5, err_msg=name)


def test_what_is_no_graph_is_one_line():
    with pytest.raises(UserError, match="no graph can be made of") as caught:
        figure().fit("graph.csv")
    assert "\n" not in str(caught.value)


def test_a_pipeline_goes_from_a_graph_to_classes():
    graph = example_graph()
    labels = np.array(["left", "right"])[np.arange(14) % 2]
    pipeline = make_pipeline(figure(), AlphaClassifier()).fit(graph, labels)
    assert set(pipeline.predict(graph)) <= {"left", "right"}
    assert pipeline.score(graph, labels) > 0.5
