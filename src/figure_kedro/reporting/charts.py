"""Pictures of a training and its evaluation."""

from collections.abc import Sequence

import numpy as np
import pandas as pd
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.metrics import confusion_matrix

from figure_kedro.errors import UserError
from figure_kedro.filters import mathtext
from figure_kedro.reporting.look import OKABE_ITO, plain, readable

NUMBERED_CLASSES = 20
"""Numbers in the cells of more classes could not be read."""

CURVE_POINTS = 2000
BLUE, ORANGE = OKABE_ITO[:2]


@readable
def confusion_matrix_figure(
    y_true: np.ndarray, y_pred: np.ndarray, classes: Sequence[str], title: str = "", part: str = "all nodes"
) -> Figure:
    """Draw which classes are taken for which.

    Colours are shares of the nodes of a true class, so that small classes can be read; numbers are counts, written into
    the cells of up to 20 classes. The row of a class without nodes is 0.

    Args:
        y_true: Classes ``(n,)`` as indices into ``classes``.
        y_pred: Predicted classes ``(n,)``.
        classes: Names of the classes.
        title: What was run.
        part: Whose nodes these are, say "test nodes of split 0".
    """
    labels = np.arange(len(classes))
    if not len(y_true) or not np.isin(y_true, labels).all() or not np.isin(y_pred, labels).all():
        raise UserError(
            f"a confusion matrix needs nodes with labels 0 to {len(classes) - 1}; leave unlabelled ones out"
        )
    counts = confusion_matrix(y_true, y_pred, labels=labels)
    shares = 100 * counts / np.maximum(counts.sum(axis=1, keepdims=True), 1)
    few = len(classes) <= NUMBERED_CLASSES
    side = min(9.0, 3.2 + 0.42 * len(classes))
    figure, axis = _figure((side + 1.2, side), title)
    image = axis.imshow(shares, cmap="Blues", vmin=0, vmax=100, interpolation="nearest")
    accuracy = np.trace(counts) / counts.sum()
    axis.set(title=f"{part}: {accuracy:.2%} of {counts.sum()} right", xlabel="predicted class", ylabel="true class")
    if few:
        names = plain(classes)
        turned = max(map(len, names)) > 6
        axis.set_xticks(labels, names, rotation=45 if turned else 0, ha="right" if turned else "center")
        axis.set_yticks(labels, names)
        for row, column in np.ndindex(counts.shape):
            colour = "white" if shares[row, column] > 55 else "black"
            axis.text(column, row, f"{counts[row, column]}", ha="center", va="center", color=colour, fontsize=10)
    axis.tick_params(length=0)
    figure.colorbar(image, ax=axis, shrink=0.8, label="% of the true class")
    return figure


@readable
def loss_figure(curve: pd.DataFrame, title: str = "") -> Figure:
    """Draw the training loss and mark its lowest value, whose weights are kept.

    Args:
        curve: ``epoch`` and ``loss``, a row an epoch. A long curve is thinned to about 2000 points, lowest included.
        title: What was run.
    """
    if not len(curve):
        return words_figure("nothing was trained", title)
    lowest = int(np.nanargmin(curve["loss"])) if curve["loss"].notna().any() else 0
    kept = np.unique(np.linspace(0, len(curve) - 1, min(len(curve), CURVE_POINTS)).round().astype(int))
    drawn, best = curve.iloc[np.union1d(kept, [lowest])], curve.iloc[lowest]
    figure, axis = _figure((6.0, 3.6), title)
    axis.plot(drawn["epoch"], drawn["loss"], color=BLUE, linewidth=1.6)
    label = f"lowest: {best['loss']:.4f} at epoch {best['epoch']:.0f}"
    axis.plot([best["epoch"]], [best["loss"]], "o", color=ORANGE, markeredgecolor="black", label=label)
    axis.set(xlabel="epoch", ylabel="training loss")
    axis.legend(frameon=False)
    return figure


@readable
def alpha_figure(alphas: pd.DataFrame, title: str = "") -> Figure:
    """Draw how much each filter weighs: bars are means over splits, whiskers standard deviations, points the splits.

    Args:
        alphas: A row for each split and filter: ``split``, ``filter``, ``alpha``.
        title: What was run.
    """
    if not len(alphas):
        return words_figure("there are no coefficients", title)
    groups = alphas.groupby("filter", sort=False)["alpha"]
    mean, std = groups.mean(), groups.std(ddof=1).fillna(0.0)
    places = {name: i for i, name in enumerate(mean.index)}
    figure, axis = _figure((max(4.5, 2.0 + 0.55 * len(mean)), 3.6), title)
    axis.bar(range(len(mean)), mean, yerr=std, color="#56B4E9", ecolor="0.25", capsize=4, label="mean over splits")
    spread = np.linspace(-0.25, 0.25, alphas["split"].nunique()) if alphas["split"].nunique() > 1 else np.zeros(1)
    beside = dict(zip(alphas["split"].unique(), spread, strict=True))
    across = alphas["filter"].map(places) + alphas["split"].map(beside)
    axis.plot(across, alphas["alpha"], ".", color="black", alpha=0.6, markersize=4, label="a split")
    axis.axhline(0, color="0.6", linewidth=0.8, zorder=0)
    axis.set_xticks(range(len(mean)), [mathtext(str(name)) for name in mean.index])
    axis.set(xlabel="filter", ylabel=r"coefficient $\alpha$")
    axis.legend(frameon=False, loc="best")
    return figure


def words_figure(words: str, title: str = "") -> Figure:
    """A picture that says why there is none."""
    figure, axis = _figure((5.0, 1.6), title)
    axis.axis("off")
    axis.text(0.5, 0.5, words, ha="center", va="center")
    return figure


def _figure(size: tuple[float, float], title: str) -> tuple[Figure, Axes]:
    figure = Figure(figsize=size, layout="constrained")
    if title:
        figure.suptitle(title)
    axis = figure.subplots()
    axis.spines[["top", "right"]].set_visible(False)
    return figure, axis
