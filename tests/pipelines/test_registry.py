"""All pipelines together."""

from pathlib import Path

import pytest

from figure_kedro.config import ProjectConfigLoader
from figure_kedro.pipeline_registry import register_pipelines
from figure_kedro.settings import CONFIG_LOADER_ARGS

PIPELINES = register_pipelines()
LAYERS = ["raw", "primary", "model_input", "models", "model_output", "reporting"]
"""As Kedro-Viz shows them from top to bottom."""


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


@pytest.mark.parametrize("name", PIPELINES)
def test_nothing_flows_back_to_an_earlier_layer(name):
    """Or Kedro-Viz would show no layers at all."""
    loader = ProjectConfigLoader(str(Path(__file__).parents[2] / "conf"), **CONFIG_LOADER_ARGS)
    viz = {entry: (about.get("metadata") or {}).get("kedro-viz", {}) for entry, about in loader["catalog"].items()}
    own = {entry: LAYERS.index(about["layer"]) for entry, about in viz.items() if "layer" in about}
    behind: dict[str, int] = {}  # the last layer on the way to a data set

    def check(what, inputs, outputs):
        last = max((max(own.get(entry, 0), behind.get(entry, 0)) for entry in inputs), default=0)
        for entry in outputs:
            assert own.get(entry, last) >= last, (what, entry)
            behind[entry] = max(last, behind.get(entry, 0))

    for node in PIPELINES[name].nodes:
        check(node.name, node.inputs, node.outputs)
    for part in ("data_processing", "representation", "projection", "evaluation", "reporting"):
        if name == "__default__":  # Kedro-Viz shows each of them as one node, too
            check(part, PIPELINES[part].inputs(), PIPELINES[part].all_outputs())
