"""Models that are trained on labels end to end, chosen by the same rule as the classifier of embeddings."""

import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from optuna.storages import BaseStorage
from torch import nn

from figure_kedro.errors import UserError, nearest
from figure_kedro.evaluation.metrics import score
from figure_kedro.evaluation.selection import SplitResult
from figure_kedro.evaluation.settings import EvaluationSettings
from figure_kedro.evaluation.supervised_settings import SupervisedSettings
from figure_kedro.graph.splits import TEST, TRAIN, VAL
from figure_kedro.methods.supervised import MODELS, GraphInputs
from figure_kedro.tuning.study import Report, run_study

REPORT_EVERY = 50
"""Epochs after which a search is told how a training goes: late enough for a low learning rate to show its worth."""


@dataclass(frozen=True)
class Trained:
    """A model with the weights of its best epoch."""

    module: nn.Module
    classes: np.ndarray
    """The label of each column of its logits: those seen in training, ascending."""
    score: float
    """The best on validation."""
    epochs: int
    seconds: float


def train_supervised(
    model: str,
    inputs: GraphInputs,
    labels: np.ndarray,
    codes: np.ndarray,
    choice: dict[str, Any],
    metric: str,
    settings: SupervisedSettings,
    seed: int = 0,
    report: Report | None = None,
) -> Trained:
    """Train one model with Adam, a step on all training nodes each epoch, and keep the best epoch.

    The best epoch has the highest validation score, the first of equals. Training ends after ``patience`` epochs
    without a better one.

    Args:
        model: A name in :data:`~figure_kedro.methods.supervised.MODELS`.
        inputs: Of the graph, all ``n`` nodes.
        labels: ``(n,)``; only those of training and validation are looked at.
        codes: Which part each node belongs to ``(n,)``.
        choice: Learning rate, weight decay, and settings of the model.
        metric: That chooses the epoch.
        settings: Limits of the training.
        seed: Of initial weights and dropout; the same seed gives the same weights.
        report: Is told the best validation score so far every :data:`REPORT_EVERY` epochs and may end the training.

    Raises:
        UserError: If training holds a single class, or the loss is not finite.
    """
    train, val = (np.flatnonzero(codes == part) for part in (TRAIN, VAL))
    classes, targets = np.unique(labels[train], return_inverse=True)
    if len(classes) < 2:
        raise UserError("the training labels hold fewer than two classes; choose other splits or labels")
    train_rows, val_rows, targets = (torch.as_tensor(a, device=inputs.device) for a in (train, val, targets))
    choice = dict(choice)
    learning_rate, weight_decay = choice.pop("learning_rate", 0.01), choice.pop("weight_decay", 0.0)
    initial = torch.Generator().manual_seed(seed)
    module = _model(model)(inputs.num_features, len(classes), initial, **choice).to(inputs.device)
    generator = torch.Generator(inputs.device).manual_seed(seed)
    optimiser = torch.optim.Adam(_groups(module, weight_decay), lr=learning_rate, fused=True)
    best, best_score, best_epoch, started = {}, -np.inf, 0, time.perf_counter()
    for epoch in range(1, settings.max_epochs + 1):
        logits = module(inputs, generator)
        loss = F.cross_entropy(logits.index_select(0, train_rows), targets)
        if not torch.isfinite(loss):
            raise UserError(
                f"the loss of {model} is not finite in epoch {epoch}; lower the learning rate {learning_rate}"
            )
        with torch.no_grad():
            whole = module(inputs) if module.drops else logits
            probabilities = torch.softmax(whole.index_select(0, val_rows), dim=1).cpu().numpy()
        current = score(metric, labels[val], probabilities, classes)
        if current > best_score:
            best = {name: weights.detach().clone() for name, weights in module.state_dict().items()}
            best_score, best_epoch = current, epoch
        elif epoch - best_epoch >= settings.patience:
            break
        if report is not None and epoch % REPORT_EVERY == 0:
            report(epoch, best_score)
        optimiser.zero_grad()
        loss.backward()
        optimiser.step()
    seconds = time.perf_counter() - started
    module.load_state_dict(best)
    return Trained(module, classes, best_score, epoch, seconds)


def evaluate_split_supervised(
    model: str,
    inputs: GraphInputs,
    labels: np.ndarray,
    codes: np.ndarray,
    metrics: tuple[str, ...],
    settings: EvaluationSettings,
    supervised: SupervisedSettings,
    *,
    name: str = "split",
    storage: BaseStorage | None = None,
) -> SplitResult:
    """Choose settings by validation, train once more with the best, and score the test part.

    The rule is that of :func:`~figure_kedro.evaluation.selection.evaluate_split`, with as many trials.

    Args:
        model: A name in :data:`~figure_kedro.methods.supervised.MODELS`.
        inputs: Of the graph, all ``n`` nodes; made once for all splits.
        labels: Of all nodes ``(n,)``. Those of the test part are hidden from the search and read once at the end.
        codes: Which part each node belongs to ``(n,)``.
        metrics: The first one is the one that decides.
        settings: Number of trials and seed.
        supervised: Limits of a training, and what varies.
        name: Of the study.
        storage: Where trials are kept, for a search that is taken up again.

    Returns:
        The chosen settings, GPRGNN's coefficients (the other models have none), predicted class of every node
        ``(n,)``, scores of validation and test, and the epochs of the last training with the mean time of one.
    """
    _model(model)
    visible = np.where(codes == TEST, -1, labels)
    if len(np.unique(visible[codes == TRAIN])) < 2:  # before the search: no trial could succeed
        raise UserError("the training labels hold fewer than two classes; choose other splits or labels")

    def fit(choice: dict[str, Any], report: Report | None = None) -> Trained:
        return train_supervised(model, inputs, visible, codes, choice, metrics[0], supervised, settings.seed, report)

    space = supervised.space(model)
    study = run_study(
        lambda number, choice, report: fit(choice, report).score,
        space,
        trials=settings.trials,
        name=name,
        first=[{setting: values[0] for setting, values in space.items()}],
        direction="maximize",
        seed=settings.seed,
        storage=storage,
    )
    trained = fit(study.best_params)
    with torch.no_grad():
        probabilities = torch.softmax(trained.module(inputs), dim=1).cpu().numpy()
    scores = {
        f"{part}_{metric}": score(metric, labels[codes == code], probabilities[codes == code], trained.classes)
        for part, code in (("val", VAL), ("test", TEST))
        for metric in metrics
    }
    predictions = trained.classes[probabilities.argmax(axis=1)]
    coefficients = trained.module.coefficients() if hasattr(trained.module, "coefficients") else {}
    return SplitResult(
        settings=study.best_params,
        alpha=np.array(list(coefficients.values())),
        alpha_names=tuple(coefficients),
        predictions=predictions,
        scores=scores,
        cost={"epochs": trained.epochs, "epoch_seconds": trained.seconds / trained.epochs},
    )


def _model(name: str) -> type[nn.Module]:
    if name not in MODELS:
        raise UserError(f"there is no supervised model {name!r}; {nearest(name, MODELS)}")
    return MODELS[name]


def _groups(module: nn.Module, weight_decay: float) -> list[dict[str, Any]]:
    """Parameters with weight decay, and those that a model exempts."""
    decayed = [p for name, p in module.named_parameters() if name not in module.undecayed]
    exempt = [p for name, p in module.named_parameters() if name in module.undecayed]
    groups = [{"params": decayed, "weight_decay": weight_decay}, {"params": exempt, "weight_decay": 0.0}]
    return [group for group in groups if group["params"]]
