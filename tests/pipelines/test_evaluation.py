"""The nodes of evaluation, and their wiring."""

import dataclasses

import numpy as np
import pytest
from optuna.storages import InMemoryStorage

from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS
from figure_kedro.graph import Targets
from figure_kedro.parameters import Parameters
from figure_kedro.pipelines.evaluation import create_pipeline, nodes
from figure_kedro.reporting.record import RunRecord

HEAD = HEADS.parse({"trials": 3, "threads": 1})


@pytest.fixture(scope="module")
def evaluated(embeddings, projection, problem):
    return nodes.evaluate_splits(embeddings, projection, problem.targets, HEAD, InMemoryStorage())


def parameters(**evaluation):
    raw = {"dataset": "problem", "source": {"kind": "csbm"}, "filters": {"size": 3}, "representation": {"dim": 4}}
    raw |= {"projection": {"map": "fourier"}, "evaluation": {"trials": 3, **evaluation}}
    return dict(Parameters.model_validate(raw))


def test_every_split_has_scores_coefficients_and_predictions(evaluated, problem):
    scores, alphas, predictions = evaluated
    assert scores["split"].tolist() == [0, 1]
    assert (scores["test_accuracy"] > 0.7).all()
    assert {"val_accuracy", "val_roc_auc", "test_roc_auc", "gamma"} <= set(scores)
    assert alphas["filter"].tolist() == ["I", "A", "A^2"] * 2
    assert predictions["id"].tolist() == problem.ids[problem.targets.used].tolist()
    right = (predictions["label"] == predictions["split_0"])[problem.targets.splits[0] == 3].mean()
    assert right == pytest.approx(scores["test_accuracy"][0])


def test_a_test_node_with_a_copy_in_training_is_left_out_of_the_twin_free_score(embeddings, projection, problem):
    used, splits = problem.targets.used, problem.targets.splits.copy()
    splits[:, used[0]] = 0  # so that rows of results are not numbers of nodes
    twins = np.full(len(problem.ids), -1)
    test, train = (np.flatnonzero(splits[0] == part)[:5] for part in (3, 1))
    twins[test], twins[train] = np.arange(5), np.arange(5)
    targets = dataclasses.replace(problem.targets, splits=splits, twins=twins)
    head = HEADS.parse({"trials": 2, "threads": 1, "splits": 1})
    scores, _, predictions = nodes.evaluate_splits(embeddings, projection, targets, head, InMemoryStorage())
    assert len(predictions) == len(used) - 1
    assert scores["test_twins"].tolist() == [5]
    right = dict(zip(predictions["id"], predictions["label"] == predictions["split_0"], strict=True))
    others = np.setdiff1d(np.flatnonzero(splits[0] == 3), test)
    assert scores["twin_free_test"][0] == pytest.approx(np.mean([right[i] for i in problem.ids[others]]))


def test_a_graph_without_labels_is_left_out(embeddings, projection, caplog):
    tables = nodes.evaluate_splits(embeddings, projection, Targets(), HEAD, InMemoryStorage())
    assert all(table.empty for table in tables)


def test_the_graph_says_what_counts_unless_the_settings_do(embeddings, projection, problem):
    targets = Targets(problem.targets.labels, problem.targets.classes, problem.targets.splits, "average_precision")
    assert nodes.deciding_metric(HEAD, targets) == "average_precision"
    assert nodes.deciding_metric(HEADS.parse({"metric": "macro_f1"}), targets) == "macro_f1"
    scores, _, _ = nodes.evaluate_splits(embeddings, projection, targets, HEAD, InMemoryStorage())
    assert list(scores)[:3] == ["split", "val_average_precision", "val_accuracy"]


def test_a_metric_that_does_not_fit_is_one_line(embeddings, projection, problem):
    three = Targets(np.arange(120) % 3, ("a", "b", "c"), problem.targets.splits)
    with pytest.raises(UserError, match="roc_auc needs two classes and the graph has 3"):
        nodes.evaluate_splits(embeddings, projection, three, HEADS.parse({"metric": "roc_auc"}), InMemoryStorage())


def test_the_record_says_what_was_run_and_what_it_reached(encoder, problem, evaluated):
    record = nodes.record_run(encoder, problem.targets, evaluated[0], parameters())
    assert (record.dataset, record.method, record.head, record.dimension) == ("problem", "figure", "linear", 4)
    assert record.test_mean == pytest.approx(100 * evaluated[0]["test_accuracy"].mean())
    assert (record.data_checksum, record.targets_checksum) == (problem.checksum, problem.targets.checksum)
    assert record.storage_mb == pytest.approx(120 * 4 * 3 * 4 / 2**20)
    assert record.epochs == 5
    assert record.settings["projection"]["map"] == "fourier"
    assert RunRecord.read(record.model_dump(mode="json")) == record


def test_tables_hold_the_numbers_of_the_record(encoder, problem, evaluated):
    scores, alphas, _ = evaluated
    record = nodes.record_run(encoder, problem.targets, scores, parameters())
    results, coefficients, times, text = nodes.tabulate_results(record, scores, alphas)
    assert results["test_accuracy"].iloc[-1] == f"{record.test_mean:.2f} ({record.test_std:.2f})"
    assert list(coefficients) == ["split", "I", "A", "A^2", "best"]
    assert times["epochs"].tolist() == [5]
    assert text.startswith("# problem")


def test_pipeline_reads_no_graph():
    expected = {"embeddings", "projection", "targets", "encoder", "evaluation_journal", "parameters"}
    assert create_pipeline().inputs() == {*expected, "params:evaluation"}
