"""What MLflow is told of a run."""

import pandas as pd
import pytest

from figure_kedro.parameters import check_parameters
from figure_kedro.reporting.record import RunRecord
from figure_kedro.tracking.words import (
    LONGEST,
    as_params,
    command_line,
    last_stage,
    record_metrics,
    run_name,
    run_params,
    run_tags,
)


def parameters(**groups):
    return check_parameters({"dataset": "cora", "source": {"kind": "csbm"}, **groups})


@pytest.mark.parametrize(
    ("groups", "stage", "name"),
    [
        ({}, "evaluation", "cora figure 512"),
        ({"representation": {"method": "dgi", "dim": 32}}, "evaluation", "cora dgi 32"),
        ({"projection": {"map": "fourier"}}, "evaluation", "cora figure 512 fourier"),
        ({"projection": {"map": "fourier"}}, "representation", "cora figure 512"),
        ({"evaluation": {"head": "mlp"}}, "evaluation", "cora figure 512 mlp"),
        ({"representation": {"method": "features"}, "evaluation": {"head": "gcn"}}, "evaluation", "cora gcn"),
        ({"representation": {"method": "propagation"}}, "evaluation", "cora propagation"),
        ({}, "filters", "cora filters"),
        ({}, "inference", "cora figure 512 inference"),
    ],
)
def test_a_run_is_named_by_what_it_is(groups, stage, name):
    assert run_name(parameters(**groups), stage) == name


def test_the_last_pipeline_says_which_parts_are_in_use():
    assert last_stage(["data_processing"]) == "filters"
    assert last_stage(["representation", "data_processing"]) == "representation"
    assert last_stage(["data_processing", "evaluation", "reporting"]) == "evaluation"
    assert last_stage(["inference"]) == "inference"
    assert last_stage(["somebody's own"]) == "evaluation"


def test_parameters_are_plain_values_of_the_parts_in_use():
    logged = run_params(parameters(representation={"method": "propagation"}), "representation")
    assert logged["dataset"] == "cora"
    assert logged["representation.method"] == "propagation"
    assert "representation.training.learning_rate" not in logged, "nothing is trained"
    assert not [name for name in logged if name.startswith(("projection.", "evaluation."))]
    assert not [value for value in logged.values() if "Settings(" in value or "{" in value]


def test_data_processing_has_the_settings_of_labels_and_of_filters():
    assert {"source.splits", "filters.bank"} <= set(run_params(parameters(), "filters"))


def test_parameters_that_are_too_long_are_cut_and_those_not_set_left_out():
    logged = as_params({"columns": ["c"] * 10_000, "none": None})
    assert len(logged["columns"]) < LONGEST + 10
    assert "none" not in logged


def test_tags_say_what_runs_are_searched_by():
    run = parameters(projection={"map": "fourier"})
    tags = run_tags(run, "evaluation", "kedro run")
    assert {name: tags[name] for name in ("dataset", "method", "dim", "projection", "head", "command")} == {
        "dataset": "cora",
        "method": "figure",
        "dim": "512",
        "projection": "fourier",
        "head": "linear",
        "command": "kedro run",
    }
    assert tags["key"] == run.key("evaluation")
    assert "projection" not in run_tags(run, "representation", "")


def test_metrics_have_deviations_and_the_difference_to_the_paper():
    splits = pd.DataFrame({"split": [0, 1], "test_accuracy": [0.86, 0.90], "val_accuracy": [0.8, 0.8]})
    record = RunRecord.of_run(
        dataset="cora",
        method="figure",
        dimension=512,
        projection="none",
        splits=splits,
        timing={"epochs": 7},
        storage_mb=1.0,
        data_checksum="0",
        settings={},
    )
    metrics = record_metrics(record)
    assert metrics["test_mean"] == metrics["test_accuracy_mean"] == pytest.approx(88.0)
    assert metrics["test_std"] == pytest.approx(record.test_std)
    assert metrics["paper_difference"] == pytest.approx(88.0 - record.paper_mean)
    assert metrics["epochs"] == 7.0
    assert "peak_memory_mb" not in metrics, "it was not measured"


def test_a_command_holds_every_setting():
    command = command_line(
        ["representation", "evaluation"], {"dataset": "own", "source": {"edges": "my edges.csv"}}, ["--tags=a"]
    )
    expected = (
        "kedro run --pipelines=representation,evaluation --tags=a --params 'dataset=own,source.edges=my edges.csv'"
    )
    assert command == expected
    assert command_line([], {}) == "kedro run"
