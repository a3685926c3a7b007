"""Settings are checked before anything is computed, and name the results that they decide."""

import copy

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.errors import UserError
from figure_kedro.methods.kinds.grace import GraceSettings
from figure_kedro.parameters import KINDS, STAGES, Parameters, check_parameters
from flips import FILES, IDLE, NOTHING, TARGETS, base, flipped, leaves

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
            "unknown parameter 'filters.x'; choose one of: bank, direction, self_loops, size",
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
            "parameter 'source.edges' is needed: edge table, .csv, .csv.gz or .parquet: one edge per row",
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
                "direction": st.sampled_from(["auto", "out", "in"]),
            },
        ),
    }
)


@settings(max_examples=200, deadline=None)
@given(one=decisive, other=decisive)
def test_keys_are_equal_exactly_where_the_settings_are(one, other):
    one, other = check_parameters(one), check_parameters(other)
    assert (one.key("targets") == other.key("targets")) == (one.source == other.source)
    graphs = (one.source, one.features) == (other.source, other.features)
    assert (one.key("statistics") == other.key("statistics")) == graphs
    filtered = (without_splits(one), one.features, one.filters) == (
        without_splits(other),
        other.features,
        other.filters,
    )
    assert (one.key("filters") == other.key("filters")) == filtered
    assert (one.key("representation") == other.key("representation")) == filtered
    assert (one.key("evaluation") == other.key("evaluation")) == (graphs and one.filters == other.filters)


def without_splits(parameters):
    return parameters.source.model_dump(exclude={"splits"})


@settings(max_examples=60, deadline=None)
@given(base=decisive, data=st.data())
def test_one_changed_setting_changes_the_key(base, data):
    before = check_parameters(base)
    groups = before.model_dump(mode="json", include={"source", "features", "filters"})
    group = data.draw(st.sampled_from(sorted(groups)))
    field = data.draw(st.sampled_from(sorted(set(groups[group]) - {"kind"})))
    changed = groups[group] | {field: another(groups[group][field], field)}
    after = check_parameters(base | {group: changed})
    assert after.key("evaluation") != before.key("evaluation")
    first = "filters" if group == "filters" else "statistics"
    assert after.key(first) != before.key(first)


def another(value, field):
    if field == "direction":
        return "ignore"
    other = {
        "none": "rows",
        "rows": "none",
        "auto": "svd",
        "svd": "auto",
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
    for stage in STAGES:
        assert moved.key(stage) == check().key(stage)


ALL = set(STAGES)
LEARNT = {"representation", "projection", "evaluation"}
STAGES_OF = {
    "source": ALL,
    "features": ALL - {"targets"},
    "filters": {"filters", *LEARNT},
    "representation": LEARNT,
    "projection": {"projection", "evaluation"},
    "evaluation": {"evaluation"},
}
"""The stages whose results a group of settings decides, with the default parts."""


@pytest.fixture
def files(tmp_path, monkeypatch):
    """The files that settings name, in the current directory."""
    for name, content in FILES.items():
        (tmp_path / name).write_text(content)
    monkeypatch.chdir(tmp_path)
    return tmp_path


def keys(**changes):
    parameters = check(**changes)
    return {stage: parameters.key(stage) for stage in STAGES}


def stages_that_differ(one, other):
    return {stage for stage in STAGES if one[stage] != other[stage]}


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize(("group", "part", "path"), list(leaves()))
def test_exactly_the_settings_that_decide_a_result_change_its_key(group, part, path):
    asleep, awake = IDLE.get((part, path), (None, {}))
    if asleep is not None:
        raw = base(group, part, asleep)
        assert keys(**{group: raw}) == keys(**{group: flipped(group, raw, path)})
    raw = base(group, part, awake)
    decided = STAGES_OF[group]
    if f"{group}.{path}" in NOTHING:
        decided = set()
    elif group == "source" and (part, path) in TARGETS:
        decided = {"targets", "statistics", "evaluation"}
    assert stages_that_differ(keys(**{group: raw}), keys(**{group: flipped(group, raw, path)})) == decided


def test_every_exception_is_one_of_a_field_that_there_is():
    known = set(leaves())
    assert {f"{group}.{path}" for group, _, path in known} >= NOTHING
    assert {(part, path) for group, part, path in known if group == "source"} >= TARGETS
    trained = {(part, path) for _, part, path in known}
    assert {pair for pair in IDLE if not pair[1].startswith("tuning.")} <= trained


@pytest.mark.usefixtures("files")
def test_what_is_no_part_decides_nothing(tmp_path):
    others = {"dataset": "other", "data_folder": "elsewhere", "raw_mirror": str(tmp_path)}
    assert set(Parameters.model_fields) == {*others, *KINDS}
    for name, value in others.items():
        assert keys(**{name: value}) == keys()


@pytest.mark.usefixtures("files")
@pytest.mark.parametrize("group", KINDS)
def test_no_two_parts_of_a_kind_have_a_key_in_common(group):
    found = [keys(**{group: base(group, part)}) for part in KINDS[group].names()]
    for stage in STAGES_OF[group]:
        assert len({key[stage] for key in found}) == len(found)


@pytest.mark.parametrize("group", KINDS)
def test_a_part_with_a_new_version_has_new_keys(group, monkeypatch):
    before = keys()
    part = KINDS[group].part(getattr(check(), group))
    monkeypatch.setattr(part, "version", part.version + 1)
    assert stages_that_differ(before, keys()) == STAGES_OF[group]


def test_speed_machine_and_what_is_kept_change_no_key():
    for changes in (
        {"representation": {"training": {"threads": 7}}},
        {"representation": {"training": {"device": "cuda:1"}}},
        {"representation": {"training": {"checkpoint_seconds": 1.5}}},
        {"representation": {"embeddings": "never"}},
        {"representation": {"decoupled": {"columns": 5}}},
        {"evaluation": {"threads": 7}},
    ):
        assert keys(**changes) == keys()


def test_columns_propagated_at_a_time_change_no_key_of_the_decoupled_strategy():
    strategy = {"strategy": "decoupled"}
    assert keys(representation=strategy) == keys(representation=strategy | {"decoupled": {"columns": 5}})


@pytest.mark.parametrize("strategy", ["auto", "full", "decoupled", "sampled"])
def test_settings_of_samples_change_the_key_only_where_samples_are_taken(strategy):
    for sampled in ({"size": 100}, {"batch": 3}, {"nodes": "random"}):
        one = keys(representation={"strategy": strategy})
        other = keys(representation={"strategy": strategy, "sampled": sampled})
        assert stages_that_differ(one, other) == (LEARNT if strategy == "sampled" else set())


@pytest.mark.parametrize("method", ["dgi", "mvgrl", "grace", "sugrl"])
def test_the_bank_does_not_change_what_a_method_without_a_bank_learns_but_self_loops_and_direction_do(method):
    def learnt(**filters):
        return check(representation={"method": method}, filters=filters).key("representation")

    assert learnt(bank="bernstein") == learnt(bank="monomial", size=9) == learnt()
    assert len({learnt(), learnt(self_loops=False), learnt(direction="in"), learnt(direction="ignore")}) == 4


def test_the_bank_changes_what_figure_learns():
    assert check(filters={"bank": "bernstein"}).key("representation") != check().key("representation")


@pytest.mark.parametrize("method", ["deepwalk", "node2vec"])
def test_neither_features_nor_filters_change_what_walks_learn(method):
    def learnt(**changes):
        return check(representation={"method": method}, **changes).key("representation")

    for changes in (
        {"features": {"structural": "degrees"}},
        {"features": {"normalise": "rows"}},
        {"filters": {"bank": "chebyshev", "size": 9}},
        {"filters": {"self_loops": False}},
        {"filters": {"direction": "in"}},
    ):
        assert learnt(**changes) == learnt()
    assert learnt(source=CSBM | {"seed": 1}) != learnt()


def test_filters_do_not_change_features_that_are_taken_as_they_are():
    def learnt(**changes):
        return check(representation={"method": "features"}, **changes).key("representation")

    assert learnt(filters={"self_loops": False, "bank": "chebyshev"}) == learnt()
    assert learnt(features={"normalise": "rows"}) != learnt()


@pytest.mark.parametrize("head", ["gcn", "gprgnn", "h2gcn"])
def test_a_network_on_the_graph_is_decided_neither_by_embeddings_nor_by_filters_nor_by_a_projection(head):
    def judged(**changes):
        return check(evaluation={"head": head}, **changes).key("evaluation")

    for changes in (
        {"representation": {"method": "deepwalk"}},
        {"representation": {"dim": 8, "training": {"seed": 1}}},
        {"filters": {"bank": "bernstein", "size": 9, "self_loops": False}},
        {"projection": {"map": "fourier"}},
    ):
        assert judged(**changes) == judged()
    assert judged(features={"normalise": "rows"}) != judged()
    assert judged(source=CSBM | {"splits": 3}) != judged()


def test_the_number_of_splits_decides_targets_and_scores_but_neither_graph_nor_embeddings():
    changed = stages_that_differ(keys(), keys(source=CSBM | {"splits": 3}))
    assert changed == {"targets", "statistics", "evaluation"}


def test_there_is_no_key_of_an_unknown_stage():
    with pytest.raises(ValueError, match="no stage 'data_processing'"):
        check().key("data_processing")


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
