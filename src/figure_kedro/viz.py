"""What Kedro-Viz shows about the tables of a run, mended: those of the run that is looked at."""

import sys
from collections.abc import Callable
from importlib import import_module
from pathlib import Path
from typing import Any

LARGEST = 50 * 2**20  # bytes of a table that is read for its numbers of rows and columns


def show_the_run_that_is_asked_for() -> None:
    """Let ``kedro viz run --params ...`` count rows in the files of these parameters.

    It keeps one file of such numbers in the project, written by the last run, whatever that was. It has no setting for
    this; where a version of it is built otherwise, nothing is changed.
    """
    if "viz" not in sys.argv and "kedro_viz" not in sys.modules:
        return
    try:
        loader = import_module("kedro_viz.integrations.kedro.data_loader")
        loaded: Callable[..., Any] = loader._load_data_helper
    except (ImportError, AttributeError):
        return
    if getattr(loaded, "mended", False):
        return

    def with_own_statistics(*args: Any, **kwargs: Any) -> Any:
        catalog, pipelines, extras = loaded(*args, **kwargs)
        return catalog, pipelines, _counted(catalog, extras)

    vars(with_own_statistics)["mended"] = True
    vars(loader)["_load_data_helper"] = with_own_statistics


def _counted(catalog: Any, extras: dict[str, Any]) -> dict[str, Any]:
    """What is known beside the names of data sets, with the numbers of the files that are there and no others."""
    from kedro_viz.integrations.kedro.hooks import DatasetStatsHook
    from kedro_viz.models.metadata import NodeExtras

    counting = DatasetStatsHook()
    counting.after_catalog_created(catalog)
    for name in catalog:
        path = Path(getattr(catalog.get(name), "_filepath", None) or "")
        if path.suffix in (".csv", ".parquet") and path.is_file() and path.stat().st_size <= LARGEST:
            counting.create_dataset_stats(name, catalog.load(name))
    statistics = {name: counting.format_stats(found) for name, found in counting._stats.items()}
    styles = {name: extra.styles for name, extra in extras.items()}
    made = {
        name: NodeExtras.create_node_extras(stats=statistics.get(name), styles=styles.get(name))
        for name in {*statistics, *styles}
    }
    return {name: extra for name, extra in made.items() if extra}
