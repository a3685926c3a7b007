"""Epochs until the loss no longer falls, with checkpoints from which a killed run is resumed to the same weights."""

import logging
import math
import statistics
import time
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, field
from typing import Any, Protocol

import torch

from figure_kedro.errors import UserError
from figure_kedro.training.device import PeakMemory, synchronise
from figure_kedro.training.settings import TrainingSettings
from figure_kedro.training.team import ALONE, Team

logger = logging.getLogger(__name__)

CHECKPOINT_FORMAT = 2
"""Of checkpoints. 1 did not say on what machine it was written."""

DIVERGED = 1e4
"""A loss this many times the first one will not come back."""


class TrainingObjective(Protocol):
    """What a method hands to the loop: weights, and the losses of one epoch."""

    @property
    def module(self) -> torch.nn.Module: ...

    def losses(self, epoch: int, generator: torch.Generator) -> Iterator[torch.Tensor]:
        """Yield one loss for each optimiser step of the epoch; all randomness comes from the generator."""
        ...


class Listener(Protocol):
    """Hears of every epoch: a progress bar, a logger of metrics."""

    def on_epoch(self, record: "TrainingRecord") -> None: ...

    def close(self) -> None: ...


Saved = tuple[dict[str, torch.Tensor], dict[str, Any]]
"""A checkpoint: tensors by name, and a description."""


class CheckpointStore(Protocol):
    """Keeps one checkpoint: tensors by name and a JSON-able description."""

    def load(self) -> Saved | None: ...

    def save(self, tensors: dict[str, torch.Tensor], description: dict[str, Any]) -> None: ...


class TrainingDivergedError(UserError):
    """The loss is no longer a number, or far above where it began."""

    def because(self, reason: str) -> "TrainingDivergedError":
        """The same, with a reason that is more likely than the learning rate."""
        return TrainingDivergedError(f"{str(self).rpartition('; ')[0]}; {reason}")


@dataclass
class TrainingRecord:
    """What happened in training, epoch by epoch."""

    losses: list[float] = field(default_factory=list)
    seconds: list[float] = field(default_factory=list)
    best_epoch: int = -1
    best_loss: float = math.inf
    finished: bool = False
    peak_memory_mb: float = 0.0

    @property
    def epochs(self) -> int:
        return len(self.losses)

    @property
    def waited(self) -> int:
        """Epochs since the lowest loss."""
        return self.epochs - 1 - self.best_epoch

    def timing(self) -> dict[str, float]:
        """The record of the paper's timing tables."""
        return {
            "epochs": self.epochs,
            "mean_epoch_seconds": statistics.fmean(self.seconds) if self.seconds else 0.0,
            "std_epoch_seconds": statistics.stdev(self.seconds) if self.epochs > 1 else 0.0,
            "total_seconds": sum(self.seconds),
            "peak_memory_mb": self.peak_memory_mb,
        }


def train(
    objective: TrainingObjective,
    settings: TrainingSettings,
    *,
    device: torch.device,
    checkpoints: CheckpointStore | None = None,
    fingerprint: str = "",
    listeners: Iterable[Listener] = (),
    team: Team = ALONE,
) -> TrainingRecord:
    """Minimise the objective with Adam and leave its module with the weights of the lowest training loss.

    The randomness of an epoch depends on the seed and the epoch's number alone. So a run that is resumed from a
    checkpoint takes the same steps as one that was never interrupted; on another device or with another number of
    threads sums have another order, and the last bits of the weights may differ.

    Args:
        objective: The module to train and its losses.
        settings: Learning rate, length and early stop.
        device: Where the module lives.
        checkpoints: Where to resume from and what to write to; a finished run is not trained again.
        fingerprint: Of data and settings; a checkpoint with another one is left alone.
        listeners: Told of every epoch.
        team: Workers that take the same steps at the same time, each with losses and gradients of its share of the
            rows. All of them read the checkpoint, and the first one writes it.

    Raises:
        TrainingDivergedError: With the epoch and the learning rate, if the loss is NaN or grows without bound.
    """
    module = objective.module
    optimiser = torch.optim.Adam(module.parameters(), lr=settings.learning_rate, fused=device.type != "mps")
    record = TrainingRecord()
    best, candidate = _copy(module.state_dict()), _copy(module.state_dict())
    machine = f"{device} with {torch.get_num_threads()} threads"
    machine = machine if team.size == 1 else f"{team.size} workers, each on {machine}"
    saved = checkpoints.load() if checkpoints else None
    if saved and _is_of(saved, fingerprint):
        record, best = _restore(saved, module, optimiser)
        if record.finished:
            logger.info("training had ended after %d epochs; it is not repeated", record.epochs)
        else:
            logger.info("resuming after epoch %d of an earlier run", record.epochs)
        if saved[1].get("machine", machine) != machine:
            logger.warning(
                "the earlier run was on %s, this one is on %s: the last bits of the weights may differ",
                saved[1]["machine"],
                machine,
            )
    elif saved:
        logger.warning("there is a checkpoint of other data, other settings or another version; training starts anew")

    team.check_same(record.epochs)
    peak = PeakMemory(device)
    last_checkpoint = time.monotonic()
    try:
        while not record.finished:
            started = time.perf_counter()
            loss = _epoch(objective, optimiser, settings.seed, record, candidate, team)
            synchronise(device)
            _check(loss, record, settings)
            record.losses.append(loss)
            record.seconds.append(time.perf_counter() - started)
            if loss < record.best_loss:
                record.best_loss, record.best_epoch = loss, record.epochs - 1
                best, candidate = candidate, best
            record.finished = record.waited >= settings.patience or record.epochs >= settings.max_epochs
            for listener in listeners:
                listener.on_epoch(record)
            due = record.finished or time.monotonic() - last_checkpoint > settings.checkpoint_seconds
            if checkpoints and due and team.rank == 0:
                record.peak_memory_mb = max(record.peak_memory_mb, peak.megabytes())
                tensors, description = _checkpoint(module, optimiser, best, record)
                checkpoints.save(
                    tensors,
                    {"format": CHECKPOINT_FORMAT, **description, "fingerprint": fingerprint, "machine": machine},
                )
                last_checkpoint = time.monotonic()
    finally:
        for listener in listeners:
            listener.close()
    record.peak_memory_mb = max(record.peak_memory_mb, peak.megabytes())
    module.load_state_dict(best)
    return record


def finished_training(module: torch.nn.Module, checkpoints: CheckpointStore, fingerprint: str) -> TrainingRecord | None:
    """The record of a training that has ended, perhaps elsewhere, with its weights in the module; else none."""
    saved = checkpoints.load()
    if saved is None or not _is_of(saved, fingerprint) or not saved[1]["record"]["finished"]:
        return None
    module.load_state_dict(_below("best.", saved[0]))
    return TrainingRecord(**saved[1]["record"])


def _is_of(saved: Saved, fingerprint: str) -> bool:
    return (saved[1].get("format"), saved[1].get("fingerprint")) == (CHECKPOINT_FORMAT, fingerprint)


def _epoch(
    objective: TrainingObjective,
    optimiser: torch.optim.Optimizer,
    seed: int,
    record: TrainingRecord,
    candidate: dict[str, torch.Tensor],
    team: Team,
) -> float:
    """Take the steps of one epoch and return its mean loss.

    If that is the lowest so far, ``candidate`` holds the weights that the last loss was measured with. They are those
    before the last step: the step itself may overshoot.
    """
    generator = torch.Generator().manual_seed((seed + 1) * 1_000_003 + record.epochs)
    total, steps = 0.0, 0
    for loss in objective.losses(record.epochs, generator):
        optimiser.zero_grad(set_to_none=True)
        loss.backward()
        total, steps = total + team.add_step(loss, objective.module.parameters()), steps + 1
        if total / steps < record.best_loss:  # exact at the last step, where this is the mean of the epoch
            _copy(objective.module.state_dict(), into=candidate)
        optimiser.step()
    return total / steps


def _check(loss: float, record: TrainingRecord, settings: TrainingSettings) -> None:
    first = record.losses[0] if record.losses else 1.0
    if not math.isfinite(loss) or loss > DIVERGED * max(first, 1.0):
        raise TrainingDivergedError(
            f"the training loss is {loss:g} at epoch {record.epochs} with learning rate {settings.learning_rate:g} "
            f"and seed {settings.seed}; lower representation.training.learning_rate"
        )


def _copy(weights: dict[str, torch.Tensor], into: dict[str, torch.Tensor] | None = None) -> dict[str, torch.Tensor]:
    if into is None:
        return {name: tensor.detach().clone() for name, tensor in weights.items()}
    for name, tensor in weights.items():
        into[name].copy_(tensor)
    return into


def _checkpoint(
    module: torch.nn.Module,
    optimiser: torch.optim.Optimizer,
    best: dict[str, torch.Tensor],
    record: TrainingRecord,
) -> tuple[dict[str, torch.Tensor], dict[str, Any]]:
    tensors = {f"module.{name}": tensor for name, tensor in module.state_dict().items()}
    tensors |= {f"best.{name}": tensor for name, tensor in best.items()}
    for number, state in optimiser.state_dict()["state"].items():
        tensors |= {f"optimiser.{number}.{name}": tensor for name, tensor in state.items()}
    return tensors, {"record": asdict(record)}


def _restore(
    saved: Saved, module: torch.nn.Module, optimiser: torch.optim.Optimizer
) -> tuple[TrainingRecord, dict[str, torch.Tensor]]:
    tensors, description = saved
    module.load_state_dict(_below("module.", tensors))
    state: dict[int, dict[str, torch.Tensor]] = {}
    for name, tensor in _below("optimiser.", tensors).items():
        number, field_name = name.split(".")
        state.setdefault(int(number), {})[field_name] = tensor
    optimiser.load_state_dict({"state": state, "param_groups": optimiser.state_dict()["param_groups"]})
    device = next(module.parameters()).device
    best = {name: tensor.to(device) for name, tensor in _below("best.", tensors).items()}
    return TrainingRecord(**description["record"]), best


def _below(prefix: str, tensors: dict[str, torch.Tensor]) -> dict[str, torch.Tensor]:
    return {name.removeprefix(prefix): tensor for name, tensor in tensors.items() if name.startswith(prefix)}
