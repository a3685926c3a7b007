"""All pipelines together."""

import pytest

from figure_kedro.pipeline_registry import register_pipelines

PIPELINES = register_pipelines()


def test_every_node_is_named_after_its_function_in_the_namespace_of_its_pipeline():
    for name, pipeline in PIPELINES.items():
        if name != "__default__":
            assert {node.name for node in pipeline.nodes} == {f"{name}.{node.func.__name__}" for node in pipeline.nodes}


@pytest.mark.parametrize(
    "node",
    [node for name in PIPELINES for node in PIPELINES[name].nodes if name != "__default__"],
    ids=lambda n: n.name,
)
def test_a_node_has_at_most_five_inputs(node):
    assert len(node.inputs) <= 5


def test_names_of_datasets_have_no_namespace():
    assert not any("." in name.removeprefix("params:") for name in PIPELINES["__default__"].datasets())


def test_new_nodes_and_neighbours_are_asked_for_and_no_part_of_every_run():
    for name in ("inference", "neighbours"):
        assert not set(PIPELINES[name].nodes) & set(PIPELINES["__default__"].nodes)


def test_after_representation_nothing_reads_the_graph():
    for name in ("projection", "evaluation", "reporting"):
        assert not PIPELINES[name].inputs() & {"graph", "operator"}


def test_everything_that_is_made_is_read_or_for_people():
    whole = PIPELINES["__default__"]
    for_people = {
        "splits", "filter_bank", "timing", "timing_table", "results_markdown", "report", "classifier", "predictions",
    }  # fmt: skip
    assert whole.outputs() == for_people
