"""New nodes that do not fit the graph are one line, and their features are matched by name."""

import dataclasses

import numpy as np
import pandas as pd
import pytest

from figure_kedro.errors import UserError
from figure_kedro.estimator import Representation
from figure_kedro.features import STRUCTURAL, prepare_features
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import graph_from_edges
from figure_kedro.inference.embed import attach, embed_attached
from figure_kedro.inference.neighbourhood import Neighbourhood
from figure_kedro.inference.new_nodes import Attachment, NewNodes
from figure_kedro.methods.kinds.deepwalk import DeepWalk
from figure_kedro.methods.kinds.propagation import Propagation
from figure_kedro.methods.method import METHODS


def path_graph(ids=("a", "b", "c", "d", "e", "f"), **changes):
    """a - b - c - d - e - f, with two named features."""
    features = np.arange(12, dtype=np.float32).reshape(6, 2)
    made = graph_from_edges(np.arange(5), np.arange(1, 6), name="path", ids=np.array(ids), features=features)
    return dataclasses.replace(made, **{"feature_names": ("x", "y"), **changes})


def added(ids=("n",), source=("n",), target=("a",), features=None, **more):
    table = pd.DataFrame({"y": [2.0] * len(ids), "x": [1.0] * len(ids)}) if features is None else features
    arrays = (
        np.array(values, dtype=object if values and isinstance(values[0], str) else None)
        for values in (ids, source, target)
    )
    return NewNodes(*arrays, features=table, **more)


def refused(new, graph=None, method=Propagation):
    with pytest.raises(UserError) as error:
        attach(method, graph or path_graph(), new)
    assert "\n" not in str(error.value)
    return str(error.value)


def test_an_edge_to_an_unknown_id_names_its_row_and_the_id():
    line = refused(added(source=("n", "n"), target=("a", "z")))
    assert line == "the new edges, row 2: there is no node 'z', neither in path nor in the new nodes"


def test_an_id_that_exists_already_is_named():
    assert "the new nodes: node 'c' is in path already" in refused(added(ids=("n", "c")))


def test_an_id_that_is_there_twice_is_named():
    assert "the new nodes: node 'n' is there twice" in refused(added(ids=("m", "n", "n")))


def test_an_edge_between_known_nodes_is_refused():
    assert "row 1: 'a' and 'd' are both known" in refused(added(source=("a",), target=("d",)))


def test_features_are_needed_where_the_model_was_trained_on_them():
    assert "trained on 2 features, and the new nodes have none" in refused(dataclasses.replace(added(), features=None))


def test_a_missing_feature_is_named():
    assert "has no column 'y', which is a feature of path" in refused(added(features=pd.DataFrame({"x": [1.0]})))


def test_an_unknown_feature_is_named_and_words_are_left_aside():
    table = pd.DataFrame({"x": [1.0], "y": [2.0], "z": [3.0]})
    assert "has a column 'z' of numbers that is no feature of path" in refused(added(features=table))
    words = attach(Propagation, path_graph(), added(features=table.assign(z="red")))
    assert words.features.tolist() == [[1.0, 2.0]]


@pytest.mark.parametrize("cell", [np.nan, np.inf, "many"])
def test_a_feature_that_is_no_finite_number_names_the_node(cell):
    table = pd.DataFrame({"x": [cell], "y": [2.0]})
    assert "column 'x': node 'n' has" in refused(added(features=table))


def test_the_order_of_columns_does_not_matter():
    for order in (["x", "y"], ["y", "x"]):
        table = pd.DataFrame({"x": [1.0], "y": [2.0]})[order]
        assert attach(Propagation, path_graph(), added(features=table)).features.tolist() == [[1.0, 2.0]]


def test_a_transductive_method_says_that_it_cannot():
    assert refused(added(), method=DeepWalk).startswith("deepwalk knows only the nodes that it was trained on")


def test_features_made_from_all_edges_cannot_be_made_for_new_nodes():
    graph = prepare_features(path_graph(), STRUCTURAL.parse({"structural": "degrees"}))
    assert "6 features of path are made from all of its edges" in refused(added(), graph)


def test_a_graph_of_an_older_version_says_how_to_name_its_features():
    assert "--pipelines=data_processing" in refused(added(), path_graph(feature_names=None))


def test_features_without_names_are_numbered():
    graph = prepare_features(path_graph(feature_names=None), STRUCTURAL.parse({}))
    assert graph.feature_names == ("x0", "x1")
    alone = prepare_features(path_graph(), STRUCTURAL.parse({"structural": "degrees", "keep_given": False}))
    assert alone.feature_names == ()


def test_a_method_that_does_not_say_how_far_it_looks_is_refused(monkeypatch):
    graph = path_graph()
    fitted = Representation(settings=METHODS.parse({"method": "propagation"}), progress=False).fit(graph)
    monkeypatch.setattr(Propagation, "hops", lambda self, operator: None)
    with pytest.raises(UserError, match="propagation does not say how far it looks"):
        embed_attached(fitted, graph, Operator.of(graph, fitted.filters), attach(Propagation, graph, added()))


def test_numbers_and_words_as_ids_are_compared_as_words():
    graph = path_graph(ids=(10, 11, 12, 13, 14, 15))
    attached = Attachment.of(added(source=("n", "12"), target=("11", "n")), graph)
    assert attached.known.tolist() == [1, 2]
    assert (attached.source.tolist(), attached.target.tolist()) == ([0, 2], [1, 0])


@pytest.mark.parametrize(("hops", "reached"), [(0, []), (1, [0]), (2, [0, 1]), (3, [0, 1, 2])])
def test_no_node_beyond_the_hops_is_read(hops, reached):
    graph = path_graph()
    features = graph.features.copy()
    features[[row for row in range(6) if row not in reached]] = np.nan
    attached = attach(Propagation, graph, added())
    operator = Operator.of(graph, BANKS.parse({}))
    around = Neighbourhood.of(dataclasses.replace(graph, features=features, trusted=True), operator, attached, hops)
    assert around.graph.num_nodes == 1 + len(reached)
    assert np.isfinite(around.graph.features).all()
    assert around.levels == tuple(range(1, hops + 2))


def test_degrees_of_known_nodes_are_counted_with_the_new_edges():
    attached = attach(Propagation, path_graph(), added())
    around = Neighbourhood.of(path_graph(), Operator.of(path_graph(), BANKS.parse({"self_loops": False})), attached, 2)
    # n has degree 1, a then has 2, b has 2 as before
    expected = [[0, 0.5**0.5, 0], [0.5**0.5, 0, 0.5], [0, 0, 0]]
    np.testing.assert_allclose(around.operator.matrix.toarray(), expected, atol=1e-7)
