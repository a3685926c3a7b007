"""What earlier versions wrote is read today; what is newer is refused in one line."""

import json
from pathlib import Path

import pytest

from figure_kedro.errors import UserError
from figure_kedro.migration import (
    MODEL_FORMAT,
    RECORD_FORMAT,
    migrate_model,
    migrate_record,
    parameters_from_1,
    raised_versions,
)
from figure_kedro.parameters import KINDS, check_parameters
from figure_kedro.reporting.record import RunRecord
from figure_kedro.versions import check_format

FIXTURES = Path(__file__).parent / "fixtures"
PUBLISHED = [json.loads(line) for line in (FIXTURES / "records.jsonl").read_text().splitlines()]
RECORDS = [record for record in PUBLISHED if "format" not in record]
"""Those of version 0.1.0."""
SAVED = sorted((FIXTURES / "models_format_1").iterdir())

number = pytest.mark.parametrize("number", range(len(RECORDS)))


@number
def test_every_published_record_is_read_with_its_scores(number):
    stored = RECORDS[number]
    record = RunRecord.read(stored)
    assert record.format == RECORD_FORMAT
    for name in (
        "dataset",
        "method",
        "dimension",
        "projection",
        "variant",
        "metric",
        "test_mean",
        "test_std",
        "per_split",
    ):
        assert getattr(record, name) == stored[name]
    assert record.scores[record.metric].test_mean == stored["scores"][record.metric]["test_mean"]


@number
def test_settings_of_every_published_record_are_valid_as_they_are(number):
    stored = RECORDS[number]
    assert "data_folder" not in stored["settings"]
    parameters = check_parameters(RunRecord.read(stored).settings)
    assert parameters.dataset == stored["dataset"]
    network = stored["settings"].get("evaluation", {}).get("supervised", "none")
    if network == "none":
        assert (parameters.representation.method, parameters.evaluation.head) == (stored["method"], "linear")
    else:
        assert parameters.evaluation.head == network == stored["method"]


@number
def test_settings_of_every_published_record_keep_the_values_of_what_was_used(number):
    old = RECORDS[number]["settings"]
    new = check_parameters(RunRecord.read(RECORDS[number]).settings)
    for group, same in (
        ("features", ("structural", "normalise")),
        ("filters", ("bank", "size", "self_loops")),
        ("projection", ("map", "scale", "norm", "dim", "seed", "kernel", "degree", "sigma")),
        ("evaluation", ("trials", "splits", "seed", "solver", "masks")),
        ("representation", ("method", "dim", "strategy")),
    ):
        settings = getattr(new, group)
        for name in same:
            if name in type(settings).model_fields and name in old.get(group, {}):
                assert getattr(settings, name) == old[group][name], f"{group}.{name}"
    for name in ("learning_rate", "max_epochs", "patience", "seed"):
        if name in type(new.representation.training).model_fields:
            assert getattr(new.representation.training, name) == old["representation"]["training"][name]
    if new.projection.map == "fourier":
        assert list(new.projection.gammas) == old["evaluation"]["gammas"]


def test_every_published_record_of_a_network_names_it_as_its_head():
    for stored in RECORDS:
        network = stored["settings"]["evaluation"]["supervised"]
        assert RunRecord.read(stored).head == ("linear" if network == "none" else network)


def test_records_of_today_stand_beside_them():
    for stored in PUBLISHED:
        check_parameters(RunRecord.read(stored).settings)
    assert len(PUBLISHED) > len(RECORDS) > 100


def test_a_record_of_today_is_read_as_it_is():
    record = RunRecord.read(RECORDS[0])
    assert RunRecord.read(record.model_dump(mode="json")) == record


def test_reading_does_not_change_what_is_read():
    before = json.dumps(RECORDS[0])
    RunRecord.read(RECORDS[0])
    assert json.dumps(RECORDS[0]) == before


OLD = {
    "dataset": "some",
    "source": {"kind": "csbm"},
    "features": {
        "normalise": "rows",
        "structural": "none",
        "components": 64,
        "keep_given": True,
        "scale": 1.0,
        "seed": 0,
    },
    "filters": {"bank": "bernstein", "size": 5, "self_loops": False},
    "representation": {
        "method": "grace",
        "dim": 32,
        "strategy": "full",
        "grace": {"temperature": 0.7, "nodes": 0},
        "walks": {"length": 40, "p": 0.5},
        "sugrl": {"margin": 0.5},
        "training": {"learning_rate": 0.5, "threads": 1},
        "tuning": {
            "enabled": True,
            "trials": 3,
            "space": {"grace.temperature": [0.4, 0.9], "training.learning_rate": [1]},
        },
    },
    "projection": {"map": "fourier", "dim": 64, "gamma": 0.5, "kernel": "polynomial", "scale": "rms"},
    "evaluation": {
        "solver": "adam",
        "gammas": [0.1, 0.3],
        "trials": 7,
        "supervised": "none",
        "end_to_end": {"patience": 9},
    },
}


def test_settings_of_a_method_leave_their_group():
    method = check_parameters(parameters_from_1(OLD)).representation
    assert (method.method, method.dim, method.temperature, method.nodes) == ("grace", 32, 0.7, 0)
    assert method.training.learning_rate == 0.5
    assert method.tuning.space == {"temperature": (0.4, 0.9), "training.learning_rate": (1,)}


@pytest.mark.parametrize(("method", "group"), [("deepwalk", "walks"), ("node2vec", "walks"), ("sugrl", "sugrl")])
def test_settings_of_every_group_leave_it(method, group):
    old = OLD["representation"] | {"method": method, "tuning": {}}
    settings = check_parameters(parameters_from_1(OLD | {"representation": old})).representation
    for name, value in old[group].items():
        if name in type(settings).model_fields:
            assert getattr(settings, name) == value
    assert hasattr(settings, "p") == (method == "node2vec")


def test_widths_of_the_kernel_are_settings_of_the_map():
    projection = check_parameters(parameters_from_1(OLD)).projection
    assert (projection.map, projection.dim, projection.scale) == ("fourier", 64, "rms")
    assert projection.gammas == (0.1, 0.3)


def test_a_network_that_was_trained_end_to_end_is_a_head():
    spaces = {"gcn": {"hidden": [64]}, "gprgnn": {"alpha": [0.1, 0.5]}}
    evaluation = {
        "supervised": "gprgnn",
        "trials": 7,
        "end_to_end": {"patience": 9, "max_epochs": 11, "spaces": spaces},
    }
    head = check_parameters(parameters_from_1(OLD | {"evaluation": evaluation})).evaluation
    assert (head.head, head.trials, head.patience, head.max_epochs) == ("gprgnn", 7, 9, 11)
    assert head.space == {"alpha": (0.1, 0.5)}


def test_nothing_is_left_of_parts_that_were_not_chosen():
    new = parameters_from_1(OLD)
    for group, kind in KINDS.items():
        assert set(new[group]) <= set(kind.chosen(new[group]).Settings.model_fields)


@pytest.mark.parametrize("folder", SAVED, ids=lambda path: path.name)
def test_the_description_of_every_saved_model_becomes_one_of_today(folder):
    old = json.loads((folder / "settings.json").read_text())
    _, new = migrate_model({}, old)
    assert new["format"] == MODEL_FORMAT
    method = KINDS["representation"].parse(new["representation"])
    assert method.method == old["representation"]["method"]
    added = {"direction": "auto", "loop_weight": 1.0}
    assert KINDS["filters"].parse(new["filters"]).model_dump() == old["filters"] | added


@pytest.mark.parametrize("version", [99, MODEL_FORMAT + 1, "two", 2.5])
def test_what_is_newer_is_refused_in_one_line(version):
    for migrate in (lambda stored: migrate_model({}, stored), migrate_record):
        with pytest.raises(
            UserError, match=r"has format .*, and this program reads 1 to [23]; use a newer version"
        ) as error:
            migrate({"format": version})
        assert "\n" not in str(error.value)


def test_what_says_no_format_is_of_the_first():
    assert check_format(None, 3, "it") == 1
    assert [check_format(version, 3, "it", oldest=2) for version in (2, 3)] == [2, 3]
    with pytest.raises(
        UserError, match="it has format 1, and this program reads 2 to 3; delete it, and it is made anew"
    ):
        check_format(None, 3, "it", oldest=2)


@pytest.mark.parametrize(
    ("changes", "version"),
    [
        ({}, 3),
        ({"evaluation": {"head": "linear", "solver": "lbfgs", "trials": 10}}, 2),
        ({"evaluation": {"head": "linear", "solver": "adam", "trials": 10}}, 3),
        ({"filters": {"bank": "monomial", "size": 11}}, 2),
        ({"filters": {"bank": "monomial", "size": 3, "direction": "both"}}, 2),
        ({"projection": {"map": "fourier", "gammas": [0.1, 0.2]}}, 2),
    ],
)
def test_records_of_a_search_that_is_the_same_today_stay_valid(changes, version):
    settings = {
        "source": {"kind": "npz_archive"},
        "evaluation": {"head": "linear", "solver": "lbfgs", "trials": 30},
        "filters": {"bank": "monomial", "size": 4},
        "projection": {"map": "identity"},
    }
    record = {"format": RECORD_FORMAT, "versions": {"evaluation": 2, "source": 1}, "settings": settings | changes}
    assert migrate_record(record)["versions"] == {"evaluation": version, "source": 1}


@pytest.mark.parametrize(
    ("kind", "features", "version"),
    [
        ("planetoid", {"structural": "auto"}, 2),
        ("planetoid", {}, 2),
        ("planetoid", {"structural": "svd"}, 1),
        ("npz_archive", {"structural": "auto"}, 1),
        ("own", {}, 1),
    ],
)
def test_records_of_graphs_with_features_do_not_age_with_what_others_get(kind, features, version):
    settings = {"source": {"kind": kind}, "features": features}
    assert raised_versions(settings, {"features": 1}) == {"features": version}
    assert raised_versions(settings, {}).get("features", 1) == version
