"""A search of the linear head beside scikit-learn's logistic regression."""

from functools import partial

import numpy as np
import pandas as pd
from sklearn.linear_model import LogisticRegression

from benchmarks.graphs import published_graphs
from benchmarks.measure import side_by_side, use_threads
from benchmarks.report import Rows
from benchmarks.settings import Settings
from figure_kedro.estimator import FiGURe
from figure_kedro.evaluation import HEADS, score
from figure_kedro.evaluation.heads.linear import FEW_DECAYS
from figure_kedro.evaluation.selection import evaluate_split
from figure_kedro.evaluation.views import Views
from figure_kedro.filters import BANKS
from figure_kedro.graph import Graph
from figure_kedro.graph.splits import TRAIN, VAL
from figure_kedro.methods.method import METHODS
from figure_kedro.projections import MAPS, Projection

NOTE = """
30 settings on the first split of each graph: five sets of the filters `I, A, A^2, A^3` (all, all but the first, and
each but the first alone), each with six weight decays. The views are FiGURe's at 512 dimensions after 20 epochs.

FiGURe is `evaluate_split` with 30 trials: coefficients move, what is hopeless on validation is given up, and the test
part is predicted. scikit-learn is `LogisticRegression` (lbfgs, at most 200 iterations, its own tolerance) on the plain
sum of the same filters with the same penalties, each scored on validation: it has no coefficients to learn, so its
problem is the smaller one, and it gives nothing up early; whether it reached its minimum in 200 iterations is not
looked at. So this compares two searches, not two solvers of one problem.
Both run in turn in one process (ours, peer, ours, peer, ...).

Columns:

- seconds, spread: of FiGURe's search, the median, and the slowest minus the fastest; then the same of the peer.
- times the peer's speed: the peer's median over FiGURe's; above 1, FiGURe is faster.
- validation, peer's validation: the best score there, in percent.
"""

GRAPHS = ("cora", "chameleon", "minesweeper")


def run(settings: Settings) -> pd.DataFrame:
    """Search on every graph."""
    rows = Rows()
    for graph in published_graphs(GRAPHS, settings.small):
        views = _views(graph, 8 if settings.small else 512)
        for threads in settings.threads:
            found: dict[str, float] = {}
            searches = {"ours": partial(_ours, graph, views, found), "peer": partial(_peer, graph, views, found)}
            with use_threads(threads):
                times = side_by_side(searches, settings.repeat)
            ours, theirs = times["ours"], times["peer"]
            row = {"graph": graph.name, "peer": "scikit-learn", "threads": threads}
            row |= {"seconds": ours.median, "spread": ours.spread}
            row |= {"peer's seconds": theirs.median, "peer's spread": theirs.spread}
            row |= {"times the peer's speed": theirs.median / ours.median}
            rows.add(row | {"validation": 100 * found["ours"], "peer's validation": 100 * found["peer"]})
    return rows.frame()


def _views(graph: Graph, dim: int) -> list[np.ndarray]:
    bank, settings = BANKS.parse({"bank": "monomial", "size": 4}), METHODS.parse({"training": {"max_epochs": 20}})
    figure = FiGURe(dim=dim, filters=bank, settings=settings, progress=False).fit(graph)
    return list(figure.transform(graph).values())


def _ours(graph: Graph, views: list[np.ndarray], found: dict[str, float]) -> None:
    targets = graph.targets
    head = HEADS.build(HEADS.parse({"head": "linear", "trials": 30}))
    inputs = Views(views, Projection.fit(MAPS.parse({"map": "identity", "scale": "none"}), views))
    result = evaluate_split(head, inputs, targets.labels, targets.splits[0], (targets.metric,))
    found["ours"] = result.scores[f"val_{targets.metric}"]


def _peer(graph: Graph, views: list[np.ndarray], found: dict[str, float]) -> None:
    targets = graph.targets
    train, val = (targets.splits[0] == part for part in (TRAIN, VAL))
    labels = np.asarray(targets.labels)
    columns = 2 if targets.num_classes == 2 else 1  # two softmax columns share the penalty of sklearn's single one
    scores = []
    for kept in ([0, 1, 2, 3], [1, 2, 3], [1], [2], [3]):
        combined = 0.1 * np.sum([views[i] for i in kept], axis=0)
        variance = combined[train].var(axis=0).mean()
        for decay in FEW_DECAYS:
            model = LogisticRegression(C=columns / (train.sum() * decay * variance), max_iter=200)
            model.fit(combined[train], labels[train])
            scores.append(score(targets.metric, labels[val], model.predict_proba(combined[val]), model.classes_))
    found["peer"] = max(scores)
