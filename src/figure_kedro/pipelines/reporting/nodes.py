"""From scores to the tables, pictures and the summary of a run.

A graph without labels has no scores: its tables are empty, its charts say so, and its summary has no numbers.
"""

from typing import Any

import numpy as np
import pandas as pd
import plotly.graph_objects as go
import scipy.sparse as sp
from matplotlib.figure import Figure

from figure_kedro.estimator import Representation, State
from figure_kedro.evaluation.settings import EvaluationSettings
from figure_kedro.filters.settings import FilterSettings
from figure_kedro.graph import Graph
from figure_kedro.graph.splits import TEST
from figure_kedro.projections import ProjectionSettings, fit_projection
from figure_kedro.reporting.charts import alpha_figure, confusion_matrix_figure, loss_figure
from figure_kedro.reporting.markdown import to_markdown
from figure_kedro.reporting.paper import paper_projection, paper_variant
from figure_kedro.reporting.pictures import correlation_figure, tsne_figure
from figure_kedro.reporting.results import alpha_table, representation_storage_mb, results_table, timing_table
from figure_kedro.reporting.summary import run_summary

TSNE_NODES = 1000
"""Enough to see the classes, and a few seconds a panel."""


def tabulate_results(
    graph: Graph,
    encoder: State,
    timing: dict[str, float],
    split_scores: pd.DataFrame,
    split_alphas: pd.DataFrame,
    evaluation: EvaluationSettings,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, str]:
    """Make the paper's tables of this run.

    Returns:
        Scores per split and their mean, the coefficients of the filters, times and storage, and all three as Markdown.
    """
    run = _what_was_run(graph, encoder, timing, split_scores, evaluation)
    times = timing_table(run["timing"], run["storage_mb"], method=run["method"], dim=run["dimension"])
    if split_scores.empty:
        empty = pd.DataFrame({"split": []})
        return empty, empty, times, to_markdown(times)
    scores = results_table(split_scores)
    alphas = alpha_table(split_alphas, split_scores) if len(split_alphas) else pd.DataFrame({"split": []})
    titles = {"Scores": scores, "Coefficients of the filters": alphas, "Time and storage": times}
    text = "\n\n".join(f"## {title}\n\n{to_markdown(table)}" for title, table in titles.items())
    return scores, alphas, times, f"# {graph.name}\n\n{text}\n"


def draw_charts(
    graph: Graph, loss_curve: pd.DataFrame, split_alphas: pd.DataFrame, predictions: pd.DataFrame
) -> tuple[go.Figure, go.Figure, go.Figure]:
    """Draw the loss curve, the coefficients, and the confusion matrix of the first split's test part."""
    if predictions.empty:
        nothing = go.Figure(layout={"title": "No labels, nothing to evaluate"})
        return loss_figure(loss_curve), nothing, nothing
    number = {name: i for i, name in enumerate(graph.classes)}
    row = pd.Series(np.arange(graph.num_nodes), index=pd.Index(graph.ids))
    test = graph.splits[0][row[predictions["id"]].to_numpy()] == TEST
    true, predicted = (predictions.loc[test, name].astype(str).map(number).to_numpy() for name in ("label", "split_0"))
    alphas = alpha_figure(split_alphas) if len(split_alphas) else go.Figure(layout={"title": "No coefficients"})
    return loss_figure(loss_curve), alphas, confusion_matrix_figure(true, predicted, graph.classes)


def draw_embeddings(
    graph: Graph, normalised_adjacency: sp.csr_array, encoder: State, projection: ProjectionSettings
) -> tuple[Figure, Figure]:
    """Draw t-SNE and correlations of one filter's embedding, before and after the random feature map.

    The filter is the third of the bank, :math:`A^2` in the paper's, or the last of a smaller bank.
    """
    method = Representation.from_state(*encoder)
    index = min(2, len(method.view_names) - 1)
    name, view = list(method.views(graph, normalised_adjacency))[index]
    panels = {f"{method.settings.method} {view.shape[1]}, {name}": view}
    if projection.map != "identity":
        panels[f"after {projection.map} features"] = fit_projection(projection, [view]).transform(view)
    labels = np.full(graph.num_nodes, -1) if graph.labels is None else np.asarray(graph.labels)
    seed = projection.seed
    tsne = tsne_figure(panels, labels, seed, graph.classes, most=TSNE_NODES)
    return tsne, correlation_figure(panels, labels, seed, graph.classes)


def summarise_run(
    graph: Graph,
    encoder: State,
    timing: dict[str, float],
    split_scores: pd.DataFrame,
    parameters: dict[str, Any],
    filters: FilterSettings,
    projection: ProjectionSettings,
    evaluation: EvaluationSettings,
) -> dict[str, Any]:
    """Gather what was run and what it reached, for people and programs."""
    settings = {name: _plain(value) for name, value in parameters.items()}
    encoder_settings = Representation.from_state(*encoder).settings.encoder
    return run_summary(
        dataset=graph.name,
        **_what_was_run(graph, encoder, timing, split_scores, evaluation),
        projection=paper_projection(projection.map, projection.kernel, projection.degree),
        splits=split_scores,
        settings=settings,
        data_checksum=graph.checksum(),
        variant=paper_variant(bank=filters.bank, size=filters.size, **encoder_settings.model_dump()),
    )


def _what_was_run(
    graph: Graph,
    encoder: State,
    timing: dict[str, float],
    split_scores: pd.DataFrame,
    evaluation: EvaluationSettings,
) -> dict[str, Any]:
    """Method, dimension, times and storage: of the embeddings, or of a supervised network, which stores none."""
    method = Representation.from_state(*encoder)
    if evaluation.supervised == "none":
        storage = representation_storage_mb(graph.num_nodes, method.width, len(method.view_names))
        return {
            "method": method.settings.method,
            "dimension": method.width,
            "timing": timing,
            "storage_mb": storage,
        }
    measured = {}
    if not split_scores.empty:
        epochs, seconds = split_scores["epochs"], split_scores["epoch_seconds"]
        measured = {
            "epochs": int(epochs.mean().round()),
            "mean_epoch_seconds": float(seconds.mean()),
            "total_seconds": float((epochs * seconds).sum()),
        }
    hidden = int(split_scores["hidden"].max()) if "hidden" in split_scores else 0
    return {"method": evaluation.supervised, "dimension": hidden, "timing": measured, "storage_mb": 0.0}


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if hasattr(value, "model_dump") else value
