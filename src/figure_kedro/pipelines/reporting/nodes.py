"""From results to pictures and the page of the run; a graph without labels has pictures that say so."""

from typing import Any

import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from figure_kedro.embeddings import Embeddings
from figure_kedro.filters import BANKS, BankSettings, mathtext
from figure_kedro.graph import Targets
from figure_kedro.graph.splits import TEST
from figure_kedro.projections import Projection
from figure_kedro.reporting.charts import alpha_figure, confusion_matrix_figure, loss_figure, words_figure
from figure_kedro.reporting.filter_responses import plot_filter_responses
from figure_kedro.reporting.pictures import TSNE_NODES, correlation_figure, sample_nodes, tsne_figure
from figure_kedro.reporting.record import RunRecord
from figure_kedro.reporting.run_page import run_page


def draw_filter_responses(filters: BankSettings) -> Figure:
    """Draw the responses of this run's filters over the spectrum."""
    return plot_filter_responses(BANKS.build(filters))


def draw_charts(
    targets: Targets,
    loss_curve: pd.DataFrame,
    split_alphas: pd.DataFrame,
    split_predictions: pd.DataFrame,
    summary: RunRecord,
) -> tuple[Figure, Figure, Figure]:
    """Draw the loss curve, the coefficients, and the confusion matrix of the first split's test part."""
    title, loss = summary.title, loss_figure(loss_curve, summary.title)
    if split_predictions.empty or targets.splits is None:
        nothing = words_figure("no labels, nothing to evaluate", title)
        return loss, nothing, nothing
    number = {name: i for i, name in enumerate(targets.classes)}
    test = targets.splits[0][targets.used] == TEST
    true, predicted = (
        split_predictions.loc[test, name].astype(str).map(number).to_numpy() for name in ("label", "split_0")
    )
    matrix = confusion_matrix_figure(true, predicted, targets.classes, title, "test nodes of split 0")
    return loss, alpha_figure(split_alphas, title), matrix


def draw_embeddings(
    embeddings: Embeddings,
    projection: Projection,
    targets: Targets,
    split_scores: pd.DataFrame,
    summary: RunRecord,
) -> tuple[Figure, Figure]:
    """Draw t-SNE and correlations of one filter's embedding, before and after the map that was evaluated.

    The filter is the third of the bank, :math:`A^2` in the paper's, or the last of a smaller bank. What is chosen of
    the map on validation is that of the first split.
    """
    name = embeddings.names[min(2, len(embeddings) - 1)]
    seed = getattr(projection.settings, "seed", 0)
    nodes = sample_nodes(len(embeddings.ids), TSNE_NODES, seed)  # before the map, which widens what it is given
    view = embeddings[name][nodes]
    panels = {f"view {mathtext(name)}": view}
    if projection.settings.map != "identity":
        panels[f"view {mathtext(name)}, after {projection.settings.map} features"] = projection.transform(
            view, **_chosen(projection, split_scores)
        )
    labels = np.full(len(nodes), -1) if targets.labels is None else np.asarray(targets.labels)[nodes]
    tsne = tsne_figure(panels, labels, seed, targets.classes, summary.title)
    return tsne, correlation_figure(panels, labels, seed, targets.classes, summary.title)


def gather_tables(
    dataset_statistics: pd.DataFrame, results_table: pd.DataFrame, alpha_table: pd.DataFrame
) -> dict[str, pd.DataFrame]:
    """The tables of the page."""
    return {"statistics": dataset_statistics, "results": results_table, "alphas": alpha_table}


def gather_pictures(
    loss_chart: bytes, alpha_chart: bytes, confusion_matrix: bytes, tsne: bytes, correlations: bytes
) -> dict[str, bytes]:
    """The pictures of the page."""
    return {
        "loss": loss_chart,
        "alphas": alpha_chart,
        "confusion_matrix": confusion_matrix,
        "tsne": tsne,
        "correlations": correlations,
    }


def write_report(
    summary: RunRecord,
    report_tables: dict[str, pd.DataFrame],
    report_pictures: dict[str, bytes],
    filter_responses: bytes,
    command: str,
) -> str:
    """Write the page that shows the run; it needs no other file."""
    pictures = report_pictures | {"filter_responses": filter_responses}
    return run_page(summary, report_tables, pictures, summary.artefacts, command)


def _chosen(projection: Projection, split_scores: pd.DataFrame) -> dict[str, Any]:
    if split_scores.empty:
        return {}
    first = split_scores.iloc[0]
    return {name: first[name] for name in projection.choices if name in split_scores}
