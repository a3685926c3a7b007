"""What a run will take is said before it starts."""

import logging

import pytest

from figure_kedro.cost import Work, propagated_bytes, stage_costs, total
from figure_kedro.datasets.sources.source import GraphSize
from figure_kedro.errors import UserError
from figure_kedro.memory import GIB, Memory
from figure_kedro.parameters import check_parameters
from figure_kedro.planning import announce, predicted_seconds, work_of

MUCH = Memory(1000 * GIB)
CORA = {"kind": "planetoid", "name": "cora"}
LARGE = GraphSize(10_000_000, 200_000_000, 32, labelled=1_000_000, classes=4, splits=1)


def parameters(**groups):
    return check_parameters({"dataset": "csbm", "source": {"kind": "csbm"}, **groups})


def cost(nodes, memory=MUCH, **changes):
    work = Work(nodes, 20 * nodes, 32, corruptions=4, epochs=5, labelled=nodes // 10, **changes)
    return total(list(stage_costs(work, memory).values()))


def test_everything_grows_linearly_where_memory_is_not_short():
    one, two, three = (cost(nodes) for nodes in (2_000_000, 4_000_000, 6_000_000))
    for name in ("stored", "scratch", "seconds"):
        values = [getattr(found, name) for found in (one, two, three)]
        assert values[2] - values[1] == pytest.approx(values[1] - values[0])


def test_a_lower_limit_takes_less_memory_and_no_less_disk():
    costs = [cost(10_000_000, Memory(gib * GIB)) for gib in (100, 12, 4)]
    assert costs[0].memory > costs[1].memory > costs[2].memory
    assert costs[0].scratch <= costs[1].scratch <= costs[2].scratch
    assert costs[1].memory < 12 * GIB


def test_stored_rows_are_counted_by_hand():
    assert propagated_bytes(10, 3, 2, 4) == 4 * (1 + 4) * 2 * 10 * 4
    assert propagated_bytes(10, 3, 2, 0) == propagated_bytes(10, 3, 2, 1)  # a fresh one lies there as well


def test_work_follows_the_settings():
    method = {"dim": 16, "strategy": "decoupled", "decoupled": {"corruptions": 2}, "training": {"max_epochs": 7}}
    work = work_of(parameters(representation=method, evaluation={"trials": 12}), LARGE, MUCH)
    assert (work.dim, work.corruptions, work.epochs, work.fits, work.labelled) == (16, 2, 7, 2, 1_000_000)
    assert work_of(parameters(), LARGE, Memory(GIB)).corruptions == 4  # no step on the whole graph fits
    assert work_of(parameters(representation={"method": "untrained"}), LARGE, MUCH).epochs == 0


def test_singular_vectors_count_where_features_are_made_of_them():
    bare = GraphSize(1_000_000, 20_000_000, 0, drawn=True)
    some = GraphSize(1_000_000, 20_000_000, 32, drawn=True)
    work = work_of(parameters(features={"structural": "svd", "components": 64}), some, MUCH)
    assert (work.features, work.singular) == (96, 64)
    assert work_of(parameters(), bare, MUCH).singular == work_of(parameters(), bare, MUCH).features == 128
    assert work_of(parameters(), some, MUCH).singular == 0  # auto makes none where there are others
    assert work_of(parameters(features={"structural": "degrees"}), some, MUCH).singular == 0
    alone = parameters(features={"structural": "proximity", "components": 8, "keep_given": False})
    assert work_of(alone, some, MUCH).features == 8
    much, little = (stage_costs(work, Memory(gib * GIB))["prepare_graph"] for gib in (100, 4))
    assert much.memory > 3.2 * GIB > little.memory
    assert little.scratch > 4 * 4 * 1_000_000 * 80 > much.scratch


def test_time_is_predicted_where_the_size_of_the_graph_and_the_method_are_known():
    run = parameters()
    parts = [predicted_seconds(run, pipeline) for pipeline in ("data_processing", "representation", "evaluation")]
    assert parts == sorted(set(parts))
    assert predicted_seconds(run, "__default__") == parts[-1]
    assert predicted_seconds(parameters(representation={"method": "dgi"}), "evaluation") is None
    assert predicted_seconds(check_parameters({"dataset": "cora", "source": CORA}), "evaluation") is None


def test_log_says_which_way_is_taken(tmp_path, caplog):
    caplog.set_level(logging.INFO)
    size = GraphSize(1000, 20_000, 8)
    announce(parameters(), size, MUCH, {"prepare_graph"}, tmp_path / "not" / "there")
    announce(parameters(), size, Memory(10_000), {"prepare_graph"}, tmp_path)
    first, second = caplog.messages
    assert first.startswith("1,000 nodes and 10,000 edges will take about 0.4 GiB of memory")
    assert "the graph in memory" in first
    assert "in blocks, large arrays in files" in second


def test_disk_that_is_too_small_is_told_in_one_line(tmp_path):
    size = GraphSize(10**12, 10**13, 32)
    with pytest.raises(UserError, match="GiB left; free some, or choose another data_folder"):
        announce(parameters(), size, MUCH, {"prepare_graph", "train_encoder"}, tmp_path)
