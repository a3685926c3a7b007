"""Pictures of embeddings, with and without random features side by side."""

from collections.abc import Mapping, Sequence
from typing import Literal

import numpy as np
from matplotlib.axes import Axes
from matplotlib.figure import Figure
from sklearn.decomposition import PCA
from sklearn.manifold import TSNE
from sklearn.metrics.pairwise import cosine_similarity
from threadpoolctl import threadpool_limits

from figure_kedro.errors import UserError
from figure_kedro.reporting.look import GREY, classes_apart, plain, readable

TSNE_NODES = 1000
TSNE_COMPONENTS = 50
CORRELATION_NODES = 500
NARROWEST = 0.05  # scale of correlations that are all alike
NAMED_CLASSES = 20  # names and lines of more would lie on each other
Panels = Mapping[str, np.ndarray]


@readable
def tsne_figure(
    panels: Panels,
    labels: np.ndarray,
    seed: int,
    classes: Sequence[str] | None = None,
    title: str = "",
    most: int = TSNE_NODES,
) -> Figure:
    """Draw embeddings by t-SNE, a panel for each representation, as the FiGURe paper does for cora.

    All panels show the same nodes in the colours of their classes, with other shapes too if there are more than eight;
    nodes without a label are grey. As is usual, t-SNE sees the first 50 principal components of the embeddings, not all
    columns.

    Args:
        panels: Title and embeddings ``(n, d)`` of each representation; ``d`` may differ.
        labels: Class of each node ``(n,)``, -1 where it is unknown.
        seed: Of the sample and of t-SNE.
        classes: Names of the classes; their numbers if left out.
        title: What was run.
        most: How many nodes are drawn at the most; 1000 take about two seconds a panel.
    """
    nodes = _sample(panels, labels, most, seed)
    shown, order = labels[nodes], np.unique(labels)
    names, styles = _names(order, classes), _styles(order)
    figure, panels = _figure((4.6 * len(panels) + 1.6, 4.8), "constrained", title, panels)
    for axis, (view, embeddings) in zip(_axes(figure, len(panels)), panels.items(), strict=True):
        points = _tsne(np.asarray(embeddings)[nodes], seed)
        for label, name, (colour, marker) in zip(order, names, styles, strict=True):
            mine = points[shown == label]
            axis.scatter(mine[:, 0], mine[:, 1], s=12, color=colour, marker=marker, linewidths=0, alpha=0.8, label=name)
        axis.set(title=view, xticks=[], yticks=[])
    handles, texts = figure.axes[0].get_legend_handles_labels()
    columns = 1 + (len(texts) - 1) // 20
    style = {"markerscale": 2.0, "frameon": False}
    figure.legend(handles, texts, title="class", loc="outside right center", ncols=columns, **style)
    return figure


@readable
def correlation_figure(
    panels: Panels, labels: np.ndarray, seed: int, classes: Sequence[str] | None = None, title: str = ""
) -> Figure:
    r"""Draw the normalised correlations between nodes, a panel for each representation, as the FiGURe paper does for
    squirrel: classes that a linear classifier can part are blocks on the diagonal.

    .. math:: C_{uv} = \frac{e_u \cdot e_v}{\lVert e_u \rVert \, \lVert e_v \rVert}

    with :math:`e_u` the embedding of node :math:`u`. For Fourier features this is close to the kernel of the two
    nodes. A node whose embedding is zero correlates with none, itself included.

    All panels show the same nodes, at most 500, sorted by class; nodes without a label come last. Thin lines part up
    to 20 classes. All panels share one scale of colours that spans what they show: red above 0 and blue below, or from
    dark to light if next to no correlation is negative.

    Args:
        panels: Title and embeddings ``(n, d)`` of each representation; ``d`` may differ.
        labels: Class of each node ``(n,)``, -1 where it is unknown.
        seed: Of the sample.
        classes: Names of the classes; their numbers if left out.
        title: What was run.
    """
    nodes = _sample(panels, labels, CORRELATION_NODES, seed)
    last = labels.max() + 1
    keys = np.where(labels < 0, last, labels)[nodes]
    nodes, keys = nodes[np.argsort(keys, kind="stable")], np.sort(keys)
    present, counts = np.unique(keys, return_counts=True)
    ends = counts.cumsum()
    named = len(present) <= NAMED_CLASSES
    figure, panels = _figure((4.6 * len(panels) + 1.2, 5.0), "compressed", title, panels)  # constrained cuts names off
    axes = _axes(figure, len(panels))
    correlations = [cosine_similarity(np.asarray(embeddings)[nodes]) for embeddings in panels.values()]  # (m, m) each
    colours, low, high = _scale(correlations)
    for axis, view, correlation in zip(axes, panels, correlations, strict=True):
        image = axis.imshow(correlation, cmap=colours, vmin=low, vmax=high, interpolation="nearest")
        for end in ends[:-1] if named else []:
            axis.axhline(end - 0.5, color="black", linewidth=0.4)
            axis.axvline(end - 0.5, color="black", linewidth=0.4)
        axis.set(title=view, xticks=[], yticks=[])
    if named:
        names = _names(np.where(present == last, -1, present), classes)
        axes[0].set_yticks(ends - counts / 2 - 0.5, names)
        axes[0].tick_params(length=0)
    figure.colorbar(image, ax=axes, shrink=0.8, extend="both", label="normalised correlation")
    return figure


def sample_nodes(count: int, most: int, seed: int) -> np.ndarray:
    """Numbers of at most ``most`` of ``count`` nodes, ascending."""
    return np.sort(np.random.default_rng(seed).permutation(count)[:most])


def _sample(panels: Panels, labels: np.ndarray, most: int, seed: int) -> np.ndarray:
    if not panels or len(labels) < 2:
        raise UserError("a picture of embeddings needs a representation and two nodes or more")
    for title, embeddings in panels.items():
        if len(embeddings) != len(labels):
            raise UserError(f"the embeddings {title!r} have {len(embeddings)} rows for {len(labels)} labels")
    nodes = sample_nodes(len(labels), most, seed)
    for title, embeddings in panels.items():
        bad = ~np.isfinite(np.asarray(embeddings)[nodes]).all(axis=1)
        if bad.any():
            raise UserError(f"the embeddings {title!r} of row {nodes[bad][0]} are not finite; lower the learning rate")
    return nodes


def _tsne(embeddings: np.ndarray, seed: int) -> np.ndarray:
    """Lay nodes out in the plane.

    350 steps with the weaker exaggeration of the first t-SNE paper, and a learning rate for the steps after it, take a
    third of the time of scikit-learn's defaults, 1000 steps. Measured on 1000 nodes of seven and ten classes, as many
    neighbours stay neighbours and as many nodes lie among their class, within two in a hundred; gaps are narrower.
    """
    rows = np.asarray(embeddings, dtype=np.float32)
    nodes = len(rows)
    # principal components divide by their spread, and the start needs two of them
    spread = min(rows.shape) > 1 and bool(np.ptp(rows, axis=0).any())
    if spread and min(rows.shape) > TSNE_COMPONENTS:
        rows = PCA(TSNE_COMPONENTS, random_state=seed).fit_transform(rows)
    tsne = TSNE(
        perplexity=max(1.0, min(30.0, (nodes - 1) / 3)),
        early_exaggeration=4.0,
        learning_rate=max(50.0, nodes / 4),
        max_iter=350,
        init="pca" if spread else "random",
        random_state=seed,
        angle=0.8,
    )
    with threadpool_limits(1):  # its threads wait for each other at every step: on a busy machine ten times slower
        return tsne.fit_transform(rows)


def _scale(correlations: Sequence[np.ndarray]) -> tuple[str, float, float]:
    """Colours and limits that leave out at most one in a hundred pairs of different nodes at either end."""
    others = ~np.eye(len(correlations[0]), dtype=bool)
    values = np.concatenate([correlation[others] for correlation in correlations])
    low, high = np.quantile(values, (0.01, 0.99)).round(6).clip(-1, 1)  # a cosine may be off by a rounding error
    steps = 10 if high - low > 0.3 else 50 if high - low > 0.1 else 100  # to a unit, so that the ends are round
    low, high = float(np.floor(steps * low) / steps), float(np.ceil(steps * high) / steps)
    if low >= 0:
        low = min(low, 1 - NARROWEST)
        return "viridis", low, max(high, low + NARROWEST)
    limit = max(-low, high)
    return "RdBu_r", -limit, limit


def _figure(
    size: tuple[float, float], layout: Literal["constrained", "compressed"], title: str, panels: Panels
) -> tuple[Figure, Panels]:
    """An empty figure and its panels by their titles: a single one has the figure's title above its own."""
    figure = Figure(figsize=size, layout=layout)
    if title and len(panels) == 1:
        return figure, {f"{title}\n{view}": embeddings for view, embeddings in panels.items()}
    if title:
        figure.suptitle(title)
    return figure, panels


def _axes(figure: Figure, count: int) -> list[Axes]:
    return list(figure.subplots(1, count, squeeze=False)[0])


def _names(order: np.ndarray, classes: Sequence[str] | None) -> list[str]:
    return plain(["no label" if c < 0 else c if classes is None else classes[c] for c in order])


def _styles(order: np.ndarray) -> list[tuple[str, str]]:
    known = int((order >= 0).sum())
    return [(GREY, "o")] * (len(order) - known) + list(classes_apart(known))
