"""Settings name the results that they decide: equal results, equal key."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from figure_kedro.parameters import KINDS, STAGES, Parameters, check_parameters
from flips import FILES, IDLE, NOTHING, TARGETS, base, flipped, leaves

CSBM = {"kind": "csbm", "nodes": 100}


def check(**changes):
    return check_parameters({"dataset": "some", "source": CSBM} | changes)


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
    idle = {"kind", *getattr(before, group).idle()}
    field = data.draw(st.sampled_from(sorted(set(groups[group]) - idle)))
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
ASKED = {"classifier", "inference", "neighbours"}
LEARNT = {"representation", "projection", "evaluation", *ASKED}
STAGES_OF = {
    "source": ALL,
    "features": ALL - {"targets"},
    "filters": {"filters", *LEARNT},
    "representation": LEARNT,
    "projection": {"projection", "evaluation", *ASKED},
    "evaluation": {"evaluation", *ASKED},
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
        decided = {"targets", "statistics", "evaluation", *ASKED}
    assert stages_that_differ(keys(**{group: raw}), keys(**{group: flipped(group, raw, path)})) == decided


def test_every_exception_is_one_of_a_field_that_there_is():
    known = set(leaves())
    assert {f"{group}.{path}" for group, _, path in known} >= NOTHING
    assert {(part, path) for group, part, path in known if group == "source"} >= TARGETS
    trained = {(part, path) for _, part, path in known}
    assert {pair for pair in IDLE if not pair[1].startswith("tuning.")} <= trained


@pytest.mark.usefixtures("files")
def test_what_is_no_part_decides_nothing(tmp_path):
    others = {"dataset": "other", "protocol": "paper", "data_folder": "elsewhere", "raw_mirror": str(tmp_path)}
    others |= {"tracking": {"artefact_mb": 1, "system_metrics": True}, "model": {"package": True, "register": "name"}}
    others |= {"reporting": {"formats": "pdf+svg"}, "memory": 0.5}
    others |= {"execution": {"backend": "ray", "workers": 2, "address": "auto"}}
    assert set(Parameters.model_fields) == {*others, *KINDS, *ASKED}
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
    others = ({"self_loops": False}, {"direction": "in"}, {"direction": "ignore"}, {"loop_weight": 0.5})
    assert len({learnt(), *(learnt(**other) for other in others)}) == 5


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
    assert changed == {"targets", "statistics", "evaluation", *ASKED}


def test_what_the_kept_classifier_is_fitted_on_decides_the_classifier_and_no_score():
    for labels in ("train", "all"):
        assert stages_that_differ(keys(), keys(classifier={"labels": labels})) == ASKED


@pytest.mark.parametrize(
    ("group", "asked"),
    [
        *(("inference", asked) for asked in ({"edges": "edges.csv"}, {"nodes": "nodes.csv"}, {"predictions": "never"})),
        *(("neighbours", asked) for asked in ({"k": 3}, {"of": "nodes.csv"}, {"index": "exact"})),
    ],
)
def test_what_is_asked_of_a_model_decides_the_answer_and_nothing_before_it(group, asked, files):
    assert stages_that_differ(keys(), keys(**{group: asked})) == {group}
    for field, name in asked.items():
        if name in FILES:
            (files / "moved.csv").write_text(FILES[name])
            assert keys(**{group: asked}) == keys(**{group: {field: "moved.csv"}})
            (files / "moved.csv").write_text("another content")
            assert keys(**{group: asked}) != keys(**{group: {field: "moved.csv"}})


def test_there_is_no_key_of_an_unknown_stage():
    with pytest.raises(ValueError, match="no stage 'data_processing'"):
        check().key("data_processing")
