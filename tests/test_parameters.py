"""Settings are checked before anything is computed, and name the results that they decide."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.methods.settings import RepresentationSettings
from figure_kedro.parameters import check_parameters

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
        (
            {"source": {"kind": "own", "edgez": "e.csv"}},
            "unknown parameter 'source.edgez'; did you mean 'source.edges'?",
        ),
        (
            {"filters": {"x": 1}},
            "unknown parameter 'filters.x'; choose one of: bank, self_loops, size",
        ),
        (
            {"filters": {"bank": "bernstien"}},
            "parameter 'filters.bank': there is no filter bank 'bernstien'; did you mean 'bernstein'?",
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
        ({"raw_mirror": "/no/such/folder"}, "parameter 'raw_mirror': there is no folder /no/such/folder"),
        (
            {"source": {"kind": "own"}},
            "parameter 'source.edges' is needed: edge table, .csv, .csv.gz or .parquet: one edge a row",
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


decisive = st.fixed_dictionaries(
    {
        "dataset": st.sampled_from(["some", "other"]),
        "source": st.one_of(
            st.fixed_dictionaries(
                {"kind": st.just("csbm")},
                optional={
                    "nodes": st.integers(2, 4),
                    "degree": st.sampled_from([1.0, 1.5]),
                    "classes": st.integers(2, 3),
                    "homophily": st.sampled_from([0.25, 0.5]),
                    "features": st.integers(0, 1),
                    "signal": st.sampled_from([0.0, 2.0]),
                    "splits": st.integers(1, 2),
                    "seed": st.integers(0, 1),
                },
            ),
            st.fixed_dictionaries({"kind": st.just("planetoid"), "name": st.sampled_from(["cora", "pubmed"])}),
        ),
        "features": st.fixed_dictionaries(
            {},
            optional={
                "normalise": st.sampled_from(["none", "rows"]),
                "structural": st.sampled_from(["auto", "svd"]),
                "components": st.sampled_from([64, 128]),
                "keep_given": st.booleans(),
                "scale": st.sampled_from([1.0, 0.5]),
                "seed": st.integers(0, 1),
            },
        ),
        "filters": st.fixed_dictionaries(
            {},
            optional={
                "bank": st.sampled_from(["monomial", "bernstein"]),
                "size": st.integers(3, 4),
                "self_loops": st.booleans(),
            },
        ),
    }
)


@settings(max_examples=200, deadline=None)
@given(one=decisive, other=decisive)
def test_keys_are_equal_exactly_where_the_settings_are(one, other):
    one, other = check_parameters(one), check_parameters(other)
    assert (one.key("data_processing") == other.key("data_processing")) == (one == other)


@settings(max_examples=60, deadline=None)
@given(base=decisive, data=st.data())
def test_one_changed_setting_changes_the_key(base, data):
    before = check_parameters(base)
    groups = before.model_dump(mode="json", include={"source", "features", "filters"})
    group = data.draw(st.sampled_from(sorted(groups)))
    field = data.draw(st.sampled_from(sorted(set(groups[group]) - {"kind"})))
    changed = groups[group] | {field: another(groups[group][field])}
    after = check_parameters(base | {group: changed})
    assert after.key("data_processing") != before.key("data_processing")


def another(value):
    other = {
        "none": "rows",
        "rows": "none",
        "auto": "svd",
        "svd": "none",
        "monomial": "chebyshev",
        "bernstein": "monomial",
        "cora": "citeseer",
    }
    if isinstance(value, bool):
        return not value
    if isinstance(value, str):
        return other.get(value, "cora")
    return value + 1 if isinstance(value, int) else (value + 1) / 4


def test_where_files_lie_does_not_change_the_key(tmp_path):
    moved = check(data_folder=str(tmp_path), raw_mirror=str(tmp_path))
    assert moved.key("data_processing") == check().key("data_processing")


def test_settings_cannot_be_changed_after_they_are_checked():
    with pytest.raises(ValueError, match="frozen"):
        check().filters.size = 5


FREE = ("space", "spaces")  # their keys are names of other settings, which have errors of their own


def groups(settings, path=()):
    yield path
    for name, value in settings.items():
        if isinstance(value, dict) and name not in FREE:
            yield from groups(value, (*path, name))


@pytest.mark.parametrize("path", list(groups(check().model_dump(mode="json"))), ids=".".join)
def test_unknown_setting_of_any_group_is_named_in_full(path):
    raw = check().model_dump(mode="json")
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
        ({"representation": {"tuning": {"space": {"training.rate": [1]}}}}, "there is no setting 'training.rate'"),
        ({"evaluation": {"end_to_end": {"spaces": {"gcn": {"rate": [1]}}}}}, "gcn has no setting 'rate'"),
        ({"representation": {"method": "deepwalk", "walks": {"p": 2.0}}}, "deepwalk has neither p nor q"),
        ({"representation": {"method": "gdi"}}, "did you mean 'dgi'"),
        ({"evaluation": {"supervised": "gcnn"}}, "did you mean 'gcn'"),
    ],
)
def test_a_mistake_in_a_method_or_its_search_is_one_line(change, line):
    with pytest.raises(UserError, match=line) as error:
        check(**change)
    assert "\n" not in str(error.value)


def test_a_value_out_of_range_in_a_search_space_is_one_line():
    settings = RepresentationSettings(tuning={"space": {"grace.temperature": [0.0]}})
    with pytest.raises(UserError, match=r"grace\.temperature cannot be 0\.0") as error:
        settings.changed({"grace.temperature": 0.0})
    assert "\n" not in str(error.value)
