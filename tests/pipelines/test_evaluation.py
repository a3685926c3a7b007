"""The nodes of evaluation, and their wiring."""

import dataclasses
from pathlib import Path

import numpy as np
import pytest
from optuna.storages import InMemoryStorage

from figure_kedro.datasets.run_index import RunIndex
from figure_kedro.errors import UserError
from figure_kedro.evaluation import HEADS
from figure_kedro.graph import Targets
from figure_kedro.parameters import Parameters
from figure_kedro.pipelines.evaluation import create_pipeline, nodes
from figure_kedro.reporting.record import RunRecord

NO_FILES = RunIndex(Path("runs"), "key", {})

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


def fit_classifier(embeddings, projection, targets, scores, labels="train_and_val", **evaluation):
    run = parameters(threads=1, **evaluation) | {"classifier": {"labels": labels}}
    classifier, predictions = nodes.fit_classifier(embeddings, projection, targets, scores, run)
    return classifier, predictions.table()


def test_every_node_is_predicted_with_probabilities_under_its_id(embeddings, projection, problem, evaluated):
    labels = problem.targets.labels.copy()
    unknown = np.flatnonzero((problem.targets.splits == 0).any(axis=0) | (np.arange(120) < 7))
    splits = problem.targets.splits.copy()
    labels[unknown], splits[:, unknown] = -1, 0
    targets = dataclasses.replace(problem.targets, labels=labels, splits=splits)
    classifier, table = fit_classifier(embeddings, projection, targets, evaluated[0])
    assert table["id"].tolist() == problem.ids.tolist()
    probabilities = table[["p_0", "p_1"]].to_numpy()
    np.testing.assert_allclose(probabilities.sum(axis=1), 1, rtol=1e-5)
    assert table["predicted"].tolist() == [("0", "1")[column] for column in probabilities.argmax(axis=1)]
    assert set(table["label"][unknown]) == {""}
    assert (table["predicted"].astype(int) == problem.targets.labels).mean() > 0.8
    part = table["part"].isin(["train", "val"])
    assert table["fitted"].tolist() == part.tolist()
    np.testing.assert_array_equal(classifier.probabilities(embeddings), probabilities)


@pytest.mark.parametrize("labels", ["train", "train_and_val", "all"])
def test_the_setting_says_which_labels_are_fitted_and_no_other_label_is_read(
    labels, embeddings, projection, problem, evaluated
):
    classifier, table = fit_classifier(embeddings, projection, problem.targets, evaluated[0], labels)
    best = int(evaluated[0]["val_accuracy"].argmax())
    codes = problem.targets.splits[best]
    assert classifier.split == best
    fitted = {"train": codes == 1, "train_and_val": np.isin(codes, (1, 2)), "all": codes > -1}[labels]
    assert table["fitted"].tolist() == fitted.tolist()
    swapped = np.where(fitted | (codes == 2), problem.targets.labels, 1 - problem.targets.labels)
    other = dataclasses.replace(problem.targets, labels=swapped)
    again, _ = fit_classifier(embeddings, projection, other, evaluated[0], labels)
    for name, value in classifier.weights.items():
        np.testing.assert_array_equal(value, again.weights[name])


def test_settings_of_the_classifier_are_those_of_the_best_validation_score(embeddings, projection, problem, evaluated):
    scores = evaluated[0].assign(val_accuracy=[0.5, 0.9], test_accuracy=[1.0, 0.0], gamma=[0.1, 0.7])
    classifier, _ = fit_classifier(embeddings, projection, problem.targets, scores)
    assert (classifier.split, classifier.choice["gamma"]) == (1, 0.7)


def test_a_graph_without_labels_has_no_classifier_and_says_so_when_asked(embeddings, projection, evaluated):
    classifier, table = fit_classifier(embeddings, projection, Targets(), evaluated[0])
    assert table.empty
    with pytest.raises(UserError, match="problem has no labels"):
        classifier.probabilities(embeddings)


def test_the_record_says_what_was_run_and_what_it_reached(encoder, problem, evaluated):
    record = nodes.record_run(encoder, problem.targets, evaluated[0], parameters(), NO_FILES)
    assert (record.dataset, record.method, record.head, record.dimension) == ("problem", "figure", "linear", 4)
    assert record.test_mean == pytest.approx(100 * evaluated[0]["test_accuracy"].mean())
    assert (record.data_checksum, record.targets_checksum) == (problem.checksum, problem.targets.checksum)
    assert record.storage_mb == pytest.approx(120 * 4 * 3 * 4 / 2**20)
    assert record.epochs == 5
    assert record.settings["projection"]["map"] == "fourier"
    assert RunRecord.read(record.model_dump(mode="json")) == record


def test_tables_hold_the_numbers_of_the_record(encoder, problem, evaluated):
    scores, alphas, _ = evaluated
    record = nodes.record_run(encoder, problem.targets, scores, parameters(), NO_FILES)
    results, coefficients, times, text = nodes.tabulate_results(record, scores, alphas)
    assert results["test_accuracy"].tolist()[-2:] == pytest.approx([record.test_mean, record.test_std], abs=0.005)
    assert set(results["filters"].dropna()) <= {"I, A, A^2", "A, A^2", "A", "A^2"}
    assert list(coefficients) == ["split", "I", "A", "A^2", "best"]
    assert times["epochs"].tolist() == [5]
    assert text.startswith("# problem")


def test_pipeline_reads_no_graph():
    expected = {"embeddings", "projection", "targets", "encoder", "evaluation_journal", "parameters", "run_index"}
    assert create_pipeline().inputs() == {*expected, "params:evaluation"}
