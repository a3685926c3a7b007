"""Plain logistic regression on the best single filter: what the embeddings are worth before any combination."""

import numpy as np
import pandas as pd
import torch
from sklearn.linear_model import LogisticRegression

from benchmarks.graphs import ROOT, SMALL, load_local
from benchmarks.report import Rows, console
from benchmarks.settings import Settings
from figure_kedro.config import ProjectConfigLoader
from figure_kedro.errors import UserError
from figure_kedro.estimator import FiGURe
from figure_kedro.features import structural_features
from figure_kedro.graph import Graph
from figure_kedro.graph.splits import TEST, TRAIN, VAL

NOTE = """
FiGURe at 512 dimensions with the settings of `conf/base/datasets`, then scikit-learn's logistic regression on the
embedding under one filter. The filter and the penalty (C from 0.01 to 100) are chosen on validation for each split; the
test accuracy is read once after that. One run on one thread, whatever the head of this page says of timings.

- test, std: percent, over the splits; at least: the target.
- filter: chosen most often.
"""

DATASETS = {"cora": 85.0, "citeseer": 72.0, "chameleon": 65.0, "squirrel": 45.0}
PENALTIES = (0.01, 0.1, 1.0, 10.0, 100.0)


def run(settings: Settings) -> pd.DataFrame:
    """Train on each data set and score the best single filter."""
    torch.set_num_threads(1)
    rows = Rows()
    for name, target in {"csbm": None}.items() if settings.small else DATASETS.items():
        loader = ProjectConfigLoader(
            str(ROOT / "conf"), runtime_params={"dataset": name}, base_env="base", default_run_env="base"
        )
        parameters = loader.parameters
        try:
            graph = load_local(SMALL if settings.small else parameters.source, name)
        except UserError:
            console.print(f"  left out: the files of {name} are not here (set FIGURE_RAW_MIRROR)", style="yellow")
            continue
        graph = structural_features(graph, parameters.features)
        training = parameters.representation.training.model_copy(update={"threads": 1})
        representation = parameters.representation.model_copy(update={"training": training})
        figure = FiGURe(dim=512, filters=parameters.filters, settings=representation, progress=False).fit(graph)
        scores, filters = best_single_filter(figure.transform(graph), graph)
        row = {"graph": name, "epochs": figure.record_.epochs, "test": 100 * np.mean(scores)}
        row |= {"std": 100 * np.std(scores, ddof=1) if len(scores) > 1 else 0.0, "at least": target}
        rows.add(row | {"filter": max(set(filters), key=filters.count), "splits": len(scores)})
    return rows.frame()


def best_single_filter(views: dict[str, np.ndarray], graph: Graph) -> tuple[list[float], list[str]]:
    """Test accuracy and chosen filter of every split."""
    scores, filters = [], []
    scaled = {name: view / view.std() for name, view in views.items()}
    labels = graph.targets.labels
    for codes in graph.targets.splits:
        train, val, test = (codes == part for part in (TRAIN, VAL, TEST))
        tried = []
        for name, view in scaled.items():
            for penalty in PENALTIES:
                model = LogisticRegression(C=penalty, max_iter=200).fit(view[train], labels[train])
                tried.append((model.score(view[val], labels[val]), name, model))
        _, name, model = max(tried, key=lambda trial: trial[0])
        scores.append(model.score(scaled[name][test], labels[test]))
        filters.append(name)
    return scores, filters
