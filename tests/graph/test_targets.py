"""Labels and splits, which a graph carries and its checksum leaves aside; and when a graph is checked."""

import dataclasses

import numpy as np
import pytest
import scipy.sparse as sp

from figure_kedro.errors import UserError
from figure_kedro.graph import Graph, Targets, graph_from_edges, random_splits
from figure_kedro.graph import graph as graph_module
from figure_kedro.graph.splits import TEST, TRAIN, UNUSED, VAL

LABELS = np.arange(12) % 3
CHECKS = ("_check_ids", "_check_weights", "_check_edges", "_check_features", "_check_labels", "check_splits")


def ring(**given):
    """Twelve nodes in a ring, with features, labels and splits."""
    nodes = np.arange(12)
    arguments = {
        "features": np.arange(24, dtype=np.float32).reshape(12, 2),
        "labels": LABELS,
        "splits": random_splits(LABELS, 2, 0.5, 0.25, seed=0),
    }
    return graph_from_edges(nodes, np.roll(nodes, -1), name="ring", num_nodes=12, **{**arguments, **given})


@pytest.fixture
def checks(monkeypatch):
    """The names of the checks that were made, in their order."""
    made = []

    def counted(name):
        original = getattr(graph_module, name)

        def check(*arguments):
            made.append(name)
            original(*arguments)

        return check

    for name in CHECKS:
        monkeypatch.setattr(graph_module, name, counted(name))
    return made


def test_checksum_changes_with_labels_splits_classes_and_metric_and_that_of_the_graph_does_not():
    graph = ring()
    targets = graph.targets
    changed = [
        {"labels": np.roll(LABELS, 1)},
        {"labels": np.where(LABELS == 0, -1, LABELS), "splits": None},
        {"labels": None, "splits": None},
        {"classes": ("x", "y", "z")},
        {"classes": (*targets.classes, "3")},
        {"splits": targets.splits[::-1]},
        {"splits": targets.splits[:1]},
        {"splits": None},
        {"metric": "macro_f1"},
    ]
    others = [dataclasses.replace(graph, targets=dataclasses.replace(targets, **change)) for change in changed]
    assert len({targets.checksum, *(other.targets.checksum for other in others)}) == len(changed) + 1
    assert {other.checksum for other in others} == {graph.checksum}
    assert {other.structure_checksum for other in others} == {graph.structure_checksum}
    assert ring().targets.checksum == targets.checksum


def test_checksum_of_targets_does_not_change_with_the_graph():
    graph = ring()
    other = ring(features=None, directed=True, weights=np.full(12, 2.0))
    assert other.checksum != graph.checksum
    assert other.targets.checksum == graph.targets.checksum


def test_checksum_does_not_change_with_the_twins_which_follow_from_the_graph():
    targets = ring().targets
    assert dataclasses.replace(targets, twins=np.zeros(12, dtype=int)).checksum == targets.checksum


def test_a_graph_without_targets_keeps_everything_else():
    graph = ring()
    bare = graph.without_targets()
    assert (bare.targets.labels, bare.targets.classes, bare.targets.splits) == (None, (), None)
    assert bare.checksum == graph.checksum
    assert bare.features is graph.features
    assert bare.adjacency is graph.adjacency
    assert bare.targets.checksum == Targets().checksum != graph.targets.checksum


def test_used_nodes_are_those_in_some_part_of_some_split():
    splits = np.array([[TRAIN, UNUSED, UNUSED, VAL, TEST], [TRAIN, UNUSED, VAL, TEST, UNUSED]], dtype=np.int8)
    targets = Targets(np.array([0, 1, 0, 1, 0]), ("a", "b"), splits)
    assert targets.used.tolist() == [0, 2, 3, 4]
    assert (targets.num_splits, targets.num_classes) == (2, 2)


def test_nothing_to_predict_counts_nothing():
    assert (Targets().num_splits, Targets().num_classes, Targets().used.tolist()) == (0, 0, [])


def test_a_graph_says_what_it_is_scored_by():
    assert ring().targets.metric == "accuracy"
    assert ring(metric="balanced_accuracy").targets.metric == "balanced_accuracy"


def test_a_graph_is_checked_once_when_it_is_made(checks):
    graph = ring()
    assert sorted(checks) == sorted(CHECKS)
    checks.clear()
    _ = graph.checksum, graph.targets.checksum, graph.num_edges, graph.without_targets()
    assert checks == []


def test_a_trusted_graph_is_not_checked(checks):
    broken = sp.csr_array(np.eye(2, dtype=np.float32))
    Graph("toy", np.array(["same", "same"]), broken, trusted=True)
    assert checks == []
    with pytest.raises(UserError, match="node id 'same' occurs twice"):
        Graph("toy", np.array(["same", "same"]), broken)


def test_trust_is_not_handed_on_to_a_changed_graph(checks):
    trusted = Graph("toy", np.arange(2), sp.csr_array(np.eye(2, dtype=np.float32)), trusted=True)
    with pytest.raises(UserError, match="node 0 has a self-loop"):
        dataclasses.replace(trusted, name="other")
    assert "_check_edges" in checks


def test_new_features_are_all_that_is_checked_when_a_graph_gets_them(checks):
    graph = ring()
    checks.clear()
    changed = graph.with_features(np.ones((12, 5), dtype=np.float32))
    assert checks == ["_check_features"]
    assert changed.num_features == 5
    assert graph.num_features == 2
    assert changed.targets is graph.targets
    assert changed.structure_checksum == graph.structure_checksum
    assert changed.checksum != graph.checksum


@pytest.mark.parametrize(
    ("features", "message"),
    [
        (np.ones((11, 2)), "11 rows of features for 12 nodes"),
        (np.ones((12, 0)), "no columns"),
        (np.full((12, 2), np.nan), "feature 0 of node 0 is not a finite number"),
    ],
)
def test_bad_new_features_are_refused_in_one_line(features, message):
    with pytest.raises(UserError, match=message) as caught:
        ring().with_features(features.astype(np.float32))
    assert "\n" not in str(caught.value)
