"""Interactive figures of a training and its evaluation, for Kedro-Viz and MLflow."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
import plotly.graph_objects as go
from sklearn.metrics import confusion_matrix

from figure_kedro.errors import UserError

LAYOUT = {"template": "plotly_white", "margin": {"l": 60, "r": 20, "t": 50, "b": 50}}
ANNOTATED_CLASSES = 20
CURVE_POINTS = 2000


def confusion_matrix_figure(
    y_true: np.ndarray, y_pred: np.ndarray, classes: Sequence[str], title: str = "Confusion matrix"
) -> go.Figure:
    """Draw which classes are taken for which.

    Colours are shares of the nodes of a true class, so that small classes can be read; numbers are counts, written into
    the cells of up to 20 classes and shown on hovering. The row of a class without nodes is 0.

    Args:
        y_true: Classes ``(n,)`` as indices into ``classes``.
        y_pred: Predicted classes ``(n,)``.
        classes: Names of the classes.
        title: What is shown, say "Test nodes of split 0"; the share of nodes that are right follows it.
    """
    labels = np.arange(len(classes))
    if not len(y_true) or not np.isin(y_true, labels).all() or not np.isin(y_pred, labels).all():
        raise UserError(
            f"a confusion matrix needs nodes with labels 0 to {len(classes) - 1}; leave unlabelled ones out"
        )
    counts = confusion_matrix(y_true, y_pred, labels=labels)
    shares = counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    names = [str(name) for name in classes]
    heatmap = go.Heatmap(
        z=shares.tolist(),
        x=names,
        y=names,
        text=counts.tolist(),
        texttemplate="%{text}" if len(names) <= ANNOTATED_CLASSES else None,
        hovertemplate="true %{y}, predicted %{x}: %{text} nodes, %{z:.1%} of the class<extra></extra>",
        colorscale="Blues",
        zmin=0,
        zmax=1,
        colorbar={"title": "share", "tickformat": ".0%"},
    )
    accuracy = np.trace(counts) / counts.sum()
    figure = go.Figure(heatmap, {**LAYOUT, "title": f"{title}, {accuracy:.2%} of {counts.sum()} nodes right"})
    # names of classes may be digits, which an automatic axis would take for numbers
    figure.update_xaxes(title="predicted class", type="category")
    figure.update_yaxes(title="true class", type="category", autorange="reversed")
    return figure


def loss_figure(curve: pd.DataFrame) -> go.Figure:
    """Draw the training loss and mark its lowest value, whose weights are kept.

    Args:
        curve: ``epoch`` and ``loss``, a row an epoch. A long curve is thinned to about 2000 points, lowest included.
    """
    if not len(curve):
        return go.Figure(layout={**LAYOUT, "title": "No training"})
    lowest = int(np.nanargmin(curve["loss"])) if curve["loss"].notna().any() else 0
    kept = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), CURVE_POINTS)).round().astype(int))
    drawn, best = curve.iloc[np.union1d(kept, [lowest])], curve.iloc[lowest]
    line = go.Scatter(x=drawn["epoch"].tolist(), y=drawn["loss"].tolist(), mode="lines", name="loss")
    label = f"lowest: {best['loss']:.4f} at epoch {best['epoch']:.0f}"
    mark = go.Scatter(x=[int(best["epoch"])], y=[float(best["loss"])], mode="markers", name=label, marker={"size": 9})
    figure = go.Figure([line, mark], {**LAYOUT, "title": "Training loss"})
    figure.update_xaxes(title="epoch")
    figure.update_yaxes(title="loss")
    return figure


def alpha_figure(alphas: pd.DataFrame) -> go.Figure:
    """Draw how much each filter weighs: bars are means over splits, whiskers standard deviations, points the splits.

    Args:
        alphas: A row for each split and filter: ``split``, ``filter``, ``alpha``.
    """
    groups = alphas.groupby("filter", sort=False)["alpha"]
    mean, std = groups.mean(), groups.std(ddof=1).fillna(0.0)
    names = [str(name) for name in mean.index]
    bars = go.Bar(x=names, y=mean.tolist(), error_y={"type": "data", "array": std.tolist()}, name="mean over splits")
    points = go.Scatter(
        x=alphas["filter"].astype(str).tolist(),
        y=alphas["alpha"].tolist(),
        mode="markers",
        name="split",
        marker={"color": "rgba(40, 40, 40, 0.5)", "size": 6},
        text=[f"split {split}" for split in alphas["split"]],
    )
    figure = go.Figure([bars, points], {**LAYOUT, "title": "Coefficients of the filters"})
    figure.update_xaxes(title="filter", type="category", categoryorder="array", categoryarray=names)
    figure.update_yaxes(title="alpha")
    return figure
