"""Pictures of embeddings, with and without random features side by side."""

from collections.abc import Mapping, Sequence

import matplotlib
import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.manifold import TSNE
from threadpoolctl import threadpool_limits

from figure_kedro.errors import UserError

TSNE_NODES = 2000
CORRELATION_NODES = 500
NAMED_CLASSES = 20  # names and lines of more would lie on each other
Panels = Mapping[str, np.ndarray]


def tsne_figure(
    panels: Panels, labels: np.ndarray, seed: int, classes: Sequence[str] | None = None, most: int = TSNE_NODES
) -> Figure:
    """Draw embeddings by t-SNE, a panel for each representation, as the FiGURe paper does for cora.

    All panels show the same nodes in the colours of their classes; nodes without a label are grey.

    Args:
        panels: Title and embeddings ``(n, d)`` of each representation; ``d`` may differ.
        labels: Class of each node ``(n,)``, -1 where it is unknown.
        seed: Of the sample and of t-SNE.
        classes: Names of the classes; their numbers if left out.
        most: How many nodes are drawn at the most; 2000 take about ten seconds a panel.
    """
    nodes = _sample(panels, labels, most, seed)
    shown, order = labels[nodes], np.unique(labels)
    names, colours = _names(order, classes), _colours(order)
    figure = Figure(figsize=(4.6 * len(panels) + 1.6, 4.6), layout="constrained")
    for axis, (title, embeddings) in zip(_axes(figure, len(panels)), panels.items(), strict=True):
        points = _tsne(np.asarray(embeddings)[nodes], seed)
        for label, name, colour in zip(order, names, colours, strict=True):
            mine = points[shown == label]
            axis.scatter(mine[:, 0], mine[:, 1], s=7, color=colour, linewidths=0, alpha=0.8, label=name)
        axis.set(title=title, xticks=[], yticks=[])
    handles, texts = figure.axes[0].get_legend_handles_labels()
    columns = 1 + (len(texts) - 1) // 20
    style = {"markerscale": 2.5, "frameon": False, "fontsize": 8}
    figure.legend(handles, texts, title="class", loc="outside right center", ncols=columns, **style)
    return figure


def correlation_figure(panels: Panels, labels: np.ndarray, seed: int, classes: Sequence[str] | None = None) -> Figure:
    """Draw the normalised correlations between nodes, a panel for each representation, as the FiGURe paper does for
    squirrel: classes that a linear classifier can part are blocks on the diagonal.

    All panels show the same nodes, at most 500, sorted by class; nodes without a label come last. Thin lines part up
    to 20 classes. See :func:`normalised_correlation` for what is drawn.

    Args:
        panels: Title and embeddings ``(n, d)`` of each representation; ``d`` may differ.
        labels: Class of each node ``(n,)``, -1 where it is unknown.
        seed: Of the sample.
        classes: Names of the classes; their numbers if left out.
    """
    nodes = _sample(panels, labels, CORRELATION_NODES, seed)
    last = labels.max() + 1
    keys = np.where(labels < 0, last, labels)[nodes]
    nodes, keys = nodes[np.argsort(keys, kind="stable")], np.sort(keys)
    present, counts = np.unique(keys, return_counts=True)
    ends = counts.cumsum()
    named = len(present) <= NAMED_CLASSES
    figure = Figure(figsize=(4.6 * len(panels) + 1.2, 4.8), layout="constrained")
    axes = _axes(figure, len(panels))
    for axis, (title, embeddings) in zip(axes, panels.items(), strict=True):
        correlation = normalised_correlation(np.asarray(embeddings)[nodes])
        image = axis.imshow(correlation, cmap="RdBu_r", vmin=-1, vmax=1, interpolation="nearest")
        for end in ends[:-1] if named else []:
            axis.axhline(end - 0.5, color="black", linewidth=0.4)
            axis.axvline(end - 0.5, color="black", linewidth=0.4)
        axis.set(title=title, xticks=[], yticks=[])
    if named:
        names = _names(np.where(present == last, -1, present), classes)
        axes[0].set_yticks(ends - counts / 2 - 0.5, names, fontsize=8)
        axes[0].tick_params(length=0)
    figure.colorbar(image, ax=axes, shrink=0.8, label="normalised correlation")
    return figure


def normalised_correlation(embeddings: np.ndarray) -> np.ndarray:
    r"""Correlate the embeddings of nodes with each other:

    .. math:: C_{uv} = \frac{e_u \cdot e_v}{\lVert e_u \rVert \, \lVert e_v \rVert}

    with :math:`e_u` the embedding of node :math:`u`. For Fourier features this is close to the kernel of the two
    nodes. A node whose embedding is zero correlates with none, itself included.

    Args:
        embeddings: ``(n, d)``.

    Returns:
        :math:`C`, ``(n, n)``, between -1 and 1.
    """
    rows = np.asarray(embeddings, dtype=np.float64)
    norms = np.linalg.norm(rows, axis=1, keepdims=True)
    rows = np.divide(rows, norms, out=np.zeros_like(rows), where=norms > 0)
    return np.clip(rows @ rows.T, -1.0, 1.0)


def _sample(panels: Panels, labels: np.ndarray, most: int, seed: int) -> np.ndarray:
    if not panels or len(labels) < 2:
        raise UserError("a picture of embeddings needs a representation and two nodes or more")
    for title, embeddings in panels.items():
        if len(embeddings) != len(labels):
            raise UserError(f"the embeddings {title!r} have {len(embeddings)} rows for {len(labels)} labels")
    nodes = np.random.default_rng(seed).permutation(len(labels))[:most]
    nodes.sort()
    for title, embeddings in panels.items():
        bad = ~np.isfinite(np.asarray(embeddings)[nodes]).all(axis=1)
        if bad.any():
            raise UserError(f"the embeddings {title!r} of row {nodes[bad][0]} are not finite; lower the learning rate")
    return nodes


def _tsne(embeddings: np.ndarray, seed: int) -> np.ndarray:
    rows = np.asarray(embeddings, dtype=np.float32)
    # the start by principal components divides by their spread and needs two of them
    start = "pca" if min(rows.shape) > 1 and np.ptp(rows, axis=0).any() else "random"
    perplexity = max(1.0, min(30.0, (len(rows) - 1) / 3))
    with threadpool_limits(1):  # its threads wait for each other a thousand times: on a busy machine ten times slower
        return TSNE(perplexity=perplexity, init=start, random_state=seed).fit_transform(rows)


def _axes(figure: Figure, count: int) -> list[Axes]:
    return list(figure.subplots(1, count, squeeze=False)[0])


def _names(order: np.ndarray, classes: Sequence[str] | None) -> list[str]:
    return ["no label" if c < 0 else str(c if classes is None else classes[c]) for c in order]


def _colours(order: np.ndarray) -> list[object]:
    known = int((order >= 0).sum())
    palette = matplotlib.colormaps["tab10" if known <= 10 else "tab20" if known <= 20 else "gist_rainbow"]
    spread = [palette(i) if known <= 20 else palette(i / known) for i in range(known)]
    return ["0.75"] * (len(order) - known) + spread
