"""Settings are checked before anything is computed, and a mistake is one line."""

import copy

import pytest

from figure_kedro.errors import UserError
from figure_kedro.methods.kinds.grace import GraceSettings
from figure_kedro.parameters import KINDS, check_parameters
from flips import base

CSBM = {"kind": "csbm", "nodes": 100}


def check(**changes):
    return check_parameters({"dataset": "some", "source": CSBM} | changes)


@pytest.mark.parametrize(
    ("changes", "line"),
    [
        ({"Dataset": "cora"}, "unknown parameter 'Dataset'; did you mean 'dataset'?"),
        ({"filtres": {"bank": "monomial"}}, "unknown parameter 'filtres'; did you mean 'filters'?"),
        ({"filters": {"bnak": "monomial"}}, "unknown parameter 'filters.bnak'; did you mean 'filters.bank'?"),
        ({"source": CSBM | {"nodez": 5}}, "unknown parameter 'source.nodez'; did you mean 'source.nodes'?"),
        ({"bank": "monomial"}, "unknown parameter 'bank'; did you mean 'filters.bank'?"),
        ({"nodes": 5}, "unknown parameter 'nodes'; did you mean 'source.nodes'?"),
        ({"register": "x"}, "unknown parameter 'register'; did you mean 'model.register'?"),
        (
            {"source": {"kind": "own", "edgez": "e.csv"}},
            "unknown parameter 'source.edgez'; did you mean 'source.edges'?",
        ),
        (
            {"filters": {"x": 1}},
            "unknown parameter 'filters.x'; choose one of: bank, direction, loop_weight, self_loops, size",
        ),
        (
            {"filters": {"bank": "bernstien"}},
            "parameter 'filters.bank': there is no 'bernstien'; did you mean 'bernstein'?",
        ),
        (
            {"features": {"structural": "svdd"}},
            "parameter 'features.structural': there is no 'svdd'; did you mean 'svd'?",
        ),
        ({"source": {"kind": "csmb"}}, "parameter 'source.kind': there is no 'csmb'; did you mean 'csbm'?"),
        (
            {"source": {"kind": "planetoid", "name": "coar"}},
            "parameter 'source.name': there is no 'coar'; did you mean 'cora'?",
        ),
        ({"filters": {"size": 0}}, "parameter 'filters.size': input should be greater than or equal to 1 (got 0)"),
        (
            {"filters": {"size": "four"}},
            "parameter 'filters.size': input should be a valid integer, unable to parse string as an integer "
            "(got 'four')",
        ),
        (
            {"source": CSBM | {"homophily": 2}},
            "parameter 'source.homophily': input should be less than or equal to 1 (got 2)",
        ),
        ({"filters": 3}, "parameter 'filters' is a group; set its parts, such as filters.bank"),
        ({"source": None}, "parameter 'source' is a group; set its parts, such as source.kind"),
        (
            {"projection": {"map": "identity", "gammas": [0.5]}},
            "unknown parameter 'projection.gammas'; it is a setting of projection.map=fourier",
        ),
        (
            {"evaluation": {"metric": "acuracy"}},
            "parameter 'evaluation.metric': there is no 'acuracy'; did you mean 'accuracy'?",
        ),
        ({"raw_mirror": "/no/such/folder"}, "parameter 'raw_mirror': there is no folder /no/such/folder"),
        *(
            (
                {"filters": {"bank": bank, "direction": "both"}},
                f"parameter 'filters': the bank {bank} has one direction; choose out or in, or filters.bank=monomial",
            )
            for bank in ("chebyshev", "bernstein")
        ),
        (
            {"filters": {"direction": "forward"}},
            "parameter 'filters.direction': there is no 'forward'; choose one of: auto, both, ignore, in, out",
        ),
        (
            {"source": {"kind": "own"}},
            "parameter 'source.edges' is needed: edge table, one edge per row: .csv, .tsv (also .gz), "
            ".parquet or a folder of such files; or a whole graph: .npz, .graphml",
        ),
        (
            {"source": {"kind": "own", "edges": "e.csv", "split_columns": "s"}},
            "parameter 'source': split_columns is a column of the node table; set nodes to its file",
        ),
    ],
)
def test_mistake_is_one_line_that_says_what_to_do(changes, line):
    with pytest.raises(UserError) as error:
        check(**changes)
    assert str(error.value) == line


def test_unknown_kind_of_source_lists_the_known_ones():
    with pytest.raises(UserError, match=r"no 'xyz'; choose one of: arxiv, csbm, .*, wikipedia$"):
        check(source={"kind": "xyz"})


def test_mirror_is_taken_from_the_environment_unless_it_is_set(tmp_path, monkeypatch):
    (tmp_path / "a").mkdir()
    (tmp_path / "b").mkdir()
    monkeypatch.setenv("FIGURE_RAW_MIRROR", str(tmp_path / "a"))
    assert check().raw_mirror == str(tmp_path / "a")
    assert check(raw_mirror=str(tmp_path / "b")).raw_mirror == str(tmp_path / "b")
    monkeypatch.setenv("FIGURE_RAW_MIRROR", str(tmp_path / "c"))
    with pytest.raises(UserError, match="there is no folder"):
        check()


def test_settings_cannot_be_changed_after_they_are_checked():
    with pytest.raises(ValueError, match="frozen"):
        check().filters.size = 5


def groups(settings, path=()):
    """The paths of all groups; what is in a search space are names of settings, which have errors of their own."""
    yield path
    for name, value in settings.items():
        if isinstance(value, dict) and name != "space":
            yield from groups(value, (*path, name))


def all_groups():
    """Every group of every part of every kind, as the settings that have it and its path."""
    for group, kind in KINDS.items():
        for part in kind.names():
            raw = check(**{group: base(group, part)}).model_dump(mode="json")
            yield from (pytest.param(raw, path, id=f"{part}-{'.'.join(path)}") for path in groups(raw[group], (group,)))
    yield pytest.param(check().model_dump(mode="json"), (), id="all")


@pytest.mark.parametrize(("raw", "path"), list(all_groups()))
def test_unknown_setting_of_any_group_is_named_in_full(raw, path):
    raw = copy.deepcopy(raw)
    inner = raw
    for name in path:
        inner = inner[name]
    inner["no_such_setting"] = 1
    with pytest.raises(UserError) as error:
        check_parameters(raw)
    assert str(error.value).startswith(f"unknown parameter {'.'.join([*path, 'no_such_setting'])!r}; ")
    assert "\n" not in str(error.value)


@pytest.mark.parametrize(
    ("change", "line"),
    [
        ({"representation": {"tuning": {"space": {"training.rate": [1]}}}}, "figure has no setting 'training.rate'"),
        ({"evaluation": {"head": "gcn", "space": {"rate": [1]}}}, "gcn has no 'rate'"),
        ({"evaluation": {"head": "gcn", "space": {"alpha": [0.5]}}}, "gcn has no 'alpha'"),
        ({"evaluation": {"head": "gcn", "space": {"hidden": []}}}, "hidden has no value to try"),
        ({"evaluation": {"head": "gcn", "space": {"dropout": [2.0]}}}, r"dropout.*less than 1"),
        (
            {"representation": {"method": "deepwalk", "p": 2.0}},
            r"unknown parameter 'representation\.p'; it is a setting of representation\.method=node2vec",
        ),
        ({"representation": {"method": "gdi"}}, "did you mean 'dgi'"),
        ({"evaluation": {"head": "gcnn"}}, "did you mean 'gcn'"),
    ],
)
def test_a_mistake_in_a_method_or_its_search_is_one_line(change, line):
    with pytest.raises(UserError, match=line) as error:
        check(**change)
    assert "\n" not in str(error.value)


def test_a_value_out_of_range_in_a_search_space_is_one_line():
    for space in ({"temperature": [0.4, 0.0]}, {"training.learning_rate": [0]}, {"dim": [1.5]}, {"training": [1, 2]}):
        with pytest.raises(UserError, match=r"cannot be|is a group") as error:
            check(representation={"method": "grace", "tuning": {"space": space}})
        assert "\n" not in str(error.value)
    with pytest.raises(UserError, match=r"temperature cannot be 0\.0"):
        GraceSettings().changed({"temperature": 0.0})
