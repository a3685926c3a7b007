"""From embeddings to scores on every split, and the record of the run."""

import logging
from datetime import UTC, datetime
from typing import Any

import numpy as np
import pandas as pd
from optuna.storages import BaseStorage

from figure_kedro.datasets.run_index import RunIndex
from figure_kedro.embeddings import Embeddings
from figure_kedro.estimator import Representation
from figure_kedro.evaluation import HEADS, Classifier, HeadSettings, NoClassifier, side_by_side
from figure_kedro.evaluation.final import fit_final
from figure_kedro.evaluation.metric import metrics_of
from figure_kedro.evaluation.predictions import NO_PREDICTIONS, Predictions
from figure_kedro.evaluation.selection import SplitResult
from figure_kedro.evaluation.split_progress import SplitProgress
from figure_kedro.evaluation.split_work import SplitWork
from figure_kedro.execution import executor
from figure_kedro.graph import Targets
from figure_kedro.parameters import Parameters
from figure_kedro.pipelines.tracking import log_metrics
from figure_kedro.progress import Bar
from figure_kedro.projections import Projection
from figure_kedro.reporting.markdown import to_markdown
from figure_kedro.reporting.paper import paper_projection, paper_variant
from figure_kedro.reporting.record import RunRecord
from figure_kedro.reporting.results import alpha_table, representation_storage_mb, results_table, timing_table
from figure_kedro.training.threads import threads
from figure_kedro.versions import commit_of_code

logger = logging.getLogger(__name__)


def evaluate_splits(
    embeddings: Embeddings,
    projection: Projection,
    targets: Targets,
    evaluation: HeadSettings,
    evaluation_journal: BaseStorage,
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame]:
    """Choose settings on validation and score the test part, for each split.

    Returns:
        One row per split with its scores and the chosen settings; one row per split and filter with its coefficient;
        one row per node in some split with its id and predicted class under each split. All three are empty for a
        graph without labels.
    """
    if targets.splits is None or targets.labels is None:
        logger.info("there are no labels: evaluation is left out")
        empty = pd.DataFrame({"split": []})
        return empty, empty, pd.DataFrame({"id": []})
    metrics = metrics_of(deciding_metric(evaluation, targets), targets.num_classes)
    with Bar("evaluation") as bar:
        work = SplitWork.of(embeddings, projection, targets, evaluation, metrics)
        shown = SplitProgress(bar, work.splits, work.fits)
        results = side_by_side.evaluate_splits(work, evaluation_journal, executor(), shown.on_trial, _log_split)
    used, labels = targets.used, work.labels
    scores = pd.DataFrame([{"split": i, **r.scores, **r.twins, **r.cost, **r.settings} for i, r in enumerate(results)])
    alphas = pd.DataFrame(
        [
            {"split": i, "filter": name, "alpha": value}
            for i, r in enumerate(results)
            for name, value in r.coefficients.items()
        ],
        columns=["split", "filter", "alpha"],
    )
    classes = np.array(targets.classes)
    predicted = {f"split_{i}": classes[r.predictions] for i, r in enumerate(results)}
    predictions = pd.DataFrame({"id": embeddings.ids[used], "label": classes[labels], **predicted})
    return scores, alphas, predictions


def fit_classifier(
    embeddings: Embeddings,
    projection: Projection,
    targets: Targets,
    split_scores: pd.DataFrame,
    parameters: dict[str, Any],
) -> tuple[Classifier | NoClassifier, Predictions]:
    """Fit the head once more with the settings of the split that did best on validation, and predict every node.

    Returns:
        The classifier, and what makes one row per node with its probabilities, unlabelled nodes included, when it is
        saved. A graph without labels has an empty table, and in place of a classifier what says so.
    """
    run = Parameters.model_validate(parameters)
    if targets.splits is None or targets.labels is None:
        reason = f"{run.dataset} has no labels or no splits, so that there is no classifier and no prediction"
        return NoClassifier(f"{reason}; name them in source.*, or ask for embeddings alone"), NO_PREDICTIONS
    with threads(run.evaluation.threads):
        metric = deciding_metric(run.evaluation, targets)
        return fit_final(embeddings, projection, targets, split_scores, run.evaluation, run.classifier, metric)


def record_run(
    encoder: Representation,
    targets: Targets,
    split_scores: pd.DataFrame,
    parameters: dict[str, Any],
    run_index: RunIndex,
) -> RunRecord:
    """Gather what was run, what it reached and where its files are, for people and programs."""
    run = Parameters.model_validate(parameters)
    settings = run.model_dump(mode="json")
    network = HEADS.part(run.evaluation).reads == "graph"
    variant = {name: settings["filters"][name] for name in ("bank", "size")} | settings["representation"].get(
        "encoder", {}
    )
    projection = {name: value for name, value in settings["projection"].items() if name in ("kernel", "degree")}
    storage = representation_storage_mb(encoder.num_nodes_, encoder.width, len(encoder.view_names))
    return RunRecord.of_run(
        dataset=run.dataset,
        method=run.evaluation.head if network else run.representation.method,
        head=run.evaluation.head,
        dimension=_hidden_width(split_scores) if network else encoder.width,
        projection=paper_projection(run.projection.map, **projection),
        variant=paper_variant(**variant),
        metric=deciding_metric(run.evaluation, targets),
        splits=split_scores,
        timing=_network_timing(split_scores) if network else encoder.record_.timing(),
        storage_mb=0.0 if network else storage,
        settings=settings,
        artefacts=run_index.promised(),
        key=run.key("evaluation"),
        versions=run.versions("evaluation"),
        commit=commit_of_code(),
        date=datetime.now(UTC).date().isoformat(),
        data_checksum=encoder.checksum_,
        targets_checksum=targets.checksum,
    )


def tabulate_results(
    summary: RunRecord, split_scores: pd.DataFrame, split_alphas: pd.DataFrame
) -> tuple[pd.DataFrame, pd.DataFrame, pd.DataFrame, str]:
    """Make the paper's tables of this run.

    Returns:
        Scores per split and their mean, the coefficients of the filters, times and storage, and all three as Markdown.
    """
    times = timing_table(summary.model_dump(), summary.storage_mb, method=summary.method, dim=summary.dimension)
    if split_scores.empty:
        empty = pd.DataFrame({"split": []})
        return empty, empty, times, to_markdown(times)
    scores = results_table(split_scores, split_alphas["filter"].unique() if len(split_alphas) else ())
    alphas = pd.DataFrame({"split": []})
    if len(split_alphas):
        alphas = alpha_table(split_alphas, split_scores, summary.metric)
    titles = {"Scores": scores, "Coefficients of the filters": alphas, "Time and storage": times}
    text = "\n\n".join(f"## {title}\n\n{to_markdown(table, decimals=2)}" for title, table in titles.items())
    return scores, alphas, times, f"# {summary.dataset}\n\n{text}\n"


def deciding_metric(evaluation: HeadSettings, targets: Targets) -> str:
    """The metric that the settings name, or the graph."""
    return targets.metric if evaluation.metric == "auto" else evaluation.metric


def _log_split(split: int, result: SplitResult) -> None:
    log_metrics({f"split_{name}": 100 * value for name, value in result.scores.items()}, step=split)


def _hidden_width(split_scores: pd.DataFrame) -> int:
    return int(split_scores["hidden"].max()) if "hidden" in split_scores else 0


def _network_timing(split_scores: pd.DataFrame) -> dict[str, float]:
    if split_scores.empty:
        return {}
    epochs, seconds = split_scores["epochs"], split_scores["epoch_seconds"]
    return {
        "epochs": int(epochs.mean().round()),
        "mean_epoch_seconds": float(seconds.mean()),
        "total_seconds": float((epochs * seconds).sum()),
    }
