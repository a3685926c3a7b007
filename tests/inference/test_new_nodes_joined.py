"""New nodes get the embeddings that they would have in the joined graph."""

import dataclasses

import numpy as np
import pandas as pd
import pytest
import scipy.sparse as sp
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.estimator import Representation
from figure_kedro.features import STRUCTURAL, prepare_features
from figure_kedro.filters import BANKS, Operator
from figure_kedro.graph import graph_from_edges
from figure_kedro.inference.embed import attach, embed_attached
from figure_kedro.inference.new_nodes import NewNodes
from figure_kedro.methods.method import METHODS

COLUMNS = 5


@st.composite
def joined_graphs(draw):
    """Edges of a random graph whose last nodes are new, with weights, and what the filters are."""
    known, new = draw(st.integers(1, 12)), draw(st.integers(1, 4))
    total = known + new
    pairs = draw(st.lists(st.tuples(st.integers(0, total - 1), st.integers(0, total - 1)), max_size=40))
    weights = draw(st.lists(st.sampled_from([0.5, 1.0, 2.0]), min_size=len(pairs), max_size=len(pairs)))
    directed = draw(st.booleans())
    direction = draw(st.sampled_from(["auto", "out", "in", "both", "ignore"] if directed else ["auto", "ignore"]))
    bank = "monomial" if direction == "both" else draw(st.sampled_from(["monomial", "chebyshev", "bernstein"]))
    filters = {"bank": bank, "direction": direction, "size": draw(st.integers(2, 4))}
    filters |= {"self_loops": draw(st.booleans()), "loop_weight": draw(st.sampled_from([1.0, 0.3]))}
    return known, new, pairs, weights, directed, filters


def parts(known, new, pairs, weights, directed, sparse=False):
    """The joined graph, the known one, and the new nodes with ids of their own."""
    rng = np.random.default_rng(known)
    features = rng.standard_normal((known + new, COLUMNS)).astype(np.float32)
    features *= rng.random(features.shape) < 0.7
    ids = np.concatenate([np.arange(known)[::-1] * 3, 1000 + np.arange(new)])
    source, target = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    weights = np.array(weights, dtype=np.float64)
    old = (source < known) & (target < known)

    def graph(rows, inside):
        given = features[rows]
        made = graph_from_edges(
            source[inside],
            target[inside],
            name="g",
            ids=ids[rows],
            weights=weights[inside],
            directed=directed,
            features=sp.csr_array(given) if sparse else given,
        )
        return dataclasses.replace(made, feature_names=tuple("abcde"))

    table = pd.DataFrame(features[known:], columns=list("abcde"))[list("ecadb")]
    added = NewNodes(ids[known:], ids[source[~old]], ids[target[~old]], weights[~old], table)
    return graph(slice(None), slice(None)), graph(slice(0, known), old), added


def assert_equal_to_joined(problem, method, normalise="none", sparse=False):
    known, new, pairs, weights, directed, raw = problem
    together, before, added = parts(known, new, pairs, weights, directed, sparse)
    filters, kind = BANKS.parse(raw), STRUCTURAL.parse({"structural": "none", "normalise": normalise})
    together, before = prepare_features(together, kind), prepare_features(before, kind)
    training = {"max_epochs": 2, "threads": 1, "device": "cpu"}
    settings = METHODS.parse(method | ({"training": training} if method["method"] not in PLAIN else {}))
    fitted = Representation(filters=filters, settings=settings, progress=False).fit(before)
    expected = fitted.transform(together)
    attached = attach(type(fitted.method), before, added, normalise)
    found = embed_attached(fitted, before, Operator.of(before, filters), attached)
    assert found.ids.tolist() == added.ids.tolist()
    for name, view in expected.items():
        np.testing.assert_allclose(found[name], view[known:], atol=1e-6, rtol=1e-5, err_msg=name)


PLAIN = ("propagation", "features", "untrained")


@settings(max_examples=150, deadline=None)
@given(problem=joined_graphs(), dim=st.sampled_from([3, 8]), sparse=st.booleans())
def test_new_nodes_are_embedded_as_in_the_joined_graph(problem, dim, sparse):
    assert_equal_to_joined(problem, {"method": "untrained", "dim": dim}, sparse=sparse)


@settings(max_examples=40, deadline=None)
@given(problem=joined_graphs(), normalise=st.sampled_from(["none", "rows"]))
def test_filtered_features_of_new_nodes_are_those_of_the_joined_graph(problem, normalise):
    assert_equal_to_joined(problem, {"method": "propagation"}, normalise)


@settings(max_examples=25, deadline=None)
@given(
    problem=joined_graphs(),
    encoder=st.fixed_dictionaries(
        {"gcn_layers": st.integers(1, 2), "mlp_layers": st.integers(1, 2), "shared": st.booleans()}
    ),
)
def test_encoders_of_several_layers_look_as_far_as_their_filters_together(problem, encoder):
    assert_equal_to_joined(problem, {"method": "untrained", "dim": 4, "encoder": encoder})


@pytest.mark.parametrize("method", ["figure", "figure_components", "dgi", "mvgrl", "grace", "sugrl", "features"])
@pytest.mark.parametrize("directed", [False, True])
def test_every_method_with_an_encoder_embeds_new_nodes_as_in_the_joined_graph(method, directed):
    rng = np.random.default_rng(3)
    pairs = rng.integers(0, 40, size=(60, 2)).tolist()
    problem = (36, 4, pairs, rng.uniform(0.5, 2, 60), directed, {"bank": "monomial", "size": 3})
    raw = {"method": method} if method == "features" else {"method": method, "dim": 6}
    assert_equal_to_joined(problem, raw)
