"""What has to run before a pipeline, because no earlier run has left it."""

from pathlib import Path

from kedro.io import DataCatalog
from kedro.pipeline import Pipeline

from figure_kedro.datasets.files.data_folder import fetch


def earlier_nodes(whole: Pipeline, wanted: Pipeline, catalog: DataCatalog) -> Pipeline:
    """The nodes that make what the wanted pipeline reads and the catalog does not have; nothing else is made again.

    Args:
        whole: All nodes that there are.
        wanted: The pipeline that is going to run.
        catalog: Knows what exists.
    """
    makers = {output: node for node in whole.nodes for output in node.outputs}
    nodes = set()
    missing = list(wanted.inputs())
    while missing:
        name = missing.pop()
        if name in makers and (path := getattr(catalog.get(name), "_filepath", None)):
            fetch(Path(path))
        if name in makers and makers[name] not in nodes and not catalog.exists(name):
            nodes.add(makers[name])
            missing += makers[name].inputs
    return Pipeline(nodes)
