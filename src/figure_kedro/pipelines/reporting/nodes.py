"""From results to charts and pictures; a graph without labels has charts that say so."""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from matplotlib.figure import Figure

from figure_kedro.embeddings import Embeddings
from figure_kedro.filters import BANKS, BankSettings
from figure_kedro.graph import Targets
from figure_kedro.graph.splits import TEST
from figure_kedro.projections import Projection
from figure_kedro.reporting.charts import alpha_figure, confusion_matrix_figure, loss_figure
from figure_kedro.reporting.filter_responses import plot_filter_responses
from figure_kedro.reporting.pictures import correlation_figure, tsne_figure


def draw_filter_responses(filters: BankSettings) -> Figure:
    """Draw the responses of this run's filters over the spectrum."""
    return plot_filter_responses(BANKS.build(filters))


def draw_charts(
    targets: Targets, loss_curve: pd.DataFrame, split_alphas: pd.DataFrame, predictions: pd.DataFrame
) -> tuple[go.Figure, go.Figure, go.Figure]:
    """Draw the loss curve, the coefficients, and the confusion matrix of the first split's test part."""
    if predictions.empty or targets.splits is None:
        nothing = go.Figure(layout={"title": "No labels, nothing to evaluate"})
        return loss_figure(loss_curve), nothing, nothing
    number = {name: i for i, name in enumerate(targets.classes)}
    test = targets.splits[0][targets.used] == TEST
    true, predicted = (predictions.loc[test, name].astype(str).map(number).to_numpy() for name in ("label", "split_0"))
    alphas = alpha_figure(split_alphas) if len(split_alphas) else go.Figure(layout={"title": "No coefficients"})
    return (
        loss_figure(loss_curve),
        alphas,
        confusion_matrix_figure(true, predicted, targets.classes, "Test nodes of split 0"),
    )


def draw_embeddings(
    embeddings: Embeddings, projection: Projection, targets: Targets, split_scores: pd.DataFrame
) -> tuple[Figure, Figure]:
    """Draw t-SNE and correlations of one filter's embedding, before and after the map that was evaluated.

    The filter is the third of the bank, :math:`A^2` in the paper's, or the last of a smaller bank. What is chosen of
    the map on validation is that of the first split.
    """
    name = embeddings.names[min(2, len(embeddings) - 1)]
    view = embeddings[name]
    panels = {f"{embeddings.width} dimensions, {name}": view}
    if projection.settings.map != "identity":
        panels[f"after {projection.settings.map} features"] = projection.transform(
            view, **_chosen(projection, split_scores)
        )
    labels = np.full(len(embeddings.ids), -1) if targets.labels is None else np.asarray(targets.labels)
    seed = getattr(projection.settings, "seed", 0)
    tsne = tsne_figure(panels, labels, seed, targets.classes)
    return tsne, correlation_figure(panels, labels, seed, targets.classes)


def _chosen(projection: Projection, split_scores: pd.DataFrame) -> dict[str, Any]:
    if split_scores.empty:
        return {}
    first = split_scores.iloc[0]
    return {name: first[name] for name in projection.choices if name in split_scores}
