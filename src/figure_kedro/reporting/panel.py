"""The end of a run: one summary for programs and one for people."""

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from rich.panel import Panel
from rich.table import Table
from rich.text import Text

from figure_kedro import __version__
from figure_kedro.reporting.paper import paper_cell
from figure_kedro.reporting.results import SCORES, mean_and_std


def run_summary(
    *,
    dataset: str,
    method: str,
    dimension: int,
    projection: str,
    splits: pd.DataFrame,
    timing: Mapping[str, float],
    storage_mb: float,
    settings: Mapping[str, Any],
    data_checksum: str,
    metric: str = "accuracy",
    variant: str | None = "",
) -> dict[str, Any]:
    """Gather what a run did and reached, ready for JSON: no NaN, which is ``null``, and no types of numpy.

    Scores are in percent, standard deviations over splits (:func:`~figure_kedro.reporting.results.mean_and_std`).

    Args:
        dataset: Name of the data set.
        method: What learnt the embeddings.
        dimension: Of the embeddings before any projection.
        projection: As :func:`~figure_kedro.reporting.paper.paper_projection` names it.
        splits: A row a split, none for a graph without labels: ``split``, ``val_<metric>`` and ``test_<metric>``
            between 0 and 1 for one metric or more, and the settings that were chosen.
        timing: ``epochs``, ``mean_epoch_seconds``, ``total_seconds``, ``peak_memory_mb``; missing ones are ``null``.
        storage_mb: Size of the representations of all filters.
        settings: All settings of the run.
        data_checksum: Of the graph.
        metric: Which score is the result. The paper reports accuracy; there is no cell of it for another metric.
        variant: The paper's ablation, see :func:`~figure_kedro.reporting.paper.paper_variant`.

    Returns:
        ``dataset``, ``method``, ``dimension``, ``projection``, ``variant``, ``metric``, ``splits`` (how many),
        ``test_mean``, ``test_std``, ``val_mean``, ``val_std``, ``paper_mean``, ``paper_std``, ``scores`` (the same four
        numbers for every metric), ``per_split`` (a dictionary a split, scores in percent), ``epochs``,
        ``mean_epoch_seconds``, ``total_seconds``, ``peak_memory_mb``, ``storage_mb``, ``settings``, ``data_checksum``
        and ``version`` (of this package).
    """
    metrics = [name.removeprefix("test_") for name in SCORES if name in splits and name.startswith("test_")]
    scores = {name: _scores(splits, name) for name in dict.fromkeys([metric, *metrics])}
    paper = paper_cell(dataset, method, dimension, projection, variant) if metric == "accuracy" else None
    per_split = splits.assign(**{name: 100 * splits[name] for name in SCORES if name in splits})
    times = ("epochs", "mean_epoch_seconds", "total_seconds", "peak_memory_mb")
    summary = {
        "dataset": dataset,
        "method": method,
        "dimension": dimension,
        "projection": projection,
        "variant": variant,
        "metric": metric,
        "splits": len(splits),
        **scores[metric],
        "paper_mean": paper and paper[0],
        "paper_std": paper and paper[1],
        "scores": scores,
        "per_split": per_split.to_dict("records"),
        **{name: timing.get(name) for name in times},
        "storage_mb": storage_mb,
        "settings": settings,
        "data_checksum": data_checksum,
        "version": __version__,
    }
    return _plain(summary)


def summary_panel(summary: Mapping[str, Any], artefacts: Mapping[str, str], mlflow_command: str) -> Panel:
    """Show a summary on the console: what was run, what it reached, what the paper has, and where to look next.

    Args:
        summary: From :func:`run_summary`.
        artefacts: What each artefact is, and the path it is kept under.
        mlflow_command: Opens MLflow on this run.
    """
    grid = Table.grid(padding=(0, 2))
    grid.add_column(style="bold", no_wrap=True)
    grid.add_column(overflow="fold")

    def add(title: str, value: str | Text) -> None:
        grid.add_row(title, Text(value) if isinstance(value, str) else value)  # a path may hold [ ], which is markup

    count = summary["splits"]
    variant = f", {summary['variant']}" if summary["variant"] else ""
    projection = (
        "no projection" if summary["projection"] in ("none", "identity") else f"{summary['projection']} features"
    )
    name = f"{summary['method']}{variant}, {summary['dimension']} dimensions, {projection}"
    add("run", f"{summary['dataset']}: {name}")
    reached = _spread(summary["test_mean"], summary["test_std"])
    add(f"test {summary['metric']}", f"{reached} over {count} split{'s' * (count != 1)}")
    add("validation", _spread(summary["val_mean"], summary["val_std"]))
    add("paper", _against_paper(summary))
    for other, scores in summary["scores"].items():
        if other != summary["metric"]:
            add(f"test {other}", _spread(scores["test_mean"], scores["test_std"]))
    add("training", _training(summary))
    for title, path in artefacts.items():
        add(title, path)
    add("open MLflow", Text(mlflow_command, style="cyan"))
    return Panel(grid, title="figure_kedro", title_align="left", expand=False)


def _scores(splits: pd.DataFrame, metric: str) -> dict[str, float | None]:
    if splits.empty:  # a graph without labels
        return dict.fromkeys(("test_mean", "test_std", "val_mean", "val_std"))
    test_mean, test_std = mean_and_std(100 * splits[f"test_{metric}"])
    val_mean, val_std = mean_and_std(100 * splits[f"val_{metric}"])
    return {"test_mean": test_mean, "test_std": test_std, "val_mean": val_mean, "val_std": val_std}


def _against_paper(summary: Mapping[str, Any]) -> Text:
    paper, reached = summary["paper_mean"], summary["test_mean"]
    if paper is None:
        return Text("no number for this cell", style="dim")
    text = Text(_spread(paper, summary["paper_std"]))
    if reached is not None:
        difference = round(reached - paper, 2) + 0.0  # no "-0.00"
        text.append(f"  ({difference:+.2f} points)", style="green" if difference >= 0 else "yellow")
    return text


def _training(summary: Mapping[str, Any]) -> str:
    parts = []
    if summary["epochs"]:
        parts.append(f"{summary['epochs']} epochs")
        if summary["mean_epoch_seconds"] is not None:
            parts[0] += f" of {summary['mean_epoch_seconds']:.3g} s"
    else:
        parts.append("none")
    if summary["peak_memory_mb"] is not None:
        parts.append(f"{summary['peak_memory_mb']:.0f} MB at most")
    parts.append(f"{summary['storage_mb']:.4g} MB of representations")
    return ", ".join(parts)


def _spread(mean: float | None, std: float | None) -> str:
    if mean is None:
        return "undefined"
    return f"{mean:.2f}" if std is None else f"{mean:.2f} ({std:.2f})"


def _plain(value: Any) -> Any:
    """The same with the types of JSON."""
    if isinstance(value, Mapping):
        return {str(key): _plain(item) for key, item in value.items()}
    if isinstance(value, (list, tuple, np.ndarray)):
        return [_plain(item) for item in value]
    if isinstance(value, np.generic):
        value = value.item()
    if value is None or isinstance(value, (str, bool, int)):
        return value
    if isinstance(value, float):
        return value if np.isfinite(value) else None
    return None if value is pd.NA or value is pd.NaT else str(value)
