"""The wiring of ``data_processing``."""

from kedro.pipeline import Pipeline, node

from figure_kedro.pipelines.data_processing import nodes


def create_pipeline() -> Pipeline:
    """Load and split a graph, normalise its adjacency, describe the filter bank and the data set."""
    return Pipeline(
        [
            node(nodes.prepare_graph, ["source_graph", "params:features"], ["graph", "targets"], name="prepare_graph"),
            node(nodes.tabulate_splits, ["graph", "targets"], "splits", name="tabulate_splits"),
            node(nodes.normalise_adjacency, ["graph", "params:filters"], "operator", name="normalise_adjacency"),
            node(nodes.describe_bank, "operator", "filter_bank", name="describe_bank"),
            node(nodes.summarise_graph, ["graph", "targets"], "dataset_statistics", name="summarise_graph"),
        ],
        namespace="data_processing",
        prefix_datasets_with_namespace=False,
    )
